#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "harness/explain/explain.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

constexpr std::int64_t most_drawn = 64, most_cells = 16, most_listed = 32;

// Who holds a block: for each part of an unfinished sum the devices that hold copies of it.
using Holders = std::map<std::int64_t, std::vector<std::int64_t>>;

std::string text_of(const Holders& holders) {
  std::string text;
  for (const auto& [part, devices] : holders) {
    const bool several = holders.size() > 1 && devices.size() > 1;
    text += fmt::format("{}{}{}{}", text.empty() ? "" : "+", several ? "(" : "", fmt::join(devices, "="),
                        several ? ")" : "");
  }
  return text;
}

std::string text_of(const Range& range) { return fmt::format("{}:{}", range.begin, range.end); }

bool before(const Range& a, const Range& b) { return a.begin < b.begin; }

// The distinct pieces of a dimension that are not empty, in order.
std::vector<Range> pieces(const Case& c, const Dim& dim) {
  std::vector<Range> all;
  for (std::int64_t i = 0; i < axes_size(c.mesh, dim.axes); ++i)
    if (const Range r = piece(c.mesh, dim, c.rule, i); r.size() > 0) all.push_back(r);
  std::ranges::sort(all, before);
  return all;
}

std::string repeated(std::string_view unit, std::size_t n) {
  std::string text;
  while (n-- > 0) text += unit;
  return text;
}

struct Grid {
  std::vector<std::string> above, beside;  // the ranges of columns and rows
  std::vector<std::vector<std::string>> cells;
};

std::string text_of(const Grid& grid) {
  std::size_t margin = 0;
  for (const std::string& range : grid.beside) margin = std::max(margin, range.size());
  std::vector<std::size_t> widths;
  for (std::size_t j = 0; j < grid.above.size(); ++j) {
    widths.push_back(grid.above[j].size());
    for (const auto& row : grid.cells) widths[j] = std::max(widths[j], row[j].size());
  }
  const auto rule = [&](std::string_view left, std::string_view cross, std::string_view right) {
    std::string line = std::string(margin + 1, ' ') + std::string(left);
    for (std::size_t j = 0; j < widths.size(); ++j)
      line += repeated("─", widths[j] + 2) + std::string(j + 1 == widths.size() ? right : cross);
    return line + '\n';
  };
  std::string text = std::string(margin + 1, ' ');
  for (std::size_t j = 0; j < widths.size(); ++j)
    text += fmt::format("  {:^{}}", grid.above[j], widths[j] + 1);
  text.resize(text.find_last_not_of(' ') + 1);
  text += '\n' + rule("┌", "┬", "┐");
  for (std::size_t i = 0; i < grid.cells.size(); ++i) {
    text += fmt::format("{:>{}} │", grid.beside[i], margin);
    for (std::size_t j = 0; j < widths.size(); ++j)
      text += fmt::format(" {:^{}} │", grid.cells[i][j], widths[j]);
    text += '\n' + (i + 1 < grid.cells.size() ? rule("├", "┼", "┤") : rule("└", "┴", "┘"));
  }
  return text;
}

// The last dimension runs to the right, the first down.
std::string drawn(const Case& c, const Spec& spec,
                  const std::map<std::vector<std::int64_t>, Holders>& blocks) {
  const std::size_t rank = spec.dims.size();
  const std::vector<Range> one = {
      {0, 1}
  };
  const std::vector<Range> across = rank > 0 ? pieces(c, spec.dims[rank - 1]) : one;
  const std::vector<Range> down = rank > 1 ? pieces(c, spec.dims[0]) : one;
  Grid grid;
  for (const Range& range : across) grid.above.push_back(rank > 0 ? text_of(range) : "");
  for (const Range& row : down) {
    grid.beside.push_back(rank > 1 ? text_of(row) : "");
    grid.cells.emplace_back();
    for (const Range& column : across) {
      std::vector<std::int64_t> at;
      if (rank > 1) at.push_back(row.begin);
      if (rank > 0) at.push_back(column.begin);
      const auto holders = blocks.find(at);
      grid.cells.back().push_back(holders == blocks.end() ? "" : text_of(holders->second));
    }
  }
  return text_of(grid);
}

std::string listed(const Case& c, const Spec& spec) {
  std::string text;
  const std::int64_t n = devices(c.mesh);
  for (std::int64_t device = 0; device < std::min(n, most_listed); ++device) {
    text += fmt::format("device {:<5} {}", device, print(block(c.mesh, spec, c.rule, device)));
    if (!spec.unfinished.empty()) text += fmt::format(" part {}", part(c.mesh, spec, device));
    text += '\n';
  }
  if (n > most_listed) text += fmt::format("and {} more\n", counted(n - most_listed, "device"));
  return text;
}

}  // namespace

std::string draw(const Case& c, const Spec& spec) {
  bool fits = spec.dims.size() <= 2 && devices(c.mesh) <= most_drawn;
  for (const Dim& dim : spec.dims) fits &= axes_size(c.mesh, dim.axes) <= most_cells;
  if (!fits) return listed(c, spec);
  std::map<std::vector<std::int64_t>, Holders> blocks;
  std::vector<std::int64_t> idle;
  for (std::int64_t device = 0; device < devices(c.mesh); ++device) {
    std::vector<std::int64_t> at;
    const Slice slice = block(c.mesh, spec, c.rule, device);
    for (const Range& range : slice) at.push_back(range.begin);
    if (elements(slice) == 0)
      idle.push_back(device);
    else
      blocks[at][part(c.mesh, spec, device)].push_back(device);
  }
  if (blocks.empty()) return "no device holds an element\n";
  std::string text = drawn(c, spec, blocks);
  if (!idle.empty()) text += fmt::format("nothing on {}\n", fmt::join(idle, ","));
  return text;
}

}  // namespace plumb

#include "harness/sweep/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "harness/sweep/condition.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

std::string label(const Mesh& mesh, const Sizes& sizes, const std::vector<std::size_t>& axes) {
  std::string text;
  for (std::size_t axis : axes)
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", mesh.axes[axis].name, sizes[axis]);
  return text;
}

// "wrong", "pass (one device)"; "-" where the line is no case.
std::string word_of(const Cell& c) {
  if (!c.legal) return "-";
  const bool less = c.status == Status::pass && c.pass != Pass::whole;
  return less ? fmt::format("pass ({})", name(c.pass)) : std::string(name(c.status));
}

std::string cell(const Cell& c, std::size_t width, Paint paint) {
  const std::string word = word_of(c);
  return painted(paint, c.legal ? c.status : Status::unrun, word) +
         std::string(width > word.size() ? width - word.size() : 0, ' ');
}

std::vector<std::size_t> varying(const Mesh& mesh, const std::vector<Cell>& cells) {
  std::vector<std::size_t> axes;
  for (std::size_t i = 0; i < mesh.axes.size(); ++i)
    if (std::ranges::any_of(cells, [&](const Cell& c) { return c.sizes[i] != cells[0].sizes[i]; }))
      axes.push_back(i);
  return axes;
}

std::string trimmed(std::string line) {
  line.resize(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

std::string list(const Mesh& mesh, const std::vector<Cell>& cells, Paint paint) {
  std::vector<std::size_t> all(mesh.axes.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  std::size_t width = 0;
  for (const Cell& c : cells) width = std::max(width, label(mesh, c.sizes, all).size());
  std::string text;
  for (const Cell& c : cells)
    text += fmt::format("{:<{}}  {}\n", label(mesh, c.sizes, all), width, cell(c, 0, paint));
  return text;
}

// The axes that make a grid.
struct Sides {
  std::size_t down, across;
};

// One grid: the other axes have one size.
std::string one_grid(const Mesh& mesh, const std::vector<const Cell*>& cells, Sides sides, Paint paint) {
  const auto [down, across] = sides;
  std::map<std::int64_t, std::map<std::int64_t, const Cell*>> rows;
  std::set<std::int64_t> columns;
  for (const Cell* c : cells) rows[c->sizes[down]][c->sizes[across]] = c, columns.insert(c->sizes[across]);
  std::size_t margin = 0, width = 0;
  for (const Cell* c : cells) {
    margin = std::max(margin, label(mesh, c->sizes, {down}).size());
    width = std::max({width, label(mesh, c->sizes, {across}).size(), word_of(*c).size()});
  }
  std::string head(margin, ' ');
  for (std::int64_t size : columns)
    head += fmt::format("  {:<{}}", fmt::format("{}={}", mesh.axes[across].name, size), width);
  std::string text = trimmed(head);
  for (const auto& [size, row] : rows) {
    std::string line = fmt::format("{:<{}}", fmt::format("{}={}", mesh.axes[down].name, size), margin);
    for (const auto& [_, c] : row) line += "  " + cell(*c, width, paint);
    text += trimmed(line);
  }
  return text;
}

bool full(const std::vector<Cell>& cells, const std::vector<std::size_t>& axes) {
  std::size_t product = 1;
  for (std::size_t axis : axes) {
    std::set<std::int64_t> sizes;
    for (const Cell& c : cells) sizes.insert(c.sizes[axis]);
    product *= sizes.size();
  }
  return product == cells.size();
}

}  // namespace

std::string drawn_grid(const Mesh& mesh, const std::vector<Cell>& cells, Paint paint) {
  const std::vector<std::size_t> axes = varying(mesh, cells);
  if (axes.size() < 2 || !full(cells, axes)) return list(mesh, cells, paint);
  // The two axes named last make the grid, the others the pages.
  const Sides sides{axes[axes.size() - 2], axes.back()};
  const std::vector<std::size_t> others(axes.begin(), axes.end() - 2);
  std::map<Sizes, std::vector<const Cell*>> pages;
  for (const Cell& c : cells) {
    Sizes page;
    for (std::size_t axis : others) page.push_back(c.sizes[axis]);
    pages[page].push_back(&c);
  }
  std::string text;
  for (const auto& [page, members] : pages) {
    if (!others.empty())
      text += fmt::format("{}{}\n", text.empty() ? "" : "\n", label(mesh, members[0]->sizes, others));
    text += one_grid(mesh, members, sides, paint);
  }
  return text;
}

std::string conditions_in_words(const Mesh& mesh, const std::vector<Cell>& cells) {
  std::vector<Sizes> meshes;
  std::map<Status, std::vector<bool>> where;
  const auto judged = [](const Cell& c) { return c.legal && c.status != Status::unrun; };
  for (const Cell& c : cells)
    if (judged(c)) meshes.push_back(c.sizes);
  std::size_t i = 0;
  for (const Cell& c : cells)
    if (judged(c)) where.try_emplace(c.status, meshes.size()).first->second[i++] = true;
  const std::string count = counted(std::ssize(meshes), "mesh");
  const std::vector<Atom> known = atoms(mesh, meshes);
  const auto legal = std::ranges::count_if(cells, &Cell::legal);
  const auto unrun = legal - static_cast<std::ptrdiff_t>(meshes.size());
  const std::string rest =
      unrun > 0 ? fmt::format("unrun on {} of {}\n", unrun, counted(legal, "mesh")) : std::string();
  std::string text, less;
  for (int p = 1; p < pass_kinds; ++p)
    if (const auto n = std::ranges::count_if(cells, [&](const Cell& c) {
          return judged(c) && c.status == Status::pass && c.pass == static_cast<Pass>(p);
        }))
      less += fmt::format(", {} of them {}", n, name(static_cast<Pass>(p)));
  for (const auto& [status, here] : where) {
    const auto n = std::ranges::count(here, true);
    if (n == static_cast<std::ptrdiff_t>(meshes.size()))
      return fmt::format("{} on {}{}{}\n{}", name(status), n == 1 ? "the one mesh" : "all ",
                         n == 1 ? "" : count, status == Status::pass ? less : "", rest);
    if (status == Status::pass) continue;
    const auto words = condition(known, here);
    text +=
        fmt::format("{} on {} of {}: {}\n", name(status), n, count,
                    words ? "exactly when " + *words : "no condition on up to four sizes says exactly where");
  }
  return text + rest;
}

}  // namespace plumb

#include "harness/report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "reference/words/text.h"

namespace plumb {
namespace {

// A column: what it is called, and its number in a row.
struct Column {
  std::string name;
  Status status;
  Pass pass = Pass::whole;  // else by_pass
};

std::int64_t number(const Column& column, const Count& count) {
  return column.pass == Pass::whole ? count.by_status[static_cast<int>(column.status)]
                                    : count.by_pass[static_cast<int>(column.pass)];
}

// pass first, then the statuses as DESIGN orders them; those that do not occur are left out.
std::vector<Column> columns_of(const Count& all) {
  std::vector<Column> columns = {
      {"pass", Status::pass}
  };
  for (int p = 1; p < pass_kinds; ++p) {
    const auto pass = static_cast<Pass>(p);
    const Column column{fmt::format("pass ({})", name(pass)), Status::pass, pass};
    if (number(column, all) > 0) columns.push_back(column);
  }
  for (int s = 0; s < statuses; ++s) {
    const Column column{std::string(name(static_cast<Status>(s))), static_cast<Status>(s)};
    if (column.status != Status::pass && number(column, all) > 0) columns.push_back(column);
  }
  return columns;
}

std::vector<std::string> row(const Count& count, const std::vector<Column>& columns) {
  std::vector<std::string> cells = {count.suite, count.backend, fmt::format("{}", cases(count))};
  for (const Column& column : columns) cells.push_back(fmt::format("{}", number(column, count)));
  return cells;
}

// A row of the table is one line, whatever a backend said.
std::string one_line(std::string text) {
  text = printable(text);
  std::ranges::replace(text, '\n', ' ');
  return text;
}

std::string reasons(const Count& all) {
  if (all.reasons.empty()) return {};
  std::vector<std::pair<std::int64_t, std::string>> sorted;
  for (const auto& [reason, n] : all.reasons) sorted.emplace_back(-n, reason);
  std::ranges::sort(sorted);
  std::string text = "\nunsupported, by reason\n";
  for (const auto& [n, reason] : sorted) text += fmt::format("{:>8}  {}\n", -n, one_line(reason));
  return text;
}

}  // namespace

std::string short_number(double n) { return n < 1000 ? fmt::format("{:.4g}", n) : fmt::format("{:.0f}", n); }

std::string named_on(const std::string& line, const std::string& backend) {
  constexpr std::size_t widest = 100;
  return line + (line.size() + 2 + backend.size() > widest ? "\n  on " : "  ") + backend;
}

std::string columns(const std::vector<std::vector<std::string>>& rows, std::size_t left) {
  std::vector<std::size_t> widths;
  for (const auto& cells : rows) {
    widths.resize(std::max(widths.size(), cells.size()));
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], cells[i].size());
  }
  std::string text;
  for (const auto& cells : rows) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i)
      line += i < left ? fmt::format("{}{:<{}}", i ? "  " : "", cells[i], widths[i])
                       : fmt::format("{}{:>{}}", i ? "  " : "", cells[i], widths[i]);
    line.resize(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

std::string columns_below(std::vector<std::string> names, const std::vector<Named>& all, std::size_t left) {
  std::vector<std::vector<std::string>> rows{std::move(names)};
  for (const Named& one : all) rows.insert(rows.end(), one.rows.begin(), one.rows.end());
  std::istringstream lines(columns(rows, left));
  std::string text, line;
  std::getline(lines, line), text = line + '\n';
  for (const Named& one : all) {
    text += one.name + '\n';
    for (std::size_t i = 0; i < one.rows.size(); ++i) std::getline(lines, line), text += line + '\n';
  }
  return text;
}

std::string tally_table(const Tally& tally, Paint paint) {
  const Count all = total(tally);
  const std::vector<Column> shown = columns_of(all);
  std::vector<std::vector<std::string>> rows = {
      {"suite", "backend", "cases"}
  };
  for (const Column& column : shown) rows[0].push_back(column.name);
  for (const Count& count : tally.counts) rows.push_back(row(count, shown));
  if (tally.counts.size() > 1) rows.push_back(row(all, shown));
  const std::string text = columns(rows, 2);
  const std::size_t first = text.find('\n');
  return bold(paint, text.substr(0, first)) + text.substr(first) + reasons(all);
}

std::string summary(const Tally& tally, double seconds) {
  const Count all = total(tally);
  std::string text = fmt::format("{} in {:.1f} s:", counted(cases(all), "case"), seconds);
  std::string separator = " ";
  for (const Column& column : columns_of(all)) {
    if (number(column, all) == 0 && cases(all) > 0) continue;
    text += fmt::format("{}{} {}", separator, number(column, all), column.name);
    separator = ", ";
  }
  return text + '\n';
}

}  // namespace plumb

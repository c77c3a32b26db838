// plumb list: the cases that a run would judge.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/backend/interrupt.h"
#include "harness/command/command.h"
#include "harness/command/flags.h"
#include "harness/command/selection.h"
#include "harness/record/journal.h"
#include "harness/report/table.h"
#include "harness/select/suite.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

struct ListFlags {
  Selection selection;
  std::string against;
  bool count = false, json = false;
};

int list_suites() {
  std::vector<std::vector<std::string>> rows = {
      {"suite", "cases", "what"}
  };
  for (const Suite& suite : suites())
    rows.push_back({suite.name, fmt::format("{}", count(cases_of(suite_rows(suite.name)))), suite.what});
  fmt::print("{}", columns(rows, 3));
  return 0;
}

// The statuses that a line has in the record, on any backend.
using Statuses = std::multimap<std::string, Status>;

bool has_status(const Where& where, const Statuses& statuses, const std::string& line) {
  const auto [begin, end] = statuses.equal_range(line);
  if (begin == end) return matches(where, std::nullopt);
  return std::any_of(begin, end, [&](const auto& entry) { return matches(where, entry.second); });
}

// {"case": LINE, "suite": ..., and what `--where` knows of it}
std::string case_json(const std::string& suite, const Case& c) {
  nlohmann::ordered_json line;
  line["case"] = print(c);
  if (!suite.empty()) line["suite"] = suite;
  for (const Trait& trait : traits_of(c)) {
    if (trait.key == "text") continue;  // the case itself
    if (trait.number)
      line[trait.key] = *trait.number;
    else if (trait.several)
      line[trait.key] = trait.words;
    else
      line[trait.key] = trait.words.front();
  }
  return line.dump();
}

int list_cases(const ListFlags& flags) {
  const Where where = condition_of(flags.selection);
  if (asks_status(where) && flags.against.empty())
    throw BadInput("status= looks into a record: name it with --against");
  Statuses statuses;
  if (!flags.against.empty())
    for (const Record& r : read_records(flags.against).records) statuses.emplace(r.line, r.verdict.status);
  OfStatus asked;
  if (asks_status(where)) asked = [&](const std::string& line) { return has_status(where, statuses, line); };
  const Chosen chosen = choose(flags.selection, asked);
  if (chosen.numbers.empty()) throw BadInput("no case is selected");
  std::map<std::string, std::int64_t> counts;
  for (std::int64_t n : chosen.numbers) {
    if (interrupted()) throw Interrupted();
    const std::string& suite = row_of(chosen.cases, n).suite;
    ++counts[suite];
    if (flags.count) continue;
    const Case c = nth(chosen.cases, n);
    fmt::print("{}\n", flags.json ? case_json(suite, c) : print(c));
  }
  if (!flags.count) return 0;
  std::vector<std::vector<std::string>> rows;
  for (const auto& [suite, n] : counts) rows.push_back({suite, fmt::format("{}", n)});
  rows.push_back({"total", fmt::format("{}", chosen.numbers.size())});
  fmt::print("{}", columns(rows, 1));
  return 0;
}

}  // namespace

void add_list(CLI::App& app, int& code) {
  auto flags = std::make_shared<ListFlags>();
  CLI::App* list = app.add_subcommand("list", "Print cases; without any, the suites");
  add_selection(*list, flags->selection);
  list->add_option("--against", flags->against, "The record that status= looks into")->check(file_name());
  CLI::Option* count = list->add_flag("--count", flags->count, "Print how many there are");
  list->add_flag("--json", flags->json, "Print a JSON line of each: the case, and what --where knows of it")
      ->excludes(count);
  list->callback([flags, &code] {
    const Selection& s = flags->selection;
    code = s.lines.empty() && s.suites.empty() && s.files.empty() ? list_suites() : list_cases(*flags);
  });
}

}  // namespace plumb

// plumb compare: what became of each case from one record to another.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <unordered_set>

#include "adapters/protocol/json.h"
#include "harness/backend/spelling.h"
#include "harness/command/command.h"
#include "harness/command/files.h"
#include "harness/command/flags.h"
#include "harness/command/selection.h"
#include "harness/compare/as_json.h"
#include "harness/report/finding.h"
#include "harness/report/junit.h"
#include "harness/report/table.h"
#include "harness/select/sample.h"
#include "harness/waive/waiver.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

using nlohmann::json;

struct CompareFlags {
  std::string from, to, junit, waivers;
  std::vector<std::string> fail_on{"regression", "worse", "coverage lost", "vanished"};
  bool ignore_release = false, as_json = false, every = false;
  Output output;
};

// The cases that a run selected by its own words, chosen again.
struct Selecting {
  const Origin* run = nullptr;
  std::set<std::string> backends;
  std::unordered_set<std::string> lines;
};

// Nothing where these words choose nothing any more, which is said, or where the record does not have them.
std::optional<Selecting> selecting(const Origin& run, bool ignore_release) try {
  const Selection by = selection_from_words(run.selection);
  if (std::ranges::count(by.files, "-") > 0) return std::nullopt;  // standard input named them
  const Chosen chosen = choose(by);
  Selecting s{&run, {}, {}};
  for (const std::string& name : run.backends)
    s.backends.insert(ignore_release ? without_release(name) : name);
  if (asks_status(chosen.where)) return std::nullopt;  // it looked into another record
  for (std::int64_t n : chosen.numbers) s.lines.insert(print(nth(chosen.cases, n)));
  if (std::ssize(chosen.numbers) != run.cases)
    fmt::print(stderr, "plumb: run {} selected {} cases, and its words select {} today\n", run.run, run.cases,
               chosen.numbers.size());
  return s;
} catch (const BadInput& error) {
  fmt::print(stderr, "plumb: what run {} selected is not known any more: {}\n", run.run, error.what());
  return std::nullopt;
}

// By the last run that selects it: one that was killed said that it would judge it.
std::function<Selected(const Record&)> selected_by(const Records& to, bool ignore_release) {
  auto runs = std::make_shared<std::vector<Selecting>>();
  bool all_known = !to.runs.empty();
  for (const Origin& run : to.runs)
    if (auto s = selecting(run, ignore_release))
      runs->push_back(std::move(*s));
    else
      all_known = false;
  return [=](const Record& r) {
    Selected said = all_known ? Selected::no : Selected::nobody_says;
    const std::string backend = ignore_release ? without_release(r.backend) : r.backend;
    for (const Selecting& s : *runs)
      if (s.backends.contains(backend) && s.lines.contains(r.line))
        said = s.run->unrun.value_or(0) > 0 ? Selected::unrun : Selected::yes;
    return said;
  };
}

std::vector<Waiver> waive_all(Records& to, const std::string& path) {
  std::vector<Waiver> waivers = waivers_in(path);
  if (waivers.empty()) return {};
  for (Record& r : to.records) waive(waivers, parse_case(r.line), r, today());
  return waivers;
}

// A sample, a part without the others, or a run that was cut short shows of no waiver that it is not needed.
bool came_to_all(const Records& records) {
  std::map<std::int64_t, std::set<std::int64_t>> parts;  // that are there, by how many they are
  for (const Origin& run : records.runs) {
    const Selection by = selection_from_words(run.selection);
    if (run.unrun.value_or(1) != 0 || by.sample > 0) return false;
    if (by.shard.empty()) continue;
    const Shard shard = parse_shard(by.shard);
    parts[shard.of].insert(shard.part);
  }
  return std::ranges::all_of(parts, [](const auto& of) { return std::ssize(of.second) == of.first; });
}

std::set<Change> changes_named(const std::vector<std::string>& words) {
  std::set<Change> all;
  for (const std::string& word : words) {
    if (word == "none") continue;
    if (word == "any") {
      for (Change change : all_changes())
        if (is_told(change) && change != Change::costlier && change != Change::cheaper) all.insert(change);
      continue;
    }
    const auto change = change_named(word);
    if (!change) {
      std::vector<std::string> known;
      for (int i = 0; i < change_kinds; ++i) known.emplace_back(name(static_cast<Change>(i)));
      throw BadInput(fmt::format("--fail-on: there is no change '{}', only {}, any, none{}", word,
                                 fmt::join(known, ", "), did_you_mean(word, known)));
    }
    all.insert(*change);
  }
  return all;
}

using Names = std::set<std::string>;

Names backends_in(const Records& records, bool ignore_release) {
  Names all;
  for (const Record& r : records.records) all.insert(ignore_release ? without_release(r.backend) : r.backend);
  return all;
}

bool share(const Names& a, const Names& b) {
  return std::ranges::any_of(a, [&](const std::string& name) { return b.contains(name); });
}

// Why no case is in both, and what to say where that helps: a release is all that may be ignored of a name.
std::string nothing_in_common(const Records& from, const Records& to, bool ignore_release) {
  const Names were = backends_in(from, ignore_release), are = backends_in(to, ignore_release);
  if (share(were, are)) return "they are of other cases";
  if (!ignore_release && share(backends_in(from, true), backends_in(to, true)))
    return "of two releases of one framework say --ignore-release";
  return fmt::format("one is of {}, the other of {}", fmt::join(were, " and "), fmt::join(are, " and "));
}

std::string status_text(const Record* r) { return std::string(r ? name(r->verdict.status) : "absent"); }

std::string of_side(const std::string& path, const Records& records) {
  std::string text = fmt::format("{}: {}", path, counted(std::ssize(records.records), "record"));
  for (const Origin& run : records.runs) text += fmt::format(", run {}", run.run);
  return text + "\n";
}

// Rows are what was, columns what is.
std::string transitions(const Compared& all) {
  std::set<Status> from, to;
  for (const auto& [pair, n] : all.table) from.insert(pair.first), to.insert(pair.second);
  std::vector<std::vector<std::string>> rows{{"was \\ is"}};
  for (Status status : to) rows[0].emplace_back(name(status));
  for (Status was : from) {
    std::vector<std::string>& row = rows.emplace_back();
    row.emplace_back(name(was));
    for (Status is : to) {
      const auto at = all.table.find({was, is});
      row.push_back(at == all.table.end() ? "" : fmt::to_string(at->second));
    }
  }
  return columns(rows, 1);
}

std::string pair_text(const Transition& pair) {
  const Record& r = either(pair);
  std::string text =
      fmt::format("    {} -> {}  {}  {}\n", status_text(pair.from), status_text(pair.to), r.backend, r.line);
  if (pair.change == Change::costlier || pair.change == Change::cheaper)
    text += fmt::format("        {} -> {} bytes\n", pair.from->cost.moved, pair.to->cost.moved);
  return text;
}

std::string kind_text(const OfKind& of, bool every) {
  const Kind& k = of.kind;
  std::string text = fmt::format("  {}: {}", counted(std::ssize(of.pairs), "case"), k.backend);
  for (const std::string& part : {k.why, k.layouts})
    if (!part.empty()) text += ", " + printable(part);
  text += "\n";
  for (const Transition* pair : of.pairs) {
    text += pair_text(*pair);
    if (every) continue;
    if (pair->to && finding(pair->to->verdict.status))
      text += fmt::format("        again: {}\n", repeat(*pair->to, pair->to->backend));
    break;
  }
  return text;
}

std::string changes_text(const Compared& all, const CompareFlags& flags) {
  std::string text;
  for (Change change : all_changes()) {
    if (!is_told(change) || count(all, change) == 0) continue;
    const auto kinds = by_kind(all, change);
    text += fmt::format("\n{}: {} of {}\n", name(change), counted(count(all, change), "case"),
                        counted(std::ssize(kinds), "kind"));
    for (const OfKind& of : kinds) text += kind_text(of, flags.every);
  }
  std::map<std::string, std::int64_t> not_compared;
  for (const Transition& pair : all.pairs)
    if (pair.change == Change::uncompared) ++not_compared[pair.why];
  for (const auto& [why, n] : not_compared)
    text += fmt::format("\nnot compared: {}: {}\n", counted(n, "case"), why);
  return text;
}

std::string times_text(const Compared& all) {
  std::map<Became, std::int64_t> counts;
  std::string text;
  for (const Paced& p : all.paced) {
    ++counts[p.became];
    if (p.became != Became::faster && p.became != Became::slower && p.besides.empty()) continue;
    text += "  " + paced_in_words(p) + "\n";
  }
  if (counts.empty()) return "";
  std::string head = "\ntimes:";
  for (const auto& [became, n] : counts) head += fmt::format(" {} {}", n, name(became));
  if (const std::string few = too_few_to_tell(all.paced); !few.empty()) text += fmt::format("  {}\n", few);
  return head + "\n" + text;
}

// "2 regressions", and "2 worse": the other changes are no nouns.
std::string summary_text(const Compared& all) {
  std::vector<std::string> parts;
  for (Change change : all_changes())
    if (const auto n = count(all, change); n > 0)
      parts.push_back(change == Change::regression ? counted(n, name(change))
                                                   : fmt::format("{} {}", n, name(change)));
  return fmt::format("{}: {}\n", counted(std::ssize(all.pairs), "case"), fmt::join(parts, ", "));
}

json waivers_json(const std::vector<Waiver>& waivers, bool all_ran) {
  json j = json::array();
  for (const Waiver& w : waivers)
    j.push_back({
        {"row",   w.row                          },
        {"until", w.until                        },
        {"said",  complaint(w, today(), all_ran)}
    });
  return j;
}

// What fails the comparison is a failure, whatever the verdict is now; else what is not compared is skipped.
void write_junit(const std::string& path, const Compared& all, const std::set<Change>& failing) {
  std::vector<JunitCase> cases;
  for (const Transition& pair : all.pairs) {
    const Record& r = either(pair);
    const std::string said = fmt::format("{} -> {}\n", status_text(pair.from), status_text(pair.to));
    const char* element = failing.contains(pair.change)       ? "failure"
                          : pair.change == Change::uncompared ? "skipped"
                                                              : "";
    cases.push_back({"compare", r.backend, r.line, element, std::string(name(pair.change)),
                     said + (pair.to ? facts(pair.to->verdict) : pair.why), 0});
  }
  std::ofstream out(path);
  plumb::write_junit(out, cases);
  if (!out.flush()) throw std::system_error(errno, std::generic_category(), path);
}

int compare_command(const CompareFlags& flags) {
  const std::set<Change> failing = changes_named(flags.fail_on);
  const Records from = read_records(flags.from);
  Records to = read_records(flags.to);
  if (from.records.empty()) throw BadInput(fmt::format("{} has no records", flags.from));
  if (to.records.empty()) throw BadInput(fmt::format("{} has no records", flags.to));
  if (!flags.junit.empty()) check_writable(flags.junit);
  const std::vector<Waiver> waivers = waive_all(to, flags.waivers);
  const bool all_ran = came_to_all(to);
  const Compared all = compare_runs({from, to, flags.ignore_release, selected_by(to, flags.ignore_release)});
  if (!flags.junit.empty()) write_junit(flags.junit, all, failing);
  if (flags.as_json) {
    json j = as_json(all);
    j["waivers"] = waivers_json(waivers, all_ran);
    fmt::print("{}\n", dump(j));
  } else {
    fmt::print("{}{}", "was  " + of_side(flags.from, from), "is   " + of_side(flags.to, to));
    for (const auto* differing : {&all.versions, &all.environment})
      for (const std::string& line : *differing) fmt::print("     {}\n", line);
    if (!all.table.empty()) fmt::print("\n{}", transitions(all));
    fmt::print("{}{}\n{}", changes_text(all, flags), times_text(all), summary_text(all));
  }
  if (count(all, Change::fresh) + count(all, Change::uncompared) == std::ssize(all.pairs)) {
    fmt::print(stderr, "plumb: nothing was compared: no case is in both; {}\n",
               nothing_in_common(from, to, flags.ignore_release));
    return 2;
  }
  const std::vector<std::string> stale = complaints(waivers, today(), all_ran);
  for (const std::string& complaint : stale) fmt::print(stderr, "plumb: {}\n", complaint);
  const auto fails = [&](const Transition& pair) { return failing.contains(pair.change); };
  return !stale.empty() || std::ranges::any_of(all.pairs, fails) ? 1 : 0;
}

}  // namespace

void add_compare(CLI::App& app, int& code) {
  auto flags = std::make_shared<CompareFlags>();
  CLI::App* compare = app.add_subcommand(
      "compare",
      "What became of each case between two records: 0 nothing worse, 1 something that --fail-on names");
  compare->add_option("OLD", flags->from, "The record of before")->required()->check(file_name());
  compare->add_option("NEW", flags->to, "The record of now")->required()->check(file_name());
  compare->add_flag("--ignore-release", flags->ignore_release,
                    "Releases of one framework, with the same options, are one backend");
  compare
      ->add_option("--fail-on", flags->fail_on,
                   "Which changes exit with 1, with commas between: regression, worse, coverage lost, "
                   "hidden, exposed, "
                   "changed, fixed, coverage gained, waived, vanished, new, more bytes, fewer bytes, not "
                   "compared; any is each but more and fewer bytes; none")
      ->delimiter(',')
      ->capture_default_str();
  compare
      ->add_option("--waivers", flags->waivers,
                   "Known findings of now that are accepted, as plumb run takes them; one that is over or not "
                   "needed any more is said, and exits with 1")
      ->check(file_name());
  compare->add_flag("--every", flags->every, "Each case of a kind, not the first alone");
  compare->add_flag("--json", flags->as_json, "JSON in the place of text");
  compare->add_option("--junit", flags->junit, "Write JUnit XML")->check(file_name());
  compare->callback([flags, &code] { code = compare_command(*flags); });
}

}  // namespace plumb

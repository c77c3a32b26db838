// plumb run: judges cases.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <unordered_map>

#include "adapters/protocol/json.h"
#include "harness/backend/interrupt.h"
#include "harness/command/command.h"
#include "harness/command/files.h"
#include "harness/command/flags.h"
#include "harness/command/ledger.h"
#include "harness/command/options.h"
#include "harness/command/selection.h"
#include "harness/record/environment.h"
#include "harness/report/finding.h"
#include "harness/report/table.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

struct RunFlags {
  Selection selection;
  RunningFlags running;
  Output output;
  std::string record, against, junit, waivers;
  std::vector<std::string> words;  // of the command line
  bool resume = false, every = false, dry_run = false;
};

// What was recorded before: where status= looks, and what a run that resumes need not judge again. Of a
// backend that the record has nothing of, as one with other options, status= is that of the line on any of
// its backends.
struct Before {
  ByKey asked, done;
  std::set<std::string> backends{};
  std::unordered_multimap<std::string, Status> lines{};
};

void ask_of(Before& before, const Records& records, bool of_any_backend) {
  before.asked = by_key(records);
  if (!of_any_backend) return;
  for (const auto& [key, r] : before.asked) {
    before.backends.insert(r->backend);
    before.lines.emplace(r->line, r->verdict.status);
  }
}

// What status= looks into; throws BadInput where it does and no record is named.
Records looked_into(const RunFlags& flags, const Where& where) {
  if (!flags.against.empty()) return read_records(flags.against);
  if (!asks_status(where)) return {};
  if (flags.record.empty()) throw BadInput("status= looks into a record: name it with --record or --against");
  return std::filesystem::exists(flags.record) ? read_records(flags.record) : Records{};
}

bool is_asked(const Where& where, const Before& before, const std::string& line, const std::string& backend) {
  if (!asks_status(where)) return true;
  if (before.lines.empty() || before.backends.contains(backend)) {
    const Record* one = recorded(before.asked, line, backend);
    return matches(where, one ? std::optional(one->verdict.status) : std::nullopt);
  }
  const auto [begin, end] = before.lines.equal_range(line);
  if (begin == end) return matches(where, std::optional<Status>());
  return std::any_of(begin, end, [&](const auto& one) { return matches(where, std::optional(one.second)); });
}

// Of a line on any of these backends.
OfStatus asked_by(const Where& where, const Before& before, const std::vector<std::string>& backends) {
  if (!asks_status(where)) return {};
  return [&](const std::string& line) {
    return std::ranges::any_of(backends, [&](const auto& b) { return is_asked(where, before, line, b); });
  };
}

// The jobs of a run; what is done is recalled instead.
std::vector<Job> jobs_of(const Session& session, const Chosen& chosen, const Before& before, Ledger& ledger) {
  const std::vector<std::string> names = resolved_names(session.backends);
  const bool fresh = before.asked.empty() && before.done.empty();
  const std::vector<std::string> files =
      before.done.empty() ? std::vector<std::string>{} : files_now(session.backends);
  std::vector<Job> jobs;
  for (std::int64_t n : chosen.numbers) {
    if (interrupted()) throw Interrupted();
    const std::string line = fresh ? std::string() : print(nth(chosen.cases, n));
    for (std::size_t b = 0; b < names.size(); ++b) {
      if (!is_asked(chosen.where, before, line, names[b])) continue;
      const Record* done = recorded(before.done, line, names[b]);
      const bool rebuilt = done && done->versions.value("files", "") != files[b];
      if (rebuilt || !recalled(ledger, session, {n, b}, done)) jobs.push_back({n, b});
    }
  }
  return jobs;
}

void finish(Ledger& ledger, const RunFlags& flags, double seconds) {
  clear_line(ledger);
  if (ledger.say_findings) fmt::print("{}", told_text(ledger.told, flags.every));
  const std::string wanted = wanted_options(ledger.tally);
  fmt::print("{}{}{}{}", tally_table(ledger.tally, ledger.paint), wanted.empty() ? "" : "\n", wanted,
             summary(ledger.tally, seconds));
  std::fflush(stdout);
  if (flags.junit.empty()) return;
  std::ofstream out(flags.junit);
  write_junit(out, ledger.junit);
  if (!out.flush()) throw std::system_error(errno, std::generic_category(), flags.junit);
}

// What is left, and the command that goes on. What status= selects of its own record is selected anew.
std::string go_on(std::int64_t left, const RunFlags& flags) {
  const bool anew = flags.against.empty() && asks_status(parse_where(flags.selection.where));
  std::string command = "plumb";
  for (const std::string& word : flags.words) command += " " + shell_quoted(word);
  if (flags.record.empty()) command += " --record run.jsonl";
  if (!flags.record.empty() && !flags.resume && !anew) command += " --resume";
  return fmt::format("plumb: {} left. {}: {}\n", left == 1 ? "1 case is" : fmt::format("{} cases are", left),
                     flags.record.empty() ? "Without a record it begins anew; with one" : "To go on",
                     command);
}

bool same_file(const std::string& a, const std::string& b) {
  const auto whole = [](const std::string& path) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path));
  };
  return !a.empty() && !b.empty() && whole(a) == whole(b);
}

Ledger ledger_of(const RunFlags& flags) {
  Ledger ledger;
  ledger.paint = paint_for(flags.output.color, STDOUT_FILENO);
  ledger.say_findings = ledger.show_progress = !flags.output.quiet;
  ledger.every = flags.every;
  ledger.keep_junit = !flags.junit.empty();
  ledger.environment = dump(environment());
  if (same_file(flags.junit, flags.record))
    throw BadInput(fmt::format("--record and --junit both write to {}", flags.junit));
  open_record(ledger, flags.record, flags.resume);
  ledger.waivers = waivers_in(flags.waivers);
  if (!flags.junit.empty()) check_writable(flags.junit);
  return ledger;
}

// Runs the jobs; how many of them no time was left for. The exit code where the run was cut short, else 0.
int run_jobs(Session session, const std::vector<Job>& jobs, Ledger& ledger, std::int64_t& left) {
  const std::vector<std::string> names = resolved_names(session.backends);
  std::set<std::pair<std::size_t, std::int64_t>> gave_up;  // backend, devices
  session.gave_up = [&](const GaveUp& one) {
    gave_up.emplace(one.backend, one.devices);
    say_gave_up(ledger, names[one.backend], one.devices);
  };
  session.parted = says_parted(ledger);
  const auto begin = std::chrono::steady_clock::now();
  const auto since = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  std::set<std::pair<std::size_t, std::int64_t>> done;  // backend, case
  int code = 0;
  ledger.progress.total = static_cast<std::int64_t>(jobs.size());
  try {
    run(
        session, jobs,
        [&](Judged&& judged) {
          const Job job = judged.job;
          take(ledger, session.cases, std::move(judged));
          done.emplace(job.backend, job.number);
        },
        [&] { tick(ledger, since()); });
  } catch (const Interrupted&) {
    code = 130;
  } catch (const std::system_error& error) {
    fmt::print(stderr, "plumb: {}\n", error.what());
    code = 3;
  }
  std::int64_t unstarted = 0;
  for (const Job& job : jobs) {
    if (done.contains({job.backend, job.number})) continue;
    const std::int64_t n = devices(mesh_of(session.cases, job.number));
    const bool starts = !gave_up.contains({job.backend, n});
    starts ? ++left : ++unstarted;
    leave(ledger, {row_of(session.cases, job.number).suite, names[job.backend],
                   ledger.keep_junit ? print(nth(session.cases, job.number)) : "",
                   starts ? "no time was left"
                          : fmt::format("its backend does not start for {}", counted(n, "device"))});
  }
  if (code != 3 && !jobs.empty()) end_record(ledger, ledger.refused + left + unstarted);
  return code;
}

// That of the tally, unless a case did not fit the machine, a waiver has to go or a program did not end well.
int code_of(const Ledger& ledger, bool all_ran) {
  const std::vector<std::string> stale = complaints(ledger.waivers, today(), all_ran);
  for (const std::string& complaint : stale) fmt::print(stderr, "plumb: {}\n", complaint);
  const int code = exit_code(ledger.tally);
  if (code != 0) return code;
  return !stale.empty() || !ledger.origin.afterwards.empty() ? 1 : ledger.refused > 0 ? 2 : 0;
}

int run_command(const RunFlags& flags) {
  const auto begin = std::chrono::steady_clock::now();
  const double budget = parse_budget(flags.running.budget);
  const Where where = condition_of(flags.selection);
  const std::vector<std::string> backends = backends_of(flags.running);
  const std::vector<std::string> names = resolved_names(backends);
  const Records looked = looked_into(flags, where);
  Before before;
  if (asks_status(where)) ask_of(before, looked, !flags.against.empty());
  const Chosen chosen = choose(flags.selection, asked_by(where, before, names));
  if (flags.dry_run) {
    waivers_in(flags.waivers);
    return say_planned(std::ssize(chosen.numbers), names);
  }
  Ledger ledger = ledger_of(flags);
  if (flags.resume) before.done = by_key(ledger.journal->before());
  const Session session{chosen.cases,
                        backends,
                        settings(flags.running),
                        flags.running.limits,
                        flags.running.jobs,
                        budget,
                        [&ledger](const Wait& wait) { say(ledger, wait); }};
  const std::vector<Job> jobs = jobs_of(session, chosen, before, ledger);
  if (jobs.empty() && ledger.tally.counts.empty()) throw BadInput("no case is selected, nothing was run");
  ledger.origin.selection = selection_in_words(flags.selection);
  if (!flags.running.budget.empty()) ledger.origin.selection["budget"] = flags.running.budget;
  ledger.origin.backends = names, ledger.origin.cases = std::ssize(chosen.numbers);
  if (!jobs.empty()) begin_record(ledger);
  std::int64_t left = 0;
  const int cut_short = run_jobs(session, jobs, ledger, left);
  finish(ledger, flags, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  if (left > 0) fmt::print(stderr, "{}", go_on(left, flags));
  if (cut_short != 0) return cut_short;
  return code_of(ledger, left == 0 && flags.selection.sample == 0 && flags.selection.shard.empty());
}

}  // namespace

void add_run(CLI::App& app, const std::vector<std::string>& words, int& code) {
  auto flags = std::make_shared<RunFlags>();
  flags->words = words;
  CLI::App* run =
      app.add_subcommand("run", "Judge cases: 0 all well, 1 findings, 2 bad input or nothing run");
  add_selection(*run, flags->selection);
  add_running(*run, flags->running);
  run->add_option("--record", flags->record, "Append a JSON line for each case")->check(file_name());
  run->add_flag("--resume", flags->resume, "Skip what the record has");
  run->add_option("--against", flags->against,
                  "The record that status= looks into; of a backend that it has nothing of, by lines alone")
      ->check(file_name());
  run->add_option(
         "--waivers", flags->waivers,
         "A file of known findings that are accepted, a row each (harness/waive/README.md has an example):\n"
         "VERDICT on BACKEND until YYYY-MM-DD for ISSUE: CONDITION, as --where takes it")
      ->check(file_name());
  run->add_flag("--dry-run", flags->dry_run,
                "Read all that is given, say what would be judged, and judge nothing");
  run->add_flag("--every", flags->every, "Print each finding, not the first of each cause and counts");
  run->add_option("--junit", flags->junit, "Write JUnit XML")->check(file_name());
  add_output(*run, flags->output);
  run->footer([] { return options_of_backends(); });
  run->callback([flags, &code] { code = run_command(*flags); });
}

}  // namespace plumb

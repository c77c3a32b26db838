#include "harness/command/ledger.h"

#include <fmt/format.h>
#include <unistd.h>

#include "adapters/protocol/json.h"
#include "harness/command/files.h"
#include "harness/command/waits.h"
#include "harness/report/finding.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

double seconds(const Times& t) { return t.fill + t.reference + t.backend + t.judge; }

// For JUnit: its facts, what it said last, and the command that repeats it.
void keep(Ledger& ledger, const std::string& suite, const Record& r, const std::string& again) {
  std::string said = facts(r.verdict);
  if (!r.last_words.empty()) said += "its last words:\n" + last_lines(r.last_words) + '\n';
  ledger.junit.push_back({suite, r.backend, r.line, junit_element(r.verdict.status),
                          std::string(name(r.verdict.status)), said + again, seconds(r.times)});
}

// `note`: of the row of the suite, which may name an incident.
void say_finding(Ledger& ledger, const Record& r, const std::string& again, const std::string& note) {
  const bool noted = !note.empty() && ledger.notes_told.insert(note).second;
  const bool first = is_first(ledger.told, r);
  if (!ledger.say_findings || !(first || noted || ledger.every)) return;
  clear_line(ledger);
  fmt::print("{}", describe(r, again, ledger.paint));
  if (!note.empty()) fmt::print("    of this case: {}\n", note);
  std::fflush(stdout);
}

}  // namespace

void take(Ledger& ledger, const Cases& cases, Judged&& judged) {
  Record& record = judged.record;
  const std::string again = repeat(record, judged.asked);
  record.run = ledger.origin.run;
  if (ledger.journal && !judged.refused) ledger.journal->append(record, ledger.environment);
  if (!ledger.waivers.empty()) waive(ledger.waivers, nth(cases, judged.job.number), record, today());
  const std::string& suite = row_of(cases, judged.job.number).suite;
  add_verdict(ledger.tally, suite, record.backend, record.verdict);
  ++ledger.progress.done;
  if (judged.refused) {
    ++ledger.refused;
    clear_line(ledger);
    fmt::print(stderr, "plumb: unrun: {}\n", record.verdict.facts.front().text);
  } else if (finding(record.verdict.status)) {
    ++ledger.progress.findings;
    say_finding(ledger, record, again, row_of(cases, judged.job.number).note);
  }
  if (!ledger.keep_junit) return;
  keep(ledger, suite, record, finding(record.verdict.status) ? "again: " + again + '\n' : "");
}

void begin_record(Ledger& ledger) {
  if (!ledger.journal) return;
  ledger.origin.started = now_utc();
  ledger.origin.run = run_drawn(ledger.origin.started);
  ledger.origin.environment = parse_json(ledger.environment);
  ledger.journal->append(first_line(ledger.origin));
}

void end_record(Ledger& ledger, std::int64_t unrun) {
  if (!ledger.journal) return;
  ledger.origin.unrun = unrun;
  ledger.journal->append(last_line(ledger.origin));
}

void leave(Ledger& ledger, const LeftOver& left) {
  add_verdict(ledger.tally, left.suite, left.backend, {.status = Status::unrun});
  if (ledger.keep_junit)
    ledger.junit.push_back({left.suite, left.backend, left.line, junit_element(Status::unrun),
                            std::string(name(Status::unrun)), left.why + "\n", 0});
}

void say_gave_up(Ledger& ledger, const std::string& backend, std::int64_t devices) {
  clear_line(ledger);
  fmt::print(stderr,
             "plumb: {} did not start three times in a row for {}: its other cases of them are unrun\n",
             backend, counted(devices, "device"));
}

OfABackend says_parted(Origin& origin, std::function<void()> clear) {
  return [&origin, clear = std::move(clear)](const std::string& backend, const std::string& what) {
    std::string text = fmt::format("{}, once its requests had ended: {}", backend, what);
    if (std::ranges::count(origin.afterwards, text) > 0) return;
    clear();
    fmt::print(stderr, "plumb: {}\n", text);
    origin.afterwards.push_back(std::move(text));
  };
}

OfABackend says_parted(Ledger& ledger) {
  return says_parted(ledger.origin, [&ledger] { clear_line(ledger); });
}

void open_record(Ledger& ledger, const std::string& path, bool resume) {
  if (resume && path.empty()) throw BadInput("--resume needs the --record to go on with");
  ledger.journal = journal_of(path);
}

bool recalled(Ledger& ledger, const Session& session, const Job& job, const Record* before) {
  if (!before || !holds_under(*before, limits_of(session, job))) return false;
  Record record = *before;
  const std::string& suite = row_of(session.cases, job.number).suite;
  if (!ledger.waivers.empty()) waive(ledger.waivers, parse_case(record.line), record, today());
  add_verdict(ledger.tally, suite, record.backend, record.verdict);
  if (ledger.keep_junit) keep(ledger, suite, record, "");
  return true;
}

void tick(Ledger& ledger, double seconds) {
  if (seconds < 1 || !ledger.show_progress || !moves_its_cursor(STDERR_FILENO)) return;
  ledger.progress.seconds = seconds;
  draw_progress(ledger.progress);
  ledger.progress_drawn = true;
  if (ledger.progress.done == ledger.progress.total) clear_line(ledger);
}

void say(Ledger& ledger, const Wait& wait) {
  if (!ledger.show_progress) return;
  clear_line(ledger);
  say_wait(wait);
}

void clear_line(Ledger& ledger) {
  if (ledger.progress_drawn) clear_progress();
  ledger.progress_drawn = false;
}

}  // namespace plumb

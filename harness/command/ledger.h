// Where verdicts go as they come: the record, the terminal, the tally, JUnit.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/command/session.h"
#include "harness/compare/told.h"
#include "harness/record/journal.h"
#include "harness/report/junit.h"
#include "harness/report/paint.h"
#include "harness/report/progress.h"
#include "harness/report/tally.h"
#include "harness/waive/waiver.h"

namespace plumb {

struct Ledger {
  Paint paint;
  bool say_findings = true, show_progress = true;
  bool every = false;  // findings are said whole, not the first of each cause alone
  bool keep_junit = false;
  Told told;
  std::set<std::string> notes_told;  // of rows: the first of each is said whole, too
  std::unique_ptr<Journal> journal;  // null: nothing is recorded
  std::string environment = "{}";    // JSON
  Origin origin;                     // of what is recorded
  std::vector<Waiver> waivers;
  Tally tally;
  std::vector<JunitCase> junit;
  Progress progress;
  bool progress_drawn = false;  // it stands on the terminal
  std::int64_t refused = 0;     // cases that do not fit this machine
};

// Writes it to the record as it was judged, waives it where a waiver names it, then says it where findings
// are said. Throws std::system_error: the record's disk is full.
void take(Ledger&, const Cases&, Judged&&);

// Opens the record that a command appends to; none where there is no path. Says so where it cuts a torn line
// off. Throws BadInput, also where there is no record to resume.
void open_record(Ledger&, const std::string& path, bool resume);

// Writes down where the records to come are from; when no more come, how many cases the run did not come to.
// Nothing where nothing is recorded.
void begin_record(Ledger&);
void end_record(Ledger&, std::int64_t unrun);

// A job that the budget, or Ctrl-C, or a backend that does not start left over.
struct LeftOver {
  std::string suite, backend, line, why;
};
void leave(Ledger&, const LeftOver&);

// Says that a backend does not start, and what becomes of its other cases.
void say_gave_up(Ledger&, const std::string& backend, std::int64_t devices);

// Says what a program did once its requests had ended, once for each that did so; into the record, too.
// `clear` is called before a line is printed.
using OfABackend = std::function<void(const std::string& backend, const std::string& what)>;
OfABackend says_parted(Origin&, std::function<void()> clear);
OfABackend says_parted(Ledger&);

// Whether a record (null: there is none) says what came of a job under the limits of the session. It counts
// then, but is not said again.
bool recalled(Ledger&, const Session&, const Job&, const Record*);

// The progress line, on a terminal, from the second second on.
void tick(Ledger&, double seconds);

// What a run waits for, where progress is shown.
void say(Ledger&, const Wait&);

// Takes it away, before other text.
void clear_line(Ledger&);

}  // namespace plumb

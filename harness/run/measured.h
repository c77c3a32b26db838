// One case under the clock.
#pragma once

#include <functional>
#include <optional>

#include "harness/run/ask.h"
#include "harness/run/attempt.h"
#include "harness/run/pace.h"

namespace plumb {

// Told how far one repetition is, in words, while it is timed.
using Seen = std::function<void(const std::string& how)>;

// The record of one repetition: requests until it is over, of each of which the first result and the last
// were judged, and then a plain run of the case on other data. A case that is no pass has no times, nor one that its
// clock does not see. Throws DoesNotFit.
Record measure(const Case&, Subject&, const Pace&, const Seen&);

// Every iteration has the same operands: a result that is that of the call before is seen on others alone. So, once a case has
// been timed, the same program runs it once more, by the request of plumb run, on other data: the record of that where it is
// no pass, a doubt included; nothing where it is one.
std::optional<Record> no_pass_on_other_data(const Case&, Subject&);

// Why a case is too large here, with a smaller line, before it is asked: what measure() would throw. Starts the program
// where it has said nothing of itself yet.
std::string too_large_to_time(const Case&, Subject&);

// The same of a program that is not started: what is so of any that fills by itself and proves in place.
std::string too_large_to_time_by_any(const Case&, const Subject&);

// Times a case once, so that its ranks can be asked more of it. Throws DoesNotFit.
struct Introduction {
  std::string failed;  // why it cannot be timed, or is not right
  std::vector<std::string> notes;
};
Introduction make_known(const Case&, Subject&);

// The first of both results that is no pass, else the last: where the first was lost in its proof nobody has proved the last.
Record judged_under_the_clock(const TimedAttempts&, const Declared&);

// Whether a result decided that a case has no times, which another run would have again, or that it is unsupported: not
// that its backend ended, hung or broke off, nor, of a pass, that its clock or its iterations gave none.
bool was_judged(const Record&);

// Why a case has no times, from the record of a verdict: "wrong: 3 elements ..."; of a pass its last note. A fact of other data
// is of the run after the clock.
std::string not_timed(const Record&);

}  // namespace plumb

// A finding that is known and, until a date, accepted.
#pragma once

#include <istream>
#include <string>
#include <string_view>
#include <vector>

#include "harness/record/record.h"
#include "harness/select/where.h"

namespace plumb {

// A row of a file of waivers: the verdict, the backend (with any options, unless it names some), the last
// day, the upstream issue, and the cases by the words of --where:
//   wrong on jax@0.9.1 until 2027-01-31 for openxla/xla#40034: op=reshard is=unfinished axis.dp>=2
struct Waiver {
  Status status = Status::wrong;
  std::string backend, until, issue;  // until: YYYY-MM-DD
  Where where;
  std::string row, origin;           // its text, and "FILE:LINE"
  std::int64_t ran = 0, needed = 0;  // cases it names that ran, and that had the verdict
};

// Throws BadInput with FILE:LINE. Empty lines and lines that begin with # are none.
std::vector<Waiver> read_waivers(std::istream&, const std::string& name);

std::string today();  // YYYY-MM-DD, UTC

// Replaces the one verdict that a waiver of `day` names, the facts staying behind the reason. What is
// recorded is never waived: a verdict counts again once its waiver is gone.
void waive(std::vector<Waiver>&, const Case&, Record&, std::string_view day);

// Why a waiver fails a run, or nothing: it has expired, or its cases ran and none needed it, in a run that came
// to all of its cases and was of no sample.
std::string complaint(const Waiver&, std::string_view day, bool all_ran);
std::vector<std::string> complaints(const std::vector<Waiver>&, std::string_view day, bool all_ran);

}  // namespace plumb

// What a record has of the cases that plumb bench is asked for: with --resume that is not timed again.
#pragma once

#include "harness/command/entries.h"

namespace plumb {

// Whether times, or a record, are those of an entry.
template <typename Of>
bool is_of(const Of& of, const Entry& entry) {
  return of.line == entry.timings.line && of.backend == entry.timings.backend;
}

// What was timed before stands in the place of what would be timed, each repetition in that of its number, of several the
// last; those alone that have times, and know their limits. A case whose result was judged, and no pass, is asked no more,
// as by plumb run. Throws BadInput where what is recorded was timed otherwise, on another machine or by another build.
void recall(Course&, const std::vector<Record>& recorded, const BenchFlags&, const nlohmann::json& here);

}  // namespace plumb

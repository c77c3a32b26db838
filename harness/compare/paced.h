// What became of times between two runs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/measure/compare.h"
#include "harness/report/timings.h"

namespace plumb {

// Of a case that both have timed, by its launches then and now.
struct Paced {
  std::string line, backend;
  Became became = Became::unsure;
  std::optional<Ratio> ratio;       // now to then; nothing of fewer than four launches on either side
  std::optional<Ratio> controlled;  // the same of beside_controls(); nothing where one side has no controls
  std::string besides;  // what else may have made the slower side slow, or both as long; unsure then,
                        // and where they were timed otherwise
  std::string seen{};   // of what is faster or slower: in how little it was seen
  std::string than{};   // by which backend the other time is, where it is one of the same run
  double chance = 1;    // by which equal launches lie so far apart, or farther
  std::size_t launches = 0;  // of the side that has more
};
// By the medians of launches, for in one launch a library may be several times as slow as in the next; and
// where both sides have controls, which had the same machine, so that it is no guess how loaded that was: by
// beside_controls() as well. A mode of the machine that holds for minutes is of all launches of a run, and a
// copy need not show what a sum does: of two runs, what does not differ beside the library's own call is
// UNSURE, and where there is no such call, beside its own sum; so is what does not differ beside its own
// packing. A case that has no call and no sum is UNSURE, unless it is a product that sends nothing. Law: of equal launches one of all cases is FASTER or SLOWER in at most 5 of
// 100 comparisons, however many cases they are of and however these hang together (Holm).
std::vector<Paced> paced(const std::vector<Timings>& then, const std::vector<Timings>& now);

// Why none of these can be FASTER or SLOWER, however far apart: so many cases need more launches than any has. Empty where
// one can.
//   5 launches then and now tell none of 20 cases FASTER or SLOWER, however far apart: 6 --repetitions do
std::string too_few_to_tell(const std::vector<Paced>&);

// Each case on a backend beside itself on the first that has it, whose launches took turns with its own: by pairs of launches,
// of each the iteration below which a quarter of them lie, for who waits for a core now and then lengthens those above.
// What loads the machine loads both, and no control is needed. Law: as of paced().
std::vector<Paced> paced_in_turns(const std::vector<Timings>&);

// So many launches in turns at least tell one of so many such cases FASTER or SLOWER, however far apart they lie; six, by which
// there is an interval.
std::size_t fewest_in_turns(std::size_t cases);

// What may have made one side slower than the other, but the case: another processor, or another class of
// scheduling; or where that explains the ratio of `slow` to `fast`, a slower clock, or, where no control
// tells, a higher load, by which a process gets so much less of the processors. Empty where nothing of this
// is known. Each side by the mean of its repetitions.
//   a load of 5.3 on 2 cores, not 0.4
std::string besides_the_case(const Timings& slow, const Timings& fast, const Ratio&);

// "SLOWER  mpi  on x=4: reshard f32[8]+x -> f32[8]: 1.120 (1.100 to 1.140) times as long"
std::string paced_in_words(const Paced&);

}  // namespace plumb

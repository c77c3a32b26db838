// Whether a partitioned module computes, on every device, its slice of what the whole module computes.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reference/hlo/prove/compare.h"
#include "reference/hlo/prove/draw.h"
#include "reference/hlo/prove/folded.h"
#include "reference/hlo/prove/near.h"
#include "reference/hlo/prove/picked.h"
#include "reference/hlo/prove/subject.h"
#include "reference/hlo/run/machine.h"

namespace plumb::hlo {

// How far a proof is: in which draw, on which side, at which instruction of how many of its entry
// computation, and how many were computed until then, those of loops each time.
struct Step {
  int draw = 1, draws = 1;
  bool after = false;
  std::int64_t done = 0, all = 0, computed = 0;
};

struct Proof;

struct Options {
  std::uint64_t seed = 0;
  int draws = 0;  // 0: two, and eight where the arguments are fewer than 4,096 numbers or one integer indexes
  int redraws = 8;                          // of a draw that is not proven, or whose decisions hang on errors
  std::map<std::int64_t, Bounds> ranges{};  // of parameters, instead of those that bounds_of finds
  std::function<void(const Step&)> step{};  // told before each instruction, of loops too; may throw
  Pause pause{};                            // within long ones
  bool one_draw = false;                    // the first alone: nothing is sought in others
  bool hold_last = false;                   // of what is shared only the last draw
  // Asked before AFTER runs on a draw who watches that run.
  std::function<Watch<Twin>(const Module& after, const Proof& draw)> watch{};
};

// proven: every element of every result on every device has the residue it should, in every draw. refuted:
// some do not, and their reals differ too, by more than 2^-20 of the largest of the result. unsettled: some
// do not, but no reals differ. mistrusted: the check could not have failed, or hangs on what double cannot
// decide. unrun: no time was left, or the machine is too small; who runs the proof says so.
enum class Finding : std::uint8_t { proven, refuted, unsettled, mistrusted, unrun };
std::string_view name(Finding);

// An instruction of BEFORE or of AFTER.
struct Spot {
  bool before = false;
  std::size_t computation = 0, instruction = 0;
};

struct Proof {
  Finding finding = Finding::proven;
  std::string
      why;  // of what is no difference between elements: devices that should hold the same, a lost alias
  std::optional<Spot> at;  // where that is
  bool by_itself = false;  // BEFORE is wrong: no pass is to blame
  std::vector<Difference> differences;
  std::int64_t results = 0, elements = 0, devices = 0;  // what was compared; elements of all devices
  int draws = 0;
  std::uint64_t seed = 0;             // of the draw that decided
  bool directed = false;              // in which integers were put where comparisons turn: `bounds` has them
  bool as_propagated = false;         // some result's layout is the partitioner's choice
  std::vector<Bounds> bounds;         // of the parameters
  std::vector<std::string> folded;    // "0.0356774069 stands for 0.044715 * 0.797884583"
  std::map<double, Twin> meanings;    // the same, in this draw
  std::vector<std::string> integers;  // what is drawn of parameters that hold some, as draw.h says it
  std::vector<std::string> untaken;   // ways of BEFORE that no draw went, as ways.h names them
  std::vector<std::string> unanswered;  // and answers of comparisons of integers that none had
  std::vector<std::string> borders;     // those of either module that did not come to where they turn
  // Of floats those of BEFORE that did not come near it, and the part of them by which they were apart.
  std::map<std::string, double> apart;
  std::vector<std::string> unshown;  // and those that did, but in no draw decided there what a result shows
};

// BEFORE on the arguments of one draw.
struct Whole {
  std::vector<Value<Twin>> results;
  std::vector<Source> sources;  // its constants, and what it computes without parameters
  Paths paths;
  Picked picked;
  Near near;
  std::vector<Value<Twin>> integers;  // the parameters of which it matters what they are
  // Reductions that are shared out, and the ways in which who lacks a part has another result; none: the
  // reduction is another, and nobody looked further.
  std::map<const Instruction*, std::optional<std::uint64_t>> alone;
  std::int64_t doubts = 0;   // and blurs, as Pairs counts them
  bool ended = false;        // at the first of them: no results
  std::string disagreement;  // of its devices, in manual regions
  std::optional<Spot> at;    // where they disagree
};
using Wholes = std::map<std::uint64_t, Whole>;  // by seed

// Throws BadModule where the modules do not belong together, or hold what is not known here. Proofs of
// several AFTERs by the same options, all of one BEFORE, may share what it computes; else each draw of it is
// let go of.
Proof prove(const Subject&, const Options&, Wholes* shared = nullptr);

}  // namespace plumb::hlo

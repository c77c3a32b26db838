// A status, the first fact that decided it, and the other facts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/judge/explanation.h"

namespace plumb {

// The first that applies is the verdict's. README.md says what each means.
enum class Status : std::uint8_t {
  unrun,
  unsupported,
  hung,
  crashed,
  malformed,
  reneged,
  misplaced,
  leaked,
  wrong,
  diverged,
  unstable,
  mistrusted,
  wasteful,
  pass,
  waived
};
constexpr int statuses = 15;

std::string_view name(Status);
std::optional<Status> status_named(std::string_view);

// Whether a status is a finding: exit code 1.
bool finding(Status);

// Where a wrong value was first seen, and how far it reaches.
struct Place {
  std::int64_t devices = 0, elements = 0;  // how many devices and elements are wrong in all
  std::int64_t device = 0;                 // the first wrong device,
  std::string coordinates;                 // its place in the mesh, "dp=0,tp=1",
  std::vector<std::int64_t> index;         // the first wrong element's global index there,
  std::string want, got;                   // and its values, with their bits
};

struct Fact {
  Status status;
  std::string text;  // one line
  std::optional<Place> place;
  std::string
      cause;  // the sentence of `explanations`, or of an older record: "the sum over dp is left unfinished"
  std::string bound;  // where a bound judged: its terms for the first wrong element, a line each
  std::optional<std::uint64_t> seed{};  // of the other data on which it was seen, between a run and its rerun
  std::vector<Explanation> explanations{};  // each of which explains every device to the bit
};

// One that its text says all of.
inline Fact fact(Status status, std::string text) { return {status, std::move(text), {}, {}, {}}; }

// Whether it says that values are wrong.
inline bool of_values(const Fact& fact) {
  return fact.status == Status::wrong || fact.status == Status::leaked;
}

// Says why, as data and in words.
void explain(Fact&, std::vector<Explanation>);

struct Verdict {
  Status status = Status::unrun;
  std::vector<Fact> facts;   // the one that decided first
  bool plan = false;         // judged on a plan alone (data=none)
  bool alone = false;        // one device: no agreement was tested
  bool clones = false;       // replicas were copies of one result: no agreement was tested
  bool untraced = false;     // nobody said what moved: no trace was judged
  bool in_place = false;     // blocks were proved where they lie, by the backend's own ranks
  std::int64_t rounded = 0;  // elements, over all devices, that differ from what is wanted within a bound
};

// Sorts facts by what decides and sets the status from the first; no fact is a pass.
void decide(Verdict&);

// What a pass rests on where that is less than the exact bits of every device: the first that applies.
enum class Pass : std::uint8_t { whole, plan, alone, clones, bound, untraced, in_place };
constexpr int pass_kinds = 7;
Pass pass_of(const Verdict&);
std::string_view name(Pass);  // plan, one device, clones, bound, no trace, in place

}  // namespace plumb

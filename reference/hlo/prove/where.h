// Where a refuted module went wrong.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "reference/hlo/prove/printed.h"
#include "reference/hlo/prove/prints.h"
#include "reference/hlo/prove/prove.h"
#include "reference/hlo/run/machine.h"

namespace plumb::hlo {

// The first instruction of the program, as it was after propagation, whose value, laid out as it should be,
// comes about nowhere in AFTER, nor anything that was computed from it; where there is none, the one that
// makes the first wrong result. And what AFTER's devices tell each other there. Where devices part, the one
// at which they do, and where a buffer is lost its parameter.
struct Place {
  std::string instruction;  // "dot_general.84"
  std::string source;       // "train.py:44 block"; empty where the dump does not say
  std::string op_name;      // "jit(step)/bsm,mhd->bshd/dot_general"
  std::string there;        // "%all-reduce.4 = ...", and as there.h says; empty where nothing is told
};

// What the instructions of the module after propagation should be, by the seed of the draw.
struct Sought {
  struct Event {
    const Instruction* is = nullptr;     // of what gives several values the one that does
    std::int64_t order = 0;              // as they are first computed
    std::optional<std::uint64_t> print;  // of what all devices should hold, where that tells anything
    std::optional<std::uint64_t> whole;  // of the value where each device holds all of it
    bool reached = false;                // it is there, or something that is there was computed from it
    Printed::Held held{};                // the value where each device holds all of it; null: it is not kept
  };
  using Events = std::map<const Instruction*, Event>;
  std::map<std::uint64_t, Events> events;
  // What the AFTER that was proven last computed on the draw of this seed.
  struct Run {
    std::uint64_t seed = 0;
    Printed printed{};
  };
  std::optional<Run> watched{};
};

// For Options::watch: of AFTER's first draw, where it is small, and of the module after propagation where
// that is what is proven, it is noted what locating asks, so that it runs neither again. The subject is what
// will be located, and it and what is sought outlive the proof.
std::function<Watch<Twin>(const Module&, const Proof&)> watching(const Subject&, Sought&);

// Nothing where no result is wrong, or one is and the module after propagation is not at hand. Of several
// AFTERs of one program what is looked for may be shared.
std::optional<Place> locate(const Subject&, const Proof&, const Pulse& = {}, Sought* shared = nullptr);

}  // namespace plumb::hlo

// Does every device hold exactly the right bits, where it should, and say so truthfully?
#pragma once

#include <functional>
#include <span>

#include "adapters/protocol/outcome.h"
#include "harness/judge/verdict.h"
#include "reference/fill/fill.h"
#include "reference/rounding/model.h"
#include "reference/words/tensor.h"

namespace plumb {

// What the judge knows of a case of one result and no schemes.
struct Wanted {
  const Case& c;
  const std::vector<Tensor>& operands;
  const Tensor& whole;  // the whole result, sums finished, rounded once
  const Certificate& certificate;
  bool one_of_several = false;  // results: whether any could have failed is asked of all together
};

// What the backend declared about its promises; the judge never sees its name.
struct Declared {
  bool clones = false;           // replicas are copies of one result
  bool tail_undefined = false;   // grouped rows past the sum of the sizes
  bool acc_unspecified = false;  // accumulates in a type that it does not name
  bool wire_unspecified = false;
  bool parts_rounded = false;    // of an unfinished result: they are rounded on the way
  Engine engine = Engine::ieee;  // how it adds up products
  bool data_none = false;        // plans and moves nothing
};

// Fills the span with the bytes of a block.
using Read = std::function<void(const Block&, std::span<std::byte>)>;

// The same, but that rows of a grouped result which the backend leaves undefined read as what is wanted
// of them: zero, in each of several results. Keeps a reference to the case.
Read masked(const Case&, Read, const Declared&);
std::int64_t masked_rows(const Case&, const Declared&);  // how many rows that are, in the longest result

// All facts found, the deciding one first. A free result is judged as claimed; where nothing is claimed,
// by the slices that its blocks say they are. Facts of cost and of reruns are not the judge's: examine()
// adds them.
Verdict judge(const Wanted&, const Outcome&, const Read&, const Declared&);

// The same for any case: several results one after the other (each fact says of which), operands that are
// quantized as the values that their codes mean.
struct WantedAll {
  const Case& c;
  const std::vector<Tensor>& operands;
  const std::vector<Tensor>& wholes;  // evaluate_all()
  const Certificate& certificate;
};
Verdict judge(const WantedAll&, const Outcome&, const Read&, const Declared&);

// Sorts facts by what decides and sets the status from the first; no fact is a pass.
void decide(Verdict&);

// A digest of every block's bits, to compare reruns: equal bits give equal digests.
std::uint64_t digest(const Outcome&, const Read&);

// An element as text: its value and its bits.
std::string element_text(DType, std::uint64_t bits);

}  // namespace plumb

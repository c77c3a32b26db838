// What a judge is given: what is wanted, what the backend declared, and how to read what came.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "adapters/protocol/outcome.h"
#include "reference/fill/fill.h"
#include "reference/rounding/model.h"
#include "reference/words/tensor.h"

namespace plumb {

// A case of one result and no schemes, and what it means.
struct Wanted {
  const Case& c;
  const std::vector<Tensor>& operands;
  const Tensor& whole;  // the whole result, sums finished, rounded once
  const Certificate& certificate;
  bool one_of_several = false;  // results: whether any could have failed is asked of all together
};

// Any case: several results, operands that are quantized.
struct WantedAll {
  const Case& c;
  const std::vector<Tensor>& operands;
  const std::vector<Tensor>& wholes;  // evaluate_all()
  const Certificate& certificate;
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

}  // namespace plumb

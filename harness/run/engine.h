// Whether a backend adds up products as it says.
#pragma once

#include <optional>
#include <string>

#include "harness/backend/process.h"
#include "reference/rounding/model.h"

namespace plumb {

// Sums of few terms are asked of its process, as a product of operands of this dtype, and held against the rows of the
// model: what speaks against the engine that it says it has (ieee, where it says none), where its sums are those of none
// or of one that costs more, or where it ends, hangs or says what is on no page. Nothing where they are not,
// or where it says that it cannot make such a product, of matrices or of a group.
std::optional<std::string> doubt_of_engine(Process&, DType, Engine said);

// In which dtype the sums of a product are asked; nothing where its accumulator is not f32.
std::optional<DType> probed_dtype(const Case&);

}  // namespace plumb

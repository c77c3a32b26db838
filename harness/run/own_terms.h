// Sums of few terms asked by a case itself: its first operand holds the terms, the second is one everywhere.
#pragma once

#include <optional>
#include <vector>

#include "reference/rounding/probe.h"
#include "reference/words/op.h"
#include "reference/words/tensor.h"

namespace plumb {

// The sum of each element's coordinates times these weights, in row-major order.
std::vector<std::int64_t> weighted_coordinates(const std::vector<std::int64_t>& shape,
                                               const std::vector<std::int64_t>& weights);

// In the shape in which a program is given it: one with unfinished axes has a leading dimension for its parts.
Tensor zero_operand(const Case&, int operand);

void set_value(Tensor&, std::int64_t element, double);

struct OwnTerms {
  std::vector<FewTerms> sums;         // of the rows of the first operand, each of which is multiplied by ones
  std::vector<std::int64_t> sum_of;   // which of them each element of the result is; -1: none
  std::vector<Tensor> operands;
};

// So much of the probe as its rows and their lengths have room for, or the next so much. Nothing where parts are
// rounded on their way to a format of less than f32, or are left; and where no row has two terms.
std::optional<OwnTerms> own_terms(const Case&, int next = 0);

// In so many times all of the probe that there is room for is asked.
int times_of_asking(const Case&);

}  // namespace plumb

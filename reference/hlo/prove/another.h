// Do devices hold another value than they did?
#pragma once

#include "reference/hlo/run/array.h"

namespace plumb::hlo {

// Whether an array is of another type or shape, or an element on some device is another: where there are
// maps, one a device, those alone whose entry is not below 0. Reals differ by more than 2^-30 of the largest
// finite one of `was`, for sums in another order differ by less; two that are no numbers do not differ.
bool is_another(const Array<double>& was, const Array<double>& is, std::int64_t devices,
                const std::vector<Integers>* maps = nullptr);

// The same of tuples, part by part.
bool is_another(const Value<double>& was, const Value<double>& is, std::int64_t devices);

}  // namespace plumb::hlo

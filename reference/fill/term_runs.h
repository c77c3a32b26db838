// Runs of a product's terms, several elements at once: loops without a branch.
#pragma once

#include "reference/fill/term_at.h"

namespace plumb {

// Whether the loops make them: of operands in one part, of which every pair and block adds something.
bool made_at_once(const TermsAt&, const Spot&);

// Elements of one member along a free dimension.
void free_run(const TermsAt&, const Spot&, const Member&, std::int64_t count, double* out);

inline constexpr std::int64_t kAtOnce = 512;

// The numbers of `count` terms, at most kAtOnce, in the matching of their block; those of kAtOnce are
// written.
void number_run(const Matching&, const Spot&, std::int64_t count, std::int64_t* numbers);

// The terms with these numbers, of one free index; what is long among them is another.
void contracted_run(const TermsAt&, const Spot&, const std::int64_t* numbers, std::int64_t count,
                    double* out);

}  // namespace plumb

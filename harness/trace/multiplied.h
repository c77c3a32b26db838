// What devices hold when they have multiplied their blocks, and whether they can have met.
#pragma once

#include "harness/trace/transit.h"

namespace plumb {

// How the operands of a product lie when they are multiplied, and its result when its terms are summed.
struct Layouts {
  std::vector<Spec> operands;
  Spec result;
  std::size_t before = 0;  // so many steps
};

// From what each device makes of its blocks of the operands to the result of the case: the letters of the
// result as the operands have them, the sum of the terms that it has of the others, of operands in parts
// those of its part of either.
Execution multiplied(const Case&, const Einsum&, const Layouts&);

// How the product lies when it is multiplied: each letter of it as in an operand that has it, in parts along
// the axes that split the others or leave an operand in parts. Nullopt where an axis would do two of these.
std::optional<Spec> product_spec(const Case&, const Einsum&, const Layouts&);

// Why no dealing out of these collectives, each to one operand, takes both to where they are multiplied; a
// send may be of either, or of both. As not_made(). Of more than most_dealt only those that follow each other
// are dealt to one operand; where that does not do it is not known, unless all of them do not take one there.
std::optional<std::string> operands_not_met(const Case&, const Layouts&, std::span<const Collective>);

// Why these do not make the result of what was multiplied.
std::optional<std::string> product_not_made(const Case&, const Layouts&, std::span<const Collective>);

// Of a product that is left in parts: a term of which no device of a fibre that is due it can have both
// factors, for no collectives took them there, nor what another made of them; of operands in parts of each
// part of the one by each of the other. Empty where there is none.
std::string never_met(const Case&, std::span<const Collective>);

}  // namespace plumb

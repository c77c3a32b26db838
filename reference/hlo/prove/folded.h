// Constants that compilers computed: those of AFTER that BEFORE lacks, and what they stand for.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "reference/hlo/module/module.h"
#include "reference/hlo/prove/pairs.h"

namespace plumb::hlo {

// A number that BEFORE has, or computes without its parameters.
struct Source {
  Twin is;
  std::string text;
};

std::string decimal(double);  // as XLA prints it: six digits where they name the float, else nine

// What rounds to the constant: "0.044715 * 0.797884583". Of those that are made of the fewest sources, each
// that is another number.
struct Folded {
  double value = 0;
  std::vector<Source> meanings;
};

// Of an array of more numbers none is a source.
inline constexpr std::size_t kSeveral = 16;

// The constants of a module.
std::vector<Source> constants_of(const Module&);

// The instructions that need no parameter, and are no constants themselves.
std::set<const Instruction*> free_of_parameters(const Module&);

// The real constants of AFTER that BEFORE lacks and that reciprocals, products, quotients, sums or
// differences of up to three sources round to, in one step or at each.
std::vector<Folded> folded_constants(const Module& before, const Module& after, const std::vector<Source>&,
                                     std::uint64_t key);

}  // namespace plumb::hlo

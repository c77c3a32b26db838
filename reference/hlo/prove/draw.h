// What a module is run on: drawn arguments, the same for both sides.
#pragma once

#include "reference/hlo/prove/bounds.h"
#include "reference/hlo/prove/pairs.h"
#include "reference/hlo/run/array.h"

namespace plumb::hlo {

// The arguments of a draw, whole. A float's real is of either sign and between 1/2 and 2, times a scale; its
// residue is any. So what saturates in one draw, or is decided one way, is not in another: of every eight
// draws
//
//   0  plain       scale 1                                          single integer: before the middle
//   1  mixed       scale 1/8; of each array a quarter is of one     the middle
//                  sign, one of the other, and one has ties
//   2  one sign    all of an array; from here each argument has a   at three quarters
//                  scale of its own, from 1/32 to 32
//   3                                                               the least
//   4                                                               at a quarter
//   5                                                               the greatest
//   6  other sign  than that of draw 2                              any
//   7  ties        scale 1; all are zero or one of three numbers    any
//                  that all arguments share, but a single float
//
// Ties of draw 1 are of constants of the module as well, in every other eight those of draw 7 too; there a
// single integer is any. Some element of an array of integers is the least, and one the greatest; of those
// that index nothing both are larger but in draws 0 and 7, of one sign where floats are, in draws 1, 2 and 6
// four in a row are the same: of packed texts a mask that compares all with all has more than its diagonal.
// Single ones are larger in draws 1, 3, 4 and 5.
// In draws 1, 3, 4 and 5 a quarter is what the module asks for or, of those that index nothing, zero; another
// what it is where comparisons turn; in draws with what is placed half of all are that. Of
// predicates half hold, in draws 1, 3 and 5 one, all but one, none or all. Where slices are wanted (`sliced`)
// each has the numbers of one of the first three.
bool is_plain(std::uint64_t seed);
bool has_ties(std::uint64_t seed);   // all over
bool has_zeros(std::uint64_t seed);  // somewhere
std::vector<Value<Twin>> drawn(const Module&, const std::vector<Bounds>&, std::uint64_t seed);

// What is drawn of the parameters that hold integers, so that who knows better says so by --range: "tokens
// s32[4,16] 0 to 63", "labels s32[4,16] 0 to 63, or -100".
std::vector<std::string> integers_drawn(const Module&, const std::vector<Bounds>&);

// Of a program whose arguments are few more draws cost nothing, and what integers decide is no more than
// tested. A single integer that indexes has one place in a draw.
int draws_of(const Module&, const std::vector<Bounds>&);
// What each device holds of them where each is cut so, poison behind its end; nothing else of it is drawn.
// The key of the pairs is the seed.
std::vector<Value<Twin>> drawn(Pairs&, const Module&, const std::vector<Bounds>&,
                               const std::vector<Division>& cuts);

}  // namespace plumb::hlo

// The words of a trace: by which operation a collective reduces, and values of which type it moves.
#pragma once

#include <optional>
#include <string>

namespace plumb {

//   sum add sum    mean avg mean average    largest max maximum    smallest min minimum
//   bits and or xor band bor bxor, joined bit by bit    truth land lor lxor    product mul multiply prod product
enum class ReducesBy { sum, mean, largest, smallest, bits, truth, product };
std::optional<ReducesBy> reduces_by(const std::string& op);
std::string op_words();  // "add, sum, ..."

// The dtypes of a line, and those of other compilers and libraries: pred, s2 to s64, u2 to u64, f4e2m1fn, c64
// and c128.
bool is_moved_type(const std::string& dtype);
int bits_of(const std::string& dtype);  // of one value; 0 of another word
std::string moved_types();  // "s8, s32, ..."

}  // namespace plumb

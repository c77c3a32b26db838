// What a planted fault does to the results, seen without residues: plain doubles on other data.
#pragma once

#include <string_view>

#include "reference/hlo/prove/prove.h"

namespace plumb::hlo {

// moved: some result is another. All others leave every result as it was:
//   same       the instruction has the value it had: the devices exchanged hold the same, say
//   completed  a later sum is what it was
//   padding    what is another is cut off, masked or chosen against
//   unneeded   nothing that reaches a result reads it
// Devices that part on their way to a collective move one.
enum class Harm : std::uint8_t { moved, same, completed, padding, unneeded };
constexpr int harms = 5;
std::string_view name(Harm);

// Of AFTER against `faulty`, which is AFTER with the fault at instruction `i` of computation `c`.
Harm harm_of(const Subject&, const Module& faulty, std::size_t c, std::size_t i);

}  // namespace plumb::hlo

// What of a module is read, but cannot be run.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "reference/hlo/module/module.h"

namespace plumb::hlo {

// Custom calls that mean nothing but where values lie.
enum class Border : std::uint8_t { marker, enter, leave, sdy_enter, sdy_leave };
std::optional<Border> border_of(std::string_view target);

// A call whose result is (): it prints, say. Nothing is computed from it.
inline bool gives_nothing(const Shape& shape) { return shape.type == Type::tuple && shape.parts.empty(); }

// Calls within calls may be more than anybody goes through: who asks something of a module beforehand stops
// behind so many instructions.
constexpr std::int64_t kMostWalked = std::int64_t{1} << 22;

// Custom calls that are not known here, of all that the entry reaches: what is called inside of manual
// regions, where each device is by itself, and the instructions elsewhere.
struct UnknownCalls {
  std::set<std::string> inside;
  std::set<const Instruction*> outside;
};
UnknownCalls unknown_calls(const Module&);

// Throws BadModule where the entry reaches custom calls that are neither known here nor called inside of the
// manual regions of `before`: all of them at once, by name and count, with the line of the first.
void check_runs(const Module&, const Module& before);

}  // namespace plumb::hlo

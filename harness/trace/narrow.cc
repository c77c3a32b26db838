#include "harness/trace/narrow.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "adapters/protocol/vocabulary.h"
#include "harness/trace/steps.h"
#include "harness/trace/untrue_sizes.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

// Of the wire, and of all arrays, or their codes.
std::vector<DType> held_types(const Case& c) {
  std::vector<DType> all{c.wire};
  for (const Spec* spec : arrays(c))
    all.push_back(spec->scheme == Scheme::none ? spec->dtype : codes_of(spec->scheme));
  return all;
}

int width(DType dtype) { return format(dtype).bytes; }

DType narrowest(const std::vector<DType>& types) { return std::ranges::min(types, {}, width); }

// A move of integers, truths or halves of bytes, where `least` is the narrowest that is held.
bool moves_none(const Collective& one, DType least) {
  const auto of_a_line = dtype_named(one.dtype);
  const bool bytes = one.dtype == "s8" || one.dtype == "u8";
  if (combines(one) || bytes || (of_a_line && !format(*of_a_line).integer)) return false;
  const int bits = one.dtype == "pred" ? 1 : bits_of(one.dtype);
  return bits > 0 && bits < 8 * width(least);
}

}  // namespace

int integer_bits(const Collective& one) {
  const bool integers = one.dtype == "pred" || one.dtype.starts_with('s') || one.dtype.starts_with('u');
  return integers ? bits_of(one.dtype) : 0;
}

std::string too_narrow(const Case& c, const Trace& trace) {
  const std::vector<DType> all = held_types(c);
  const DType least = narrowest(all);
  // What is moved, or compared, may be the bits of another format.
  const auto adds = [](const Collective& one) { return combines(one) && !extreme_named(one.op); };
  const auto holds_none = [&](DType dtype) {
    return !holds(dtype, c.acc) && std::ranges::none_of(all, [&](DType held) { return holds(dtype, held); });
  };
  for (const Collective& one : trace)
    if (const auto dtype = dtype_named(one.dtype);
        dtype && (format(least).integer && combines(one)
                      ? !holds(*dtype, least)
                      : !format(*dtype).integer &&
                            (width(*dtype) < width(least) || (adds(one) && holds_none(*dtype)))))
      return fmt::format("one {} of {}, which does not hold the values of {}", one.kind, one.dtype,
                         format(least).name);
  return "";
}

Trace without_counters(const Case& c, Trace trace) {
  const Format& due = format(result(c).dtype);
  if (due.integer || quantizes(c.op)) return trace;
  std::erase_if(trace, [&](const Collective& one) {
    const int bits = integer_bits(one);
    return combines(one) && bits > 0 && bits < 8 * due.bytes;
  });
  return trace;
}

Trace without_idle_moves(const Case& c, Trace trace) {
  const DType least = narrowest(held_types(c));
  std::erase_if(trace, [&](const Collective& one) { return moves_none(one, least); });
  return trace;
}

std::string idle_move(const Case& c, const Trace& trace) {
  const DType least = narrowest(held_types(c));
  for (const Collective& one : trace)
    if (moves_none(one, least)) return fmt::format(" (its {} of {} brings no value)", one.kind, one.dtype);
  return "";
}

}  // namespace plumb

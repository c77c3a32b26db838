#include "harness/trace/scaled.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "harness/trace/cost.h"
#include "harness/trace/different.h"
#include "harness/trace/reachability.h"
#include "reference/words/letters.h"
#include "reference/words/tiles.h"

namespace plumb {
namespace {

constexpr std::int64_t most_asked = 64;  // devices

// Whether nobody else has any of a device's block of an operand.
bool sole_holder(const Case& c, int operand, std::int64_t device) {
  const auto held = [&](std::int64_t d) { return block(c.mesh, c.op.operands[operand], c.rule, d); };
  const Slice own = held(device);
  for (std::int64_t d = 0; d < devices(c.mesh); ++d) {
    const Slice other = held(d);
    bool meets = d != device && elements(own) > 0;
    for (std::size_t i = 0; i < own.size(); ++i) meets = meets && both(own[i], other[i]).size() > 0;
    if (meets) return false;
  }
  return elements(own) > 0;
}

// The elements of a device's block of an operand of which a slice of the result is made.
std::int64_t asked_of(const Case& c, int operand, std::int64_t device, const Slice& due) {
  const Letters words = letters(c.op);
  const Slice held = block(c.mesh, c.op.operands[operand], c.rule, device);
  std::int64_t all = elements(due) > 0;
  for (std::size_t i = 0; i < held.size(); ++i) {
    const std::size_t at = words.out.find(words.operand[operand][i]);
    all *= at == std::string::npos ? held[i].size() : both(held[i], due[at]).size();
  }
  return all;
}

// The bytes of values that a device tells another which multiplies them; of the other operand they may be
// codes.
std::int64_t told_by(const Case& c, const std::vector<Slice>& slices, int operand, std::int64_t device) {
  const Spec &scaled = c.op.operands[operand], &other = c.op.operands[1 - operand];
  int least = format(other.dtype).bytes;
  if (other.scheme != Scheme::none) least = std::min(least, format(codes_of(other.scheme)).bytes);
  const bool both_alone = sole_holder(c, 1 - operand, device);
  std::int64_t most = 0;
  for (std::int64_t d = 0; d < devices(c.mesh); ++d) {
    const std::int64_t own = d == device ? 0 : asked_of(c, operand, device, slices[d]);
    if (own == 0) continue;
    const std::int64_t with = both_alone ? asked_of(c, 1 - operand, device, slices[d]) : 0;
    most = std::max(most, own * format(scaled.dtype).bytes + with * least);
  }
  return most;
}

Slice all_of(const Spec& spec) {
  Slice all;
  for (const Dim& dim : spec.dims) all.push_back({0, dim.size});
  return all;
}

// What comes before the last collective.
Trace but_the_last(const Mesh& mesh, Trace trace) {
  std::erase_if(trace, [&](const Collective& one) { return moved(mesh, one) == 0; });
  if (!trace.empty()) trace.pop_back();
  return trace;
}

}  // namespace

std::string scaled_too_early(const Case& c, const std::vector<Slice>& slices, const Trace& trace) {
  const auto in_parts = [&](const Spec& spec) { return parts(c.mesh, spec) > 1; };
  if (!std::holds_alternative<Einsum>(c.op.kind) || slices.empty() || devices(c.mesh) > most_asked ||
      in_parts(result(c)) || std::ranges::any_of(c.op.operands, in_parts))
    return "";
  const std::optional<double> told = told_to_all(c.mesh, trace);
  if (!told) return "";
  const Trace before = but_the_last(c.mesh, trace);
  for (int operand : {0, 1}) {
    const Spec& spec = c.op.operands[operand];
    if (spec.scheme == Scheme::none || in_blocks(spec.scheme)) continue;
    std::vector<std::int64_t> tells(devices(c.mesh));
    for (std::int64_t d = 0; d < devices(c.mesh); ++d)
      if (sole_holder(c, operand, d)) tells[d] = told_by(c, slices, operand, d);
    const auto lacks = [&](auto asks) {
      const auto of = [&](std::int64_t d) -> std::vector<Slice> {
        return asks(d) && tells[d] > 0 ? std::vector<Slice>(1, all_of(spec)) : std::vector<Slice>{};
      };
      return lack(Needed{c.mesh, spec, c.rule, of, {}}, before);
    };
    const auto found = lacks([](std::int64_t) { return true; });
    if (!found) continue;
    double least = std::numeric_limits<double>::infinity(), sum = 0;
    for (std::int64_t d = 0; d < devices(c.mesh); ++d) {
      if (tells[d] == 0) continue;
      least = std::min(least, static_cast<double>(tells[d]));
      if (lacks([&](std::int64_t e) { return e == d; })) sum += static_cast<double>(tells[d]);
    }
    if (const double due = std::max(least, sum / 3); *told < due)
      return fmt::format(
          "it brings {:.0f} different bytes, no values of operand {}, and the largest magnitude of all is "
          "due before: {}",
          *told, operand, lack_in_words(c.mesh, *found));
  }
  return "";
}

}  // namespace plumb

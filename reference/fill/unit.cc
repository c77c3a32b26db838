#include "reference/fill/unit.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "reference/words/letters.h"

namespace plumb {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 62;

std::int64_t least_common(std::int64_t a, std::int64_t b) {
  const __int128 multiple = static_cast<__int128>(a / std::gcd(a, b)) * b;
  return multiple > kMost ? kMost : static_cast<std::int64_t>(multiple);
}

// The axes along which the operands are sums already: their own unfinished ones, and those that split
// what is contracted.
std::vector<AxisId> summed_axes(const Case& c) {
  std::vector<AxisId> axes;
  for (std::size_t i = 0; i < c.op.operands.size(); ++i) {
    const Spec& spec = c.op.operands[i];
    axes.insert(axes.end(), spec.unfinished.begin(), spec.unfinished.end());
    for (int d : contracted_dims(c.op, static_cast<int>(i)))
      axes.insert(axes.end(), spec.dims[d].axes.begin(), spec.dims[d].axes.end());
  }
  return axes;
}

// The specs of the chain that are in parts of which the operands do not say what each is.
std::vector<const Spec*> parted_anew(const Case& c, std::span<const Spec> chain) {
  const std::vector<AxisId> summed = summed_axes(c);
  std::vector<const Spec*> found;
  for (const Spec& spec : chain)
    if (!std::ranges::all_of(spec.unfinished, [&](AxisId axis) { return contains(summed, axis); }))
      found.push_back(&spec);
  return found;
}

// The multiple that constraints on the way ask for.
std::int64_t evenness_on_the_way(const Case& c) {
  std::int64_t even = 1;
  for (const Spec* spec : parted_anew(c, std::span(c.op.chain).first(c.op.chain.size() - 1)))
    even = least_common(even, parts(c.mesh, *spec));
  return even;
}

// What is averaged must be a multiple of the number of parts, and the mean still be as even as it has to.
std::int64_t evenness(const Case& c) {
  const __int128 even =
      static_cast<__int128>(least_common(parts(c.mesh, result(c)), evenness_on_the_way(c))) *
      axes_size(c.mesh, c.op.operands[0].averaged);
  return even > kMost ? kMost : static_cast<std::int64_t>(even);
}

}  // namespace

std::int64_t capacity(DType dtype) {
  const Format& f = format(dtype);
  return (std::int64_t{1} << f.digits) - (f.integer ? 1 : 0);
}

std::int64_t capacity(std::initializer_list<DType> dtypes) {
  std::int64_t least = kMost;
  for (DType dtype : dtypes) least = std::min(least, capacity(dtype));
  return least;
}

// A mean over the axes of the operand's own is of parts that were drawn; any other, one over the same axes
// after they were finished among them, is of copies of one value.
std::int64_t copies(const Case& c) {
  std::int64_t most = 1;
  bool own = true;
  for (const Spec& spec : c.op.chain) {
    own = own && spec.averaged == c.op.operands[0].averaged;
    if (!own) most = std::max(most, axes_size(c.mesh, spec.averaged));
  }
  return most;
}

bool parted_freely(const Case& c) {
  const auto in_parts = [&](const Spec* spec) { return parts(c.mesh, *spec) > 1; };
  return !is_reshard(c) && std::ranges::any_of(parted_anew(c, c.op.chain), in_parts);
}

bool wraps(const Case& c) {
  const Format &out = format(result(c).dtype), &wire = format(c.wire), &acc = format(c.acc),
               &in = format(c.op.operands[0].dtype);
  if (!out.integer) return false;
  const std::uint64_t even = static_cast<std::uint64_t>(evenness(c));
  const auto unfinished = [&](const Spec& spec) { return parts(c.mesh, spec) > 1; };
  if (!is_reshard(c) && even > 1 && std::ranges::any_of(c.op.operands, unfinished)) return false;
  return wire.bytes >= out.bytes && acc.bytes >= out.bytes && std::has_single_bit(even) &&
         std::countr_zero(even) < 8 * std::min(out.bytes, in.bytes) - 1;
}

Unit unit(const Case& c) {
  const std::int64_t even = evenness(c);
  if (wraps(c)) return {1, std::countr_zero(static_cast<std::uint64_t>(even)), true};
  DType dtypes[5] = {c.acc, c.wire, result(c).dtype, c.op.operands.front().dtype, c.op.operands.back().dtype};
  const std::int64_t most = capacity({c.acc, c.wire, result(c).dtype}) / copies(c);
  if (format(c.acc).integer) return {even, 0, even <= most};
  // Parts on the way are added again, so each must count to the whole: no digits are free there.
  const int free = evenness_on_the_way(c) == 1 ? std::countr_zero(static_cast<std::uint64_t>(even)) : 0;
  int room = std::numeric_limits<int>::max(), wide = room, smallest = -room;
  for (DType dtype : dtypes) {
    room = std::min(room, std::ilogb(format(dtype).largest / static_cast<double>(capacity(dtype))));
    wide = std::min(wide, std::ilogb(format(dtype).largest / static_cast<double>(capacity(c.acc))));
    smallest = std::max(smallest, format(dtype).min_exponent);
  }
  int one = std::min(0, room - free);  // the exponent of one part of one unit
  if (!is_reshard(c)) one = std::min(one, std::max(wide - free, smallest));
  const std::int64_t factor = even >> free;
  return {factor, one + free, factor <= most && one >= smallest};
}

std::int64_t most_terms(const Case& c) {
  const std::int64_t acc = capacity(c.acc);
  if (format(c.acc).integer) return acc;
  double most = static_cast<double>(acc);
  for (DType dtype : {c.acc, c.wire, result(c).dtype})
    most = std::min(most, std::ldexp(format(dtype).largest, -unit(c).exponent));
  return static_cast<std::int64_t>(most);
}

}  // namespace plumb

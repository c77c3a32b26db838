#include "reference/hlo/prove/prints.h"

#include <algorithm>

#include "reference/hlo/prove/pairs.h"
#include "reference/hlo/run/manual.h"
#include "reference/hlo/run/threads.h"

namespace plumb::hlo {
namespace {

std::uint64_t mixed_in(std::uint64_t state, std::uint64_t x) { return mixed(state + x); }

// Of elements one after the other: each is mixed with its place, by itself, so that none waits for another.
struct Sequence {
  std::uint64_t sum = 2, place = 0;
  void add(const Array<Twin>& a, std::size_t element) {
    place += 0x9e3779b97f4a7c15u;  // far apart: an integer at one place is no other at another
    const std::uint64_t x = is_real(a.type) ? identity(0, a.reals[element]).value
                                            : static_cast<std::uint64_t>(a.integers[element]);
    sum += mixed(x + place);
  }
};

Integers extents_on(const Share& share, const Integers& dims, const Integers& tile) {
  Integers extents;
  for (std::size_t d = 0; d < dims.size(); ++d)
    extents.push_back(std::clamp<std::int64_t>(dims[d] - share.tile[d] * tile[d], 0, tile[d]));
  return extents;
}

bool is_within(const Integers& index, const Integers& extents) {
  return std::ranges::equal(index, extents, std::less<>());
}

}  // namespace

bool can_differ(const Array<Twin>& a) {
  const auto other = [&](const Twin& x) { return identity(0, x) != identity(0, a.reals[0]); };
  return !a.reals.empty() && (a.dims.empty() || std::ranges::any_of(a.reals, other));
}

std::uint64_t print_of(const Array<Twin>& held, std::int64_t devices) {
  const std::int64_t size = count(held.dims);
  std::vector<std::uint64_t> each(static_cast<std::size_t>(held.lanes));
  each_part(held.lanes, size, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t lane = begin; lane < end; ++lane) {
      Sequence one;
      for (std::int64_t n = 0; n < size; ++n) one.add(held, static_cast<std::size_t>(lane * size + n));
      each[static_cast<std::size_t>(lane)] = one.sum;
    }
  });
  std::uint64_t all = 1;
  for (std::int64_t device = 0; device < devices; ++device)
    all = mixed_in(all, each[static_cast<std::size_t>(lane_on(held, device))]);
  return all;
}

std::uint64_t print_of(const Array<Twin>& held, const Ends& ends) {
  const std::int64_t size = count(held.dims);
  std::uint64_t all = 1;
  for (std::int64_t device = 0; device < std::ssize(ends.on); ++device) {
    Sequence one;
    auto element = static_cast<std::size_t>(begin_on(held, device, size));
    each_index(held.dims, [&](const Integers& index) {
      if (is_within(index, ends.on[static_cast<std::size_t>(device)])) one.add(held, element);
      ++element;
    });
    all = mixed_in(all, one.sum);
  }
  return all;
}

std::optional<Ends> ends_of(const Integers& dims, const Division& division) {
  Ends ends{tile_dims(dims, division), {}};
  for (const Share& share : division.shares) ends.on.push_back(extents_on(share, dims, ends.tile));
  const auto is_short = [&](const Integers& extents) { return extents != ends.tile; };
  return std::ranges::any_of(ends.on, is_short) ? std::optional(std::move(ends)) : std::nullopt;
}

std::uint64_t print_of(const Array<Twin>& whole, const Division& division) {
  std::uint64_t all = 1;
  const std::int64_t size = count(whole.dims);
  for (std::int64_t device = 0; device < std::ssize(division.shares); ++device) {
    const Share& share = division.shares[static_cast<std::size_t>(device)];
    const std::int64_t begin = begin_on(whole, device, size);
    Sequence one;
    for (const std::int64_t n : share_map(whole.dims, division, share))
      if (n >= 0) one.add(whole, static_cast<std::size_t>(begin + n));
    all = mixed_in(all, one.sum);
  }
  return all;
}

}  // namespace plumb::hlo

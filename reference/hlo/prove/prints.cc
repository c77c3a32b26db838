#include "reference/hlo/prove/prints.h"

#include <algorithm>

#include "reference/hlo/prove/pairs.h"
#include "reference/hlo/run/manual.h"
#include "reference/hlo/run/threads.h"

namespace plumb::hlo {
namespace {

std::uint64_t mixed_in(std::uint64_t state, std::uint64_t x) { return mixed(state + x); }

std::uint64_t with_element(const Array<Twin>& a, std::uint64_t state, std::size_t element) {
  return mixed_in(state, is_real(a.type) ? identity(0, a.reals[element]).value
                                         : static_cast<std::uint64_t>(a.integers[element]));
}

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
      std::uint64_t one = 2;
      for (std::int64_t n = 0; n < size; ++n)
        one = with_element(held, one, static_cast<std::size_t>(lane * size + n));
      each[static_cast<std::size_t>(lane)] = one;
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
    std::uint64_t one = 2;
    auto element = static_cast<std::size_t>(begin_on(held, device, size));
    each_index(held.dims, [&](const Integers& index) {
      if (is_within(index, ends.on[static_cast<std::size_t>(device)])) one = with_element(held, one, element);
      ++element;
    });
    all = mixed_in(all, one);
  }
  return all;
}

LaidPrint print_of(const Array<Twin>& whole, const Division& division) {
  LaidPrint laid{1, {}};
  Ends ends{tile_dims(whole.dims, division), {}};
  const std::int64_t size = count(whole.dims);
  bool is_short = false;
  for (std::int64_t device = 0; device < std::ssize(division.shares); ++device) {
    const Share& share = division.shares[static_cast<std::size_t>(device)];
    const std::int64_t begin = begin_on(whole, device, size);
    std::uint64_t one = 2;
    for (const std::int64_t n : share_map(whole.dims, division, share))
      if (n >= 0) one = with_element(whole, one, static_cast<std::size_t>(begin + n));
    laid.print = mixed_in(laid.print, one);
    ends.on.push_back(extents_on(share, whole.dims, ends.tile));
    is_short = is_short || ends.on.back() != ends.tile;
  }
  if (is_short) laid.ends = std::move(ends);
  return laid;
}

}  // namespace plumb::hlo

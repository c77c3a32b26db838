// Devices that hold the same share a lane: what operations of several operands need of that.
#pragma once

#include <map>
#include <unordered_map>

#include "reference/hlo/run/array.h"
#include "reference/hlo/run/integers.h"

namespace plumb::hlo {

template <typename Number>
using Pointers = std::vector<const Array<Number>*>;

// The lanes of what is computed of some operands, lane by lane: devices share one where they share one in
// each operand.
struct Joint {
  std::int64_t lanes = 1;
  Holders holders;
  // For each operand its lane for each lane of the result; empty: the same one, or its only one.
  std::vector<std::vector<std::int32_t>> of;
  bool same() const {
    for (const auto& lane : of)
      if (!lane.empty()) return false;
    return true;
  }
};

inline bool same_holders(std::int64_t lanes, const Holders& a, const Holders& b, std::int64_t others) {
  return lanes == others && (a == b || (a && b && *a == *b));
}

// Devices in one class where both say so. Numbered as `a` or `b` where that is as fine.
inline std::pair<std::int64_t, Holders> common_refinement(std::int64_t lanes, const Holders& a,
                                                          const Holders& b, std::int64_t others) {
  if (!a || !b) return a ? std::pair{others, b} : std::pair{lanes, a};  // one of them has a lane a device
  require(a->size() == b->size(), "operands of different devices");
  std::unordered_map<std::int64_t, std::int32_t> met;
  std::vector<std::int32_t> both(a->size());
  for (std::size_t d = 0; d < both.size(); ++d)
    both[d] =
        met.try_emplace((*a)[d] * others + (*b)[d], static_cast<std::int32_t>(met.size())).first->second;
  if (std::ssize(met) == lanes) return {lanes, a};
  if (std::ssize(met) == others) return {others, b};
  return {std::ssize(met), std::make_shared<const std::vector<std::int32_t>>(std::move(both))};
}

template <typename Number>
Joint joined(const Pointers<Number>& operands) {
  Joint joint;
  for (const Array<Number>* a : operands) {
    if (a->lanes == 1 || same_holders(joint.lanes, joint.holders, a->holders, a->lanes)) continue;
    if (joint.lanes == 1) {
      joint.lanes = a->lanes, joint.holders = a->holders;
      continue;
    }
    require(joint.holders || a->holders, "operands of different devices");
    std::tie(joint.lanes, joint.holders) =
        common_refinement(joint.lanes, joint.holders, a->holders, a->lanes);
  }
  for (const Array<Number>* a : operands) {
    std::vector<std::int32_t>& lane = joint.of.emplace_back();
    if (a->lanes == 1 || same_holders(joint.lanes, joint.holders, a->holders, a->lanes)) continue;
    lane.resize(static_cast<std::size_t>(joint.lanes));
    for (std::size_t d = 0; d < a->holders->size(); ++d)
      lane[joint.holders ? static_cast<std::size_t>((*joint.holders)[d]) : d] = (*a->holders)[d];
  }
  return joint;
}

// Where the elements of operand n begin for a lane of the result.
template <typename Number>
std::int64_t begin_of(const Joint& joint, std::size_t n, const Array<Number>& a, std::int64_t lane,
                      std::int64_t size) {
  return joint.of[n].empty() ? begin_of(a, lane, size) : joint.of[n][static_cast<std::size_t>(lane)] * size;
}

// The array with these of its lanes, one after the other.
template <typename Number>
Array<Number> with_lanes(const Array<Number>& a, const std::vector<std::int32_t>& lanes, Holders holders) {
  Array<Number> result{a.type, a.dims, std::ssize(lanes), {}, {}, std::move(holders)};
  const std::int64_t size = count(a.dims);
  visit(a, [&](const auto& from) {
    auto& to = elements_of(result, from);
    to.reserve(lanes.size() * static_cast<std::size_t>(size));
    for (const std::int32_t lane : lanes) {
      const auto at = from.begin() + begin_of(a, lane, size);
      to.insert(to.end(), at, at + size);
    }
  });
  return result;
}

// Up to so many integers a lane are looked at: offsets of a device among them, which many devices share.
constexpr std::int64_t kLookedAt = 16;

// The same on every device, in fewer lanes where lanes hold the same.
template <typename Number>
Array<Number> regrouped(Array<Number>&& a, std::int64_t devices) {
  const std::int64_t size = count(a.dims);
  if (is_real(a.type) || a.lanes <= 1 || size > kLookedAt || devices == 0) return std::move(a);
  const auto undecided = is_undecided;  // on each device by itself
  if (a.type == Type::pred && std::ranges::any_of(a.integers, undecided)) return std::move(a);
  std::map<Integers, std::int32_t> met;
  std::vector<std::int32_t> first, group;  // the lane where a group begins; the group of each lane
  for (std::int64_t lane = 0; lane < a.lanes; ++lane) {
    const auto at = a.integers.begin() + lane * size;
    const auto [found, is_new] =
        met.try_emplace(Integers(at, at + size), static_cast<std::int32_t>(met.size()));
    if (is_new) first.push_back(static_cast<std::int32_t>(lane));
    group.push_back(found->second);
  }
  if (std::ssize(met) == a.lanes) return std::move(a);
  if (met.size() == 1) return with_lanes(a, first, {});
  std::vector<std::int32_t> holders;
  for (std::int64_t d = 0; d < devices; ++d)
    holders.push_back(group[static_cast<std::size_t>(lane_on(a, d))]);
  return with_lanes(a, first, std::make_shared<const std::vector<std::int32_t>>(std::move(holders)));
}

}  // namespace plumb::hlo

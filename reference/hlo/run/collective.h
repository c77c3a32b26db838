// What devices tell each other.
#pragma once

#include <algorithm>

#include "reference/hlo/run/fold.h"
#include "reference/hlo/run/groups.h"

namespace plumb::hlo {

// All members of a group reach a collective, or none.
inline void check_met(const std::vector<Integers>& groups, const Active& active) {
  if (active.empty()) return;
  for (const Integers& group : groups)
    for (const std::int64_t member : group)
      if (active[static_cast<std::size_t>(member)] != active[static_cast<std::size_t>(group[0])])
        throw Disagreement("device " + std::to_string(member) + " and device " + std::to_string(group[0]) +
                           " of one group: only one of them gets here");
}

// The groups of a collective, those whose members hold the same as another's taken once: what comes of them
// is the same.
struct Met {
  std::vector<Integers> groups;
  std::vector<std::int32_t> alike;  // for each group of the program the one here
  Ranks ranks;                      // of the program's groups
};

template <typename Number>
Met met_in(const std::vector<Integers>& groups, const Pointers<Number>& operands, std::int64_t devices) {
  Met met{{}, {}, ranks_of(groups, devices)};
  std::map<Integers, std::int32_t> known;
  for (const Integers& group : groups) {
    Integers lanes;
    for (const Array<Number>* a : operands)
      for (const std::int64_t member : group) lanes.push_back(lane_on(*a, member));
    const auto [at, is_new] = known.try_emplace(std::move(lanes), static_cast<std::int32_t>(known.size()));
    if (is_new) met.groups.push_back(group);
    met.alike.push_back(at->second);
  }
  return met;
}

// The lanes of what each group comes to, one a group; or one for each place in it.
inline void share(const Met& met, std::int64_t places, std::int64_t& lanes, Holders& holders) {
  lanes = std::ssize(met.groups) * places;
  if (lanes == 1) return;
  std::vector<std::int32_t> all;
  for (std::size_t d = 0; d < met.ranks.group.size(); ++d) {
    const std::int64_t group = met.alike[static_cast<std::size_t>(met.ranks.group[d])];
    all.push_back(static_cast<std::int32_t>(places == 1 ? group : group * places + met.ranks.rank[d]));
  }
  holders = std::make_shared<const std::vector<std::int32_t>>(std::move(all));
}

// Member m of every group, as scalars: [groups][elements].
template <typename Number>
Array<Number> members(const Array<Number>& a, const std::vector<Integers>& groups, std::size_t m) {
  Array<Number> result{a.type, {}, std::ssize(groups) * count(a.dims), {}, {}};
  const std::int64_t size = count(a.dims);
  visit(a, [&](const auto& from) {
    for (const Integers& group : groups) {
      const auto at = from.begin() + begin_on(a, group[m], size);
      auto& to = elements_of(result, from);
      to.insert(to.end(), at, at + size);
    }
  });
  return result;
}

// A sum over each group by one operation, one lane a group: member after member.
template <typename Numbers>
Array<typename Numbers::Number> summed(const Machine<Numbers>& machine, Opcode operation,
                                       const std::vector<Integers>& groups,
                                       const Array<typename Numbers::Number>& a) {
  Array<typename Numbers::Number> result{a.type, a.dims, std::ssize(groups), {}, {}};
  const std::int64_t size = count(a.dims);
  result.reals.resize(static_cast<std::size_t>(result.lanes * size));
  each_part(
      result.lanes * size, std::ssize(groups[0]),
      [&](std::int64_t begin, std::int64_t end) {
        each_lane(begin, end, size, [&](std::int64_t lane, std::int64_t from, std::int64_t to) {
          const Integers& group = groups[static_cast<std::size_t>(lane)];
          const auto held = [&](std::int64_t member) {
            return a.reals.data() + begin_on(a, member, size) + from;
          };
          auto* sum = result.reals.data() + lane * size + from;
          std::copy_n(held(group[0]), to - from, sum);
          for (std::size_t m = 1; m < group.size(); ++m)
            machine.numbers.binary(operation, sum, held(group[m]), sum, to - from);
        });
      },
      machine.pulse.pause);
  return result;
}

// The sum (or whatever to_apply does) over each group, one lane a group.
template <typename Numbers>
Arrays<Numbers> sums(const Machine<Numbers>& machine, const Instruction& i,
                     const std::vector<Integers>& groups,
                     const Pointers<typename Numbers::Number>& operands) {
  const Computation& f = called(machine, i, Key::to_apply);
  if (const auto operation = only_operation(f);
      operation && operands.size() == 1 && is_real(operands[0]->type))
    return {summed(machine, *operation, groups, *operands[0])};
  Arrays<Numbers> sums;
  for (const auto* a : operands) sums.push_back(members(*a, groups, 0));
  for (std::size_t m = 1; m < groups[0].size(); ++m) {
    Arrays<Numbers> next;
    for (const auto* a : operands) next.push_back(members(*a, groups, m));
    step(machine, f, sums, std::move(next));
  }
  for (std::size_t k = 0; k < sums.size(); ++k)
    sums[k] = gathered(std::move(sums[k]), operands[k]->dims, std::ssize(groups));
  return sums;
}

// Operands that are summed by themselves, though one instruction does so, or all that one sum takes.
template <typename Numbers>
std::vector<Pointers<typename Numbers::Number>> apart(const Machine<Numbers>& machine, const Instruction& i,
                                                      const Pointers<typename Numbers::Number>& operands) {
  if (called(machine, i, Key::to_apply).parameters.size() != 2) return {operands};
  std::vector<Pointers<typename Numbers::Number>> each;
  for (const auto* a : operands) each.push_back({a});
  return each;
}

template <typename Numbers>
Arrays<Numbers> all_reduce(const Machine<Numbers>& machine, const Instruction& i,
                           const std::vector<Integers>& groups,
                           const Pointers<typename Numbers::Number>& operands) {
  Arrays<Numbers> result;
  for (const auto& some : apart(machine, i, operands)) {
    const Met met = met_in(groups, some, machine.devices);
    for (auto& sum : sums(machine, i, met.groups, some)) {
      share(met, 1, sum.lanes, sum.holders);
      result.push_back(std::move(sum));
    }
  }
  return result;
}

// Each lane's elements by a function that puts elements of a lane of `a` into it: pieces are laid by maps of
// the result's elements.
template <typename Number, typename F>
Array<Number> assembled(const Array<Number>& a, const Integers& dims, std::int64_t lanes, F piece) {
  Array<Number> result{a.type, dims, lanes, {}, {}};
  const std::int64_t size = count(a.dims), room = count(dims);
  visit(a, [&](const auto& from) {
    auto& to = elements_of(result, from);
    to.resize(static_cast<std::size_t>(lanes * room));
    for (std::int64_t lane = 0; lane < lanes; ++lane)
      piece(lane, [&](std::int64_t source, const Integers& read, const Integers& write) {
        const auto* in = from.data() + begin_of(a, source, size);
        auto* out = to.data() + lane * room;
        for (std::size_t n = 0; n < read.size(); ++n) out[write[n]] = in[read[n]];
      });
  });
  return result;
}

// Chunk c of n along dimension d: its elements in the whole.
inline Integers chunk_map(const Integers& dims, std::int64_t d, std::int64_t n, std::int64_t c) {
  Integers extents = dims;
  const Integers strides = strides_of(dims);
  extents[static_cast<std::size_t>(d)] /= n;
  return stepped(c * extents[static_cast<std::size_t>(d)] * strides[static_cast<std::size_t>(d)], extents,
                 strides);
}

inline std::int64_t only_dimension(const Instruction& i, const Integers& dims) {
  const auto list = get<Integers>(i, Key::dimensions);
  require(list.size() == 1 && list[0] >= 0 && list[0] < std::ssize(dims), "one dimension of the operand");
  return list[0];
}

template <typename Numbers>
Array<typename Numbers::Number> all_gather(const Machine<Numbers>& machine, const Instruction& i,
                                           const std::vector<Integers>& groups,
                                           const Array<typename Numbers::Number>& a) {
  const std::int64_t d = only_dimension(i, a.dims), n = std::ssize(groups[0]);
  Integers dims = a.dims;
  dims[static_cast<std::size_t>(d)] *= n;
  const Integers whole = stepped(0, a.dims, strides_of(a.dims));
  std::vector<Integers> places;
  for (std::int64_t m = 0; m < n; ++m) places.push_back(chunk_map(dims, d, n, m));
  const Met met = met_in<typename Numbers::Number>(groups, {&a}, machine.devices);
  auto result = assembled(a, dims, std::ssize(met.groups), [&](std::int64_t g, const auto& put) {
    const Integers& group = met.groups[static_cast<std::size_t>(g)];
    for (std::size_t m = 0; m < group.size(); ++m) put(lane_on(a, group[m]), whole, places[m]);
  });
  share(met, 1, result.lanes, result.holders);
  return result;
}

template <typename Numbers>
Arrays<Numbers> reduce_scatter(const Machine<Numbers>& machine, const Instruction& i,
                               const std::vector<Integers>& groups,
                               const Pointers<typename Numbers::Number>& operands) {
  const std::int64_t n = std::ssize(groups[0]);
  Arrays<Numbers> result;
  for (const auto& some : apart(machine, i, operands)) {
    const Met met = met_in(groups, some, machine.devices);
    for (const auto& sum : sums(machine, i, met.groups, some)) {
      const std::int64_t d = only_dimension(i, sum.dims);
      require(sum.dims[static_cast<std::size_t>(d)] % n == 0, "a chunk of the operand for each member");
      Integers dims = sum.dims;
      dims[static_cast<std::size_t>(d)] /= n;
      const Integers everywhere = stepped(0, dims, strides_of(dims));
      std::vector<Integers> chunks;
      for (std::int64_t c = 0; c < n; ++c) chunks.push_back(chunk_map(sum.dims, d, n, c));
      auto& one = result.emplace_back(
          assembled(sum, dims, std::ssize(met.groups) * n, [&](std::int64_t lane, const auto& put) {
            put(lane / n, chunks[static_cast<std::size_t>(lane % n)], everywhere);
          }));
      share(met, n, one.lanes, one.holders);
    }
  }
  return result;
}

// One operand, split and joined along one dimension: chunk j of member i becomes chunk i of member j.
template <typename Numbers>
Array<typename Numbers::Number> all_to_all(const Machine<Numbers>& machine, const Instruction& i,
                                           const std::vector<Integers>& groups,
                                           const Array<typename Numbers::Number>& a) {
  const std::int64_t d = only_dimension(i, a.dims), n = std::ssize(groups[0]);
  require(a.dims[static_cast<std::size_t>(d)] % n == 0, "a chunk of the operand for each member");
  std::vector<Integers> chunks;
  for (std::int64_t c = 0; c < n; ++c) chunks.push_back(chunk_map(a.dims, d, n, c));
  const Met met = met_in<typename Numbers::Number>(groups, {&a}, machine.devices);
  auto result = assembled(a, a.dims, std::ssize(met.groups) * n, [&](std::int64_t lane, const auto& put) {
    const Integers& group = met.groups[static_cast<std::size_t>(lane / n)];
    for (std::size_t m = 0; m < group.size(); ++m)
      put(lane_on(a, group[m]), chunks[static_cast<std::size_t>(lane % n)], chunks[m]);
  });
  share(met, n, result.lanes, result.holders);
  return result;
}

// As many operands as members: result i of member j is operand j of member i.
template <typename Numbers>
Arrays<Numbers> all_to_all(const Machine<Numbers>& machine, const std::vector<Integers>& groups,
                           const Pointers<typename Numbers::Number>& operands) {
  require(operands.size() == groups[0].size(), "an operand for each member");
  const Met met = met_in(groups, operands, machine.devices);
  const Array<typename Numbers::Number>& first = *operands[0];
  const std::int64_t size = count(first.dims);
  Arrays<Numbers> result;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    auto& one = result.emplace_back();
    one.type = first.type, one.dims = first.dims;
    for (const Integers& group : met.groups)
      for (const auto* from : operands) {
        require(from->dims == one.dims && from->type == one.type, "operands of one shape");
        visit(*from, [&](const auto& elements) {
          const auto at = elements.begin() + begin_on(*from, group[i], size);
          auto& to = elements_of(one, elements);
          to.insert(to.end(), at, at + size);
        });
      }
    share(met, std::ssize(operands), one.lanes, one.holders);
  }
  return result;
}

// Rows of the first dimension, as many as each device says, from where it says to where it says in the result
// of another; where nothing comes the second operand stays. Operands: what is sent, the result as it was, and
// for each member (or several for each, in their order) input offsets, sizes, offsets in the receiver's
// result, and sizes that it receives.
template <typename Numbers>
Array<typename Numbers::Number> ragged_all_to_all(const Machine<Numbers>& machine,
                                                  const std::vector<Integers>& groups,
                                                  const Pointers<typename Numbers::Number>& operands) {
  const Array<typename Numbers::Number>&from = *operands[0], &before = *operands[1], &counts = *operands[3];
  const auto members = std::ssize(groups[0]);
  require(from.type == before.type && !from.dims.empty() && from.dims.size() == before.dims.size() &&
              std::equal(from.dims.begin() + 1, from.dims.end(), before.dims.begin() + 1),
          "rows of one extent");
  for (std::size_t n = 2; n < operands.size(); ++n)
    require(is_integer(operands[n]->type) && operands[n]->dims.size() == 1 &&
                operands[n]->dims == counts.dims && counts.dims[0] % members == 0,
            "offsets and sizes for each member");
  const std::int64_t each = counts.dims[0] / members, size = count(before.dims),
                     row = before.dims[0] == 0 ? 0 : size / before.dims[0];
  const auto number = [&](std::size_t n, std::int64_t device, std::int64_t at) {
    const auto& a = *operands[n];
    return a.integers[static_cast<std::size_t>(begin_on(a, device, counts.dims[0]) + at)];
  };
  std::vector<std::int32_t> own;
  for (std::int64_t d = 0; d < machine.devices; ++d)
    own.push_back(static_cast<std::int32_t>(lane_on(before, d)));
  auto result = with_lanes(before, own, {});
  visit(from, [&](const auto& elements) {
    auto& to = elements_of(result, elements);
    for (const Integers& group : groups)
      for (const std::int64_t sender : group)
        for (std::int64_t n = 0; n < counts.dims[0]; ++n) {
          const std::int64_t receiver = group[static_cast<std::size_t>(n / each)], at = number(2, sender, n),
                             rows = number(3, sender, n), there = number(4, sender, n);
          require(
              rows >= 0 && at >= 0 && there >= 0 && at + rows <= from.dims[0] &&
                  there + rows <= before.dims[0],
              "rows that are there; where parameters say which, they are drawn, and --range says from what");
          const auto first = elements.begin() + begin_on(from, sender, count(from.dims)) + at * row;
          std::copy_n(first, rows * row, to.begin() + receiver * size + there * row);
        }
  });
  return result;
}

// Each device holds what `source` says: another device's elements, or zeros (-1).
template <typename Numbers>
Array<typename Numbers::Number> fetched(const Machine<Numbers>& machine,
                                        const Array<typename Numbers::Number>& a, const Integers& source) {
  using Number = typename Numbers::Number;
  std::map<std::int64_t, std::int32_t> met;  // a lane of the operand (-1: zeros) and the one here
  std::vector<std::int32_t> holders;
  Array<Number> result{a.type, a.dims, 0, {}, {}};
  const std::int64_t size = count(a.dims);
  const auto fetch = [&](const auto& from, const auto& zero) {
    auto& to = elements_of(result, from);
    for (const std::int64_t device : source) {
      const std::int64_t lane = device < 0 ? -1 : lane_on(a, device);
      const auto [at, is_new] = met.try_emplace(lane, static_cast<std::int32_t>(met.size()));
      holders.push_back(at->second);
      if (!is_new) continue;
      if (lane < 0)
        to.insert(to.end(), static_cast<std::size_t>(size), zero);
      else
        to.insert(to.end(), from.begin() + lane * size, from.begin() + (lane + 1) * size);
    }
  };
  if (is_real(a.type))
    fetch(a.reals, machine.numbers.constant(0));
  else
    fetch(a.integers, std::int64_t{0});
  result.lanes = std::ssize(met);
  if (result.lanes > 1)
    result.holders = std::make_shared<const std::vector<std::int32_t>>(std::move(holders));
  return result;
}

// What the first of each group holds.
template <typename Numbers>
auto broadcast(const Machine<Numbers>& machine, const std::vector<Integers>& groups,
               const Array<typename Numbers::Number>& a) {
  Integers source(static_cast<std::size_t>(machine.devices));
  for (const Integers& group : groups)
    for (const std::int64_t member : group) source[static_cast<std::size_t>(member)] = group[0];
  return fetched(machine, a, source);
}

}  // namespace plumb::hlo

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

// The same elements on every device, kept once.
template <typename Number>
Array<Number> on_all(const std::vector<Integers>& groups, const Array<Number>& per_group,
                     std::int64_t devices) {
  if (groups.size() == 1) return per_group;
  Array<Number> result{per_group.type, per_group.dims, devices, {}, {}};
  const std::int64_t size = count(per_group.dims);
  visit(per_group, [&](const auto& from) {
    auto& to = elements_of(result, from);
    to.resize(static_cast<std::size_t>(devices * size));
    for (std::size_t g = 0; g < groups.size(); ++g)
      for (const std::int64_t member : groups[g])
        std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(g) * size, size, to.begin() + member * size);
  });
  return result;
}

// Member m of every group, as scalars: [groups][elements].
template <typename Number>
Array<Number> members(const Array<Number>& a, const std::vector<Integers>& groups, std::size_t m) {
  Array<Number> result{a.type, {}, std::ssize(groups) * count(a.dims), {}, {}};
  const std::int64_t size = count(a.dims);
  visit(a, [&](const auto& from) {
    for (const Integers& group : groups) {
      const auto at = from.begin() + begin_of(a, group[m], size);
      auto& to = elements_of(result, from);
      to.insert(to.end(), at, at + size);
    }
  });
  return result;
}

// The sum (or whatever to_apply does) over each group, one lane a group.
template <typename Numbers>
Arrays<Numbers> sums(const Machine<Numbers>& machine, const Instruction& i,
                     const std::vector<Integers>& groups,
                     const Pointers<typename Numbers::Number>& operands) {
  Arrays<Numbers> sums;
  const Computation& f = called(machine, i, Key::to_apply);
  if (operands.size() > 1 && f.parameters.size() == 2) {  // several sums, combined into one instruction
    for (const auto* a : operands) sums.push_back(std::move(plumb::hlo::sums(machine, i, groups, {a})[0]));
    return sums;
  }
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

template <typename Numbers>
Arrays<Numbers> all_reduce(const Machine<Numbers>& machine, const Instruction& i,
                           const std::vector<Integers>& groups,
                           const Pointers<typename Numbers::Number>& operands) {
  Arrays<Numbers> result = sums(machine, i, groups, operands);
  for (auto& sum : result) sum = on_all(groups, sum, machine.devices);
  return result;
}

// Each lane's elements by a function from the device to a list of (source device, map): pieces are laid by
// maps of the result's elements.
template <typename Number, typename F>
Array<Number> assembled(const Array<Number>& a, const Integers& dims, std::int64_t devices, F piece) {
  Array<Number> result{a.type, dims, devices, {}, {}};
  const std::int64_t size = count(a.dims), room = count(dims);
  visit(a, [&](const auto& from) {
    auto& to = elements_of(result, from);
    to.resize(static_cast<std::size_t>(devices * room));
    for (std::int64_t device = 0; device < devices; ++device)
      piece(device, [&](std::int64_t source, const Integers& read, const Integers& write) {
        const auto* in = from.data() + begin_of(a, source, size);
        auto* out = to.data() + device * room;
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
  Array<typename Numbers::Number> gathered =
      assembled(a, dims, std::ssize(groups), [&](std::int64_t g, const auto& put) {
        const Integers& group = groups[static_cast<std::size_t>(g)];
        for (std::size_t m = 0; m < group.size(); ++m) put(group[m], whole, places[m]);
      });
  return on_all(groups, gathered, machine.devices);
}

template <typename Numbers>
Arrays<Numbers> reduce_scatter(const Machine<Numbers>& machine, const Instruction& i,
                               const std::vector<Integers>& groups,
                               const Pointers<typename Numbers::Number>& operands) {
  const Arrays<Numbers> whole = sums(machine, i, groups, operands);
  const std::int64_t n = std::ssize(groups[0]);
  const Ranks ranks = ranks_of(groups, machine.devices);
  Arrays<Numbers> result;
  for (const auto& sum : whole) {
    const std::int64_t d = only_dimension(i, sum.dims);
    require(sum.dims[static_cast<std::size_t>(d)] % n == 0, "a chunk of the operand for each member");
    Integers dims = sum.dims;
    dims[static_cast<std::size_t>(d)] /= n;
    const Integers everywhere = stepped(0, dims, strides_of(dims));
    std::vector<Integers> chunks;
    for (std::int64_t c = 0; c < n; ++c) chunks.push_back(chunk_map(sum.dims, d, n, c));
    result.push_back(assembled(sum, dims, machine.devices, [&](std::int64_t device, const auto& put) {
      const auto at = static_cast<std::size_t>(device);
      put(ranks.group[at], chunks[static_cast<std::size_t>(ranks.rank[at])], everywhere);
    }));
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
  const Ranks ranks = ranks_of(groups, machine.devices);
  std::vector<Integers> chunks;
  for (std::int64_t c = 0; c < n; ++c) chunks.push_back(chunk_map(a.dims, d, n, c));
  return assembled(a, a.dims, machine.devices, [&](std::int64_t device, const auto& put) {
    const auto at = static_cast<std::size_t>(device);
    const Integers& group = groups[static_cast<std::size_t>(ranks.group[at])];
    for (std::size_t m = 0; m < group.size(); ++m)
      put(group[m], chunks[static_cast<std::size_t>(ranks.rank[at])], chunks[m]);
  });
}

// As many operands as members: result i of member j is operand j of member i.
template <typename Numbers>
Arrays<Numbers> all_to_all(const Machine<Numbers>& machine, const std::vector<Integers>& groups,
                           const Pointers<typename Numbers::Number>& operands) {
  const Ranks ranks = ranks_of(groups, machine.devices);
  require(operands.size() == groups[0].size(), "an operand for each member");
  Arrays<Numbers> result;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    auto& one = result.emplace_back();
    one.type = operands[0]->type, one.dims = operands[0]->dims, one.lanes = machine.devices;
    for (std::size_t device = 0; device < ranks.rank.size(); ++device) {
      const auto& from = *operands[static_cast<std::size_t>(ranks.rank[device])];
      require(from.dims == one.dims && from.type == one.type, "operands of one shape");
      const std::int64_t source = groups[static_cast<std::size_t>(ranks.group[device])][i],
                         size = count(from.dims);
      visit(from, [&](const auto& elements) {
        const auto at = elements.begin() + begin_of(from, source, size);
        auto& to = elements_of(one, elements);
        to.insert(to.end(), at, at + size);
      });
    }
  }
  return result;
}

// Each device holds what `source` says: another device's elements, or zeros (-1).
template <typename Numbers>
Array<typename Numbers::Number> fetched(const Machine<Numbers>& machine,
                                        const Array<typename Numbers::Number>& a, const Integers& source) {
  using Number = typename Numbers::Number;
  Array<Number> result{a.type, a.dims, machine.devices, {}, {}};
  const auto size = static_cast<std::size_t>(count(a.dims));
  const auto fetch = [&](const auto& from, const auto& zero) {
    auto& to = elements_of(result, from);
    for (const std::int64_t device : source) {
      if (device < 0) {
        to.insert(to.end(), size, zero);
        continue;
      }
      const auto at = from.begin() + begin_of(a, device, std::ssize(from) / a.lanes);
      to.insert(to.end(), at, at + static_cast<std::ptrdiff_t>(size));
    }
  };
  if (is_real(a.type))
    fetch(a.reals, machine.numbers.constant(0));
  else
    fetch(a.integers, std::int64_t{0});
  return result;
}

}  // namespace plumb::hlo

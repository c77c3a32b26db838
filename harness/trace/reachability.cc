#include "harness/trace/reachability.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "harness/trace/cost.h"
#include "harness/trace/needs.h"
#include "harness/trace/slices.h"
#include "harness/trace/steps.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

constexpr std::int64_t most_pairs = std::int64_t{1} << 24;
constexpr std::int64_t most_choices = 1024;

using Groups = std::vector<std::vector<std::int64_t>>;

// What one collective, or all of a loop, gives: to all members of a group, and from source to target.
struct Mix {
  Groups groups;
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  bool rooted = false;   // what one member of each group has, to all
  bool of_each = false;  // another of each element
};

// What brings to every member what one of them has: a broadcast, and where the largest or smallest is due a
// sum, which takes of each element the one value that is not masked.
bool takes_masked(const Needed& m, const Collective& one) {
  return m.extreme && reduces(one) && names_sum(one.op);
}
bool one_sends(const Needed& m, const Collective& one) {
  return one.kind == "collective-broadcast" || takes_masked(m, one);
}

Mix mix(const Mesh& mesh, const Collective& one) {
  if (!names_nobody(one)) return {groups_of(mesh, one), one.pairs};
  std::vector<std::int64_t> all(devices(mesh));
  std::iota(all.begin(), all.end(), 0);
  return {{all}, {}};
}

// All that these join, directly or by others.
Mix looped(const Mesh& mesh, std::span<const Collective> loop) {
  Groups groups = connected(mesh, loop);
  std::erase_if(groups, [](const auto& group) { return group.size() < 2; });
  return {groups, {}};
}

std::vector<Mix> mixes(const Needed& m, std::span<const Collective> trace) {
  const Mesh& mesh = m.mesh;
  std::vector<Mix> all;
  for (std::size_t i = 0; i < trace.size();) {
    std::size_t end = i;
    while (end < trace.size() && in_a_loop(trace[end])) ++end;
    if (end == i) {
      all.push_back(mix(mesh, trace[end]));
      all.back().rooted = one_sends(m, trace[end]);
      all.back().of_each = takes_masked(m, trace[end++]);
    } else {
      all.push_back(looped(mesh, trace.subspan(i, end - i)));
    }
    i = end;
  }
  return all;
}

void add_axes(std::vector<AxisId>& all, const std::vector<AxisId>& some) {
  for (AxisId axis : some)
    if (!contains(all, axis)) all.push_back(axis);
}

// The axes along which devices lie apart.
std::vector<AxisId> between(const Mesh& mesh, std::int64_t a, std::int64_t b) {
  const auto at = coordinates(mesh, a), there = coordinates(mesh, b);
  std::vector<AxisId> axes;
  for (std::size_t i = 0; i < at.size(); ++i)
    if (at[i] != there[i]) axes.push_back(static_cast<AxisId>(i));
  return axes;
}

// The source's pieces of one dimension that a range meets: pieces ascend with their number.
std::vector<std::int64_t> pieces_of(const Needed& m, std::size_t d, const Range& range) {
  const auto at = [&](std::int64_t i) { return piece(m.mesh, m.from.dims[d], m.rule, i); };
  std::int64_t first = 0, end = axes_size(m.mesh, m.from.dims[d].axes);
  const std::int64_t count = end;
  while (first < end) {
    const std::int64_t middle = (first + end) / 2;
    if (at(middle).end > range.begin)
      end = middle;
    else
      first = middle + 1;
  }
  std::vector<std::int64_t> met;
  for (std::int64_t i = first; i < count && at(i).begin < range.end; ++i)
    if (at(i).size() > 0) met.push_back(i);
  return met;
}

// Sets the coordinates along these axes to the digits of a number.
void place_at(const Mesh& mesh, std::vector<std::int64_t>& at, const std::vector<AxisId>& axes,
              std::int64_t number) {
  for (std::size_t i = axes.size(); i-- > 0;) {
    const std::int64_t n = mesh.axes[axes[i]].size;
    at[axes[i]] = number % n, number /= n;
  }
}

std::int64_t device_at(const Mesh& mesh, const std::vector<std::int64_t>& at) {
  std::int64_t position = 0;
  for (std::size_t a = 0; a < at.size(); ++a) position = position * mesh.axes[a].size + at[a];
  return mesh.place.empty() ? position : ids(mesh)[position];
}

// A block of the source: the number of its piece in each dimension, then that of its part.
using Number = std::vector<std::int64_t>;

// The block that a device itself holds.
Number own_block(const Needed& m, std::int64_t device) {
  Number own;
  for (const Dim& dim : m.from.dims) own.push_back(coordinate(m.mesh, dim.axes, device));
  own.push_back(part(m.mesh, m.from, device));
  return own;
}

Lack lack_of(const Needed& m, std::int64_t device, const Slice& need, const Number& block) {
  std::vector<std::int64_t> at = coordinates(m.mesh, device);
  Lack found{device, {}, 0, {}};
  for (std::size_t d = 0; d < need.size(); ++d) {
    place_at(m.mesh, at, m.from.dims[d].axes, block[d]);
    found.index.push_back(std::max(need[d].begin, piece(m.mesh, m.from.dims[d], m.rule, block[d]).begin));
  }
  place_at(m.mesh, at, m.from.unfinished, block.back());
  found.holder = device_at(m.mesh, at);
  found.across = between(m.mesh, device, found.holder);
  return found;
}

// Where devices have what any device of their fibre along `joined` has: dimensions and parts are apart.
std::optional<Lack> lack_along(const Needed& m, const std::vector<AxisId>& joined) {
  const auto apart = [&](const std::vector<AxisId>& axes, const std::vector<std::int64_t>& here,
                         std::int64_t number) {
    std::vector<std::int64_t> there = here;
    place_at(m.mesh, there, axes, number);
    return std::ranges::any_of(axes, [&](AxisId a) { return !contains(joined, a) && there[a] != here[a]; });
  };
  const auto all_joined = [&](const std::vector<AxisId>& axes) {
    return std::ranges::all_of(axes, [&](AxisId a) { return contains(joined, a); });
  };
  const auto lacks = [&](std::int64_t device, const Slice& need) -> std::optional<Lack> {
    const std::vector<std::int64_t> here = coordinates(m.mesh, device);
    Number own = own_block(m, device);
    for (std::size_t d = 0; d <= need.size(); ++d) {
      const bool of_parts = d == need.size();
      const std::vector<AxisId>& axes = of_parts ? m.from.unfinished : m.from.dims[d].axes;
      if (all_joined(axes)) continue;
      std::vector<std::int64_t> met;
      if (of_parts)
        met.resize(axes_size(m.mesh, axes)), std::iota(met.begin(), met.end(), 0);
      else
        met = pieces_of(m, d, need[d]);
      for (std::int64_t number : met) {
        if (!apart(axes, here, number)) continue;
        for (std::size_t e = 0; e < need.size(); ++e)
          if (e != d) own[e] = pieces_of(m, e, need[e]).front();
        own[d] = number;
        return lack_of(m, device, need, own);
      }
    }
    return std::nullopt;
  };
  for (std::int64_t device = 0; device < devices(m.mesh); ++device)
    for (const Slice& need : m.of(device))
      if (elements(need) > 0)
        if (auto found = lacks(device, need)) return found;
  return std::nullopt;
}

// Which blocks of the source have come to each device, a row of bits for each.
struct Reach {
  const Needed& m;
  std::vector<std::int64_t> counts;  // pieces in each dimension, and parts
  std::int64_t words = 0;
  std::vector<std::uint64_t> bits;

  explicit Reach(const Needed& needed) : m(needed) {
    for (const Dim& dim : m.from.dims) counts.push_back(axes_size(m.mesh, dim.axes));
    counts.push_back(parts(m.mesh, m.from));
    words = (std::accumulate(counts.begin(), counts.end(), std::int64_t{1}, std::multiplies<>()) + 63) / 64;
    bits.resize(devices(m.mesh) * words);
    for (std::int64_t device = 0; device < devices(m.mesh); ++device) {
      const std::int64_t own = flat(own_block(m, device));
      bits[device * words + own / 64] |= std::uint64_t{1} << own % 64;
    }
  }
  std::int64_t flat(const Number& block) const {
    std::int64_t at = 0;
    for (std::size_t i = 0; i < block.size(); ++i) at = at * counts[i] + block[i];
    return at;
  }
  std::int64_t piece_of(const Number& block) const { return flat(block) / counts.back(); }
  bool has(std::int64_t device, const Number& block) const {
    return bits[device * words + flat(block) / 64] >> flat(block) % 64 & 1;
  }
  // `sender` is the member that sends in each group, where one does.
  void join(const Mix& mixed, const std::size_t* sender = nullptr) {
    for (const std::vector<std::int64_t>& group : mixed.groups) {
      const std::int64_t only = mixed.rooted && sender ? group[*sender++] : -1;
      std::vector<std::uint64_t> all(words);
      for (std::int64_t d : group)
        for (std::int64_t w = 0; w < words && (only < 0 || d == only); ++w) all[w] |= bits[d * words + w];
      for (std::int64_t d : group)
        for (std::int64_t w = 0; w < words; ++w) bits[d * words + w] |= all[w];
    }
    if (mixed.pairs.empty()) return;
    const std::vector<std::uint64_t> before = bits;
    for (const auto& [from, to] : mixed.pairs)
      for (std::int64_t w = 0; w < words; ++w) bits[to * words + w] |= before[from * words + w];
  }
};

// The first block that a slice meets of which this holds.
template <class Is>
std::optional<Number> first_met(const Reach& reach, const Slice& need, Is is) {
  if (elements(need) == 0) return std::nullopt;
  std::vector<std::vector<std::int64_t>> met;
  for (std::size_t d = 0; d < need.size(); ++d) met.push_back(pieces_of(reach.m, d, need[d]));
  met.emplace_back(reach.counts.back());
  std::iota(met.back().begin(), met.back().end(), 0);
  std::vector<std::size_t> at(met.size());
  for (;;) {
    Number block;
    for (std::size_t i = 0; i < met.size(); ++i) block.push_back(met[i][at[i]]);
    if (is(block)) return block;
    std::size_t i = met.size();
    while (i > 0 && ++at[i - 1] == met[i - 1].size()) at[--i] = 0;
    if (i == 0) return std::nullopt;
  }
}

// Of a device and a block of the source.
std::int64_t pairs(const Needed& m) {
  __int128 n = __int128{parts(m.mesh, m.from)} * devices(m.mesh);
  for (const Dim& dim : m.from.dims) n = std::min<__int128>(n * axes_size(m.mesh, dim.axes), most_pairs + 1);
  return static_cast<std::int64_t>(std::min<__int128>(n, most_pairs + 1));
}

// Which member sends, of every group of every rooted mix.
struct Senders {
  std::vector<std::size_t> at, of;
  std::vector<char> of_each;

  // None where there are too many choices to try: all then send.
  Senders(const Needed& m, const std::vector<Mix>& all) {
    std::int64_t readings = 1;
    for (const Mix& one : all)
      for (const auto& group : one.groups) {
        if (!one.rooted) continue;
        of.push_back(group.size()), of_each.push_back(one.of_each);
        readings = std::min(most_choices + 1, readings * std::ssize(group));
      }
    if (readings > most_choices || readings > most_pairs / pairs(m)) of.clear();
    at.resize(of.size());
  }
  // The next choice of those that send each element, or of the others; false after the last.
  bool next(bool each) {
    for (std::size_t i = 0; i < at.size(); ++i) {
      if (of_each[i] != each) continue;
      if (++at[i] < of[i]) return true;
      at[i] = 0;
    }
    return false;
  }
};

Reach reached(const Needed& m, const std::vector<Mix>& all, const Senders& senders) {
  Reach reach(m);
  const std::size_t* sender = senders.at.empty() ? nullptr : senders.at.data();
  for (const Mix& one : all) {
    reach.join(one, sender);
    if (sender && one.rooted) sender += one.groups.size();
  }
  if (axes_size(m.mesh, m.together) > 1) reach.join({fibres(m.mesh, m.together), {}});
  return reach;
}

// The pieces of the array of which somebody lacks a part that he needs.
std::vector<char> lacked(const Reach& reach) {
  std::vector<char> pieces(reach.words * 64);
  for (std::int64_t device = 0; device < devices(reach.m.mesh); ++device)
    for (const Slice& need : reach.m.of(device))
      first_met(reach, need, [&](const Number& block) {
        if (!reach.has(device, block)) pieces[reach.piece_of(block)] = 1;
        return false;
      });
  return pieces;
}

// The first lack by one choice of who broadcasts: each piece may come by another choice of the other senders.
std::optional<Lack> lack_by(const Needed& m, const std::vector<Mix>& all, Senders& senders) {
  const Reach first = reached(m, all, senders);
  std::vector<char> never = lacked(first);
  while (std::ranges::count(never, 1) > 0 && senders.next(true)) {
    const std::vector<char> here = lacked(reached(m, all, senders));
    for (std::size_t i = 0; i < never.size(); ++i) never[i] &= here[i];
  }
  for (std::int64_t device = 0; device < devices(m.mesh); ++device)
    for (const Slice& need : m.of(device))
      if (const auto block = first_met(first, need, [&](const Number& b) {
            return !first.has(device, b) && never[first.piece_of(b)];
          }))
        return lack_of(m, device, need, *block);
  return std::nullopt;
}

// The first lack of the first choice, where there is one whatever members send.
std::optional<Lack> lack_by(const Needed& m, const std::vector<Mix>& all) {
  Senders senders(m, all);
  std::optional<Lack> first;
  do {
    std::optional<Lack> here = lack_by(m, all, senders);
    if (!here) return std::nullopt;
    if (!first) first = std::move(here);
  } while (senders.next(false));
  return first;
}

}  // namespace

std::vector<AxisId> joined_axes(const Mesh& mesh, std::span<const Collective> trace) {
  std::vector<AxisId> all;
  for (const Collective& one : trace) {
    add_axes(all, axes_of(mesh, one));
    for (const auto& [from, to] : one.pairs) add_axes(all, between(mesh, from, to));
    for (const std::vector<std::int64_t>& group : one.groups)
      for (std::int64_t d : group) add_axes(all, between(mesh, group.front(), d));
    for (AxisId a = 0; names_nobody(one) && a < std::ssize(mesh.axes); ++a) add_axes(all, {a});
  }
  return all;
}

std::optional<Lack> lack(const Needed& m, std::span<const Collective> trace) {
  Trace moving;
  std::ranges::copy_if(written_out(m.mesh, trace), std::back_inserter(moving),
                       [&](const Collective& one) { return moved(m.mesh, one) != 0; });
  const auto along_axes = [](const Collective& one) { return !one.axes.empty() || names_nobody(one); };
  const bool whole = std::ranges::all_of(moving, along_axes) &&
                     std::ranges::none_of(moving, [&](const Collective& one) { return one_sends(m, one); });
  if (whole || pairs(m) > most_pairs) {
    std::vector<AxisId> joined = joined_axes(m.mesh, moving);
    add_axes(joined, m.together);
    return lack_along(m, joined);
  }
  return lack_by(m, mixes(m, moving));
}

std::optional<Lack> lack(const Move& m, std::span<const Collective> trace) {
  const auto of = [&](std::int64_t device) {
    return std::vector<Slice>{block(m.mesh, m.to, m.rule, device)};
  };
  return lack(Needed{m.mesh, m.from, m.rule, of, m.to.unfinished, m.from.reduction != Reduce::sum}, trace);
}

std::string lack_in_words(const Mesh& mesh, const Lack& lack) {
  return fmt::format(
      "device {} ({}) needs element [{}] of device {} ({}), and no collective takes it there "
      "across {}",
      lack.device, coordinates_text(mesh, lack.device), fmt::join(lack.index, ","), lack.holder,
      coordinates_text(mesh, lack.holder), dotted(mesh, lack.across));
}

// A reshard in which nothing is added up.
static bool only_extremes(const Case& c) {
  const auto adds = [&](const Spec& spec) {
    return spec.reduction == Reduce::sum && parts(c.mesh, spec) > 1;
  };
  return is_reshard(c) && c.op.operands[0].reduction != Reduce::sum && std::ranges::none_of(c.op.chain, adds);
}

std::string out_of_reach(const Case& c, const Outcome& outcome) {
  for (std::size_t r = 0; r < results(c).size(); ++r) {
    const std::vector<Slice> slices = held_slices(c, outcome, r);
    for (int i = 0; i < std::ssize(c.op.operands) && !slices.empty(); ++i) {
      const auto of = [&](std::int64_t device) { return needed(c.op, r, i, slices[device]); };
      const auto found =
          lack(Needed{c.mesh, c.op.operands[i], c.rule, of, results(c)[r].unfinished, only_extremes(c)},
               outcome.trace);
      if (!found) continue;
      const std::string whose = c.op.operands.size() > 1 ? fmt::format("of operand {}, ", i) : "";
      return whose + lack_in_words(c.mesh, *found);
    }
  }
  return "";
}

}  // namespace plumb

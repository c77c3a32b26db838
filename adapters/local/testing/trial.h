// A case on an in-process backend, and an answer of its own: data from index arithmetic, sums and
// products element by element.
#pragma once

#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "adapters/local/local.h"
#include "adapters/plan/testing/brute.h"
#include "reference/words/tensor.h"
#include "reference/words/text.h"

namespace plumb::local::trial {

// Small integers that differ from their neighbours: sums of all of them are exact in every format here.
inline double datum(std::int64_t operand, std::int64_t i) {
  return static_cast<double>((i * 7 + i / 5 + operand * 3) % 5 + 1) * ((i + operand) % 3 ? 1 : -1);
}

// Room for the blocks of the results and their table. A case is tried in a millisecond: pages that nothing
// needs would take most of it.
inline std::size_t room(const Case& c) {
  std::int64_t bytes = 4096;
  for (const Spec& spec : results(c))
    bytes += devices(c.mesh) * (largest_block_bytes(c.mesh, spec, c.rule) + 256);
  return static_cast<std::size_t>(bytes);
}

struct Trial {
  Case c;
  std::vector<Tensor> operands;  // with a leading dimension for parts where there are such
  std::vector<std::byte> arena = std::vector<std::byte>(room(c));
  Reply reply{};
  const Outcome& outcome() const { return std::get<Outcome>(reply); }
};

inline Tensor operand(const Case& c, int which) {
  const Spec& spec = c.op.operands[which];
  std::vector<std::int64_t> sizes = shape(spec);
  if (!spec.unfinished.empty()) sizes.insert(sizes.begin(), parts(c.mesh, spec));
  Tensor t = zeros(spec.dtype, sizes);
  for (std::int64_t i = 0; i < elements(t.shape); ++i)
    store(t.dtype, t.bytes.data() + i * format(t.dtype).bytes,
          encode(t.dtype, spec.dtype == DType::e8m0 ? std::abs(datum(which, i)) : datum(which, i)));
  return t;
}

inline Trial run(const Case& c, Backend& backend) {
  Trial t{.c = c, .operands = {}};
  Request request{.id = 1, .c = c, .operands = {}};
  for (int i = 0; i < std::ssize(c.op.operands); ++i) t.operands.push_back(operand(c, i));
  for (const Tensor& o : t.operands) request.operands.push_back({o.bytes, o.shape});
  request.write = cutting(c, request.operands);
  Arena arena{.whole = t.arena, .next = 0};
  if (auto refusal = backend.prepare(request))
    t.reply = *refusal;
  else
    t.reply = backend.run(request, arena);
  return t;
}

// What parts make, from what those before made.
inline void combine(const Spec& spec, bool first, double part, double& all) {
  if (spec.reduction == Reduce::sum) all = first ? part : all + part;
  if (spec.reduction == Reduce::max) all = first || part > all ? part : all;
  if (spec.reduction == Reduce::min) all = first || part < all ? part : all;
}

// The whole operand, its parts combined.
inline std::vector<double> whole(const Trial& t, int which) {
  const Spec& spec = t.c.op.operands[which];
  const std::int64_t n = elements(spec);
  std::vector<double> all(n, 0);
  for (std::int64_t i = 0; i < elements(t.operands[which].shape); ++i)
    combine(spec, i < n, value(t.operands[which], i), all[i % n]);
  for (double& each : all) each /= static_cast<double>(axes_size(t.c.mesh, spec.averaged));
  return all;
}

inline std::int64_t group_of(const std::vector<std::vector<std::int64_t>>& sizes, std::int64_t rows,
                             std::int64_t t) {
  const std::int64_t each = rows / std::ssize(sizes), block = t / each;
  std::int64_t end = block * each;
  for (std::size_t g = 0; g < sizes[block].size(); ++g)
    if (t < (end += sizes[block][g])) return static_cast<std::int64_t>(g);
  return -1;
}

// The wanted array, as doubles.
inline std::vector<double> want(const Trial& t) {
  const Case& c = t.c;
  const std::vector<double> a = whole(t, 0);
  if (is_reshard(c)) return a;
  const std::vector<double> b = whole(t, 1);
  std::string lhs, rhs, out;
  const auto* grouped = std::get_if<Grouped>(&c.op.kind);
  if (grouped) {
    lhs = grouped->form == Form::dgrad ? "tn" : "tk";
    rhs = grouped->form == Form::wgrad ? "tn" : "gkn";
    out = grouped->form == Form::fwd ? "tn" : grouped->form == Form::dgrad ? "tk" : "gkn";
  } else {
    const auto& e = std::get<Einsum>(c.op.kind);
    lhs = e.lhs, rhs = e.rhs, out = e.out;
  }
  std::map<char, std::int64_t> sizes;
  for (std::size_t d = 0; d < lhs.size(); ++d) sizes[lhs[d]] = c.op.operands[0].dims[d].size;
  for (std::size_t d = 0; d < rhs.size(); ++d) sizes[rhs[d]] = c.op.operands[1].dims[d].size;
  for (std::size_t d = 0; d < out.size(); ++d) sizes[out[d]] = result(c).dims[d].size;
  std::vector<std::int64_t> extents;
  for (const auto& [letter, size] : sizes) extents.push_back(size);
  std::vector<double> sums(elements(result(c)), 0);
  for (const brute::Index& index : brute::indices(extents)) {
    std::map<char, std::int64_t> at;
    for (std::size_t d = 0; const auto& [letter, size] : sizes) at[letter] = index[d++];
    if (grouped && group_of(grouped->sizes, sizes['t'], at['t']) != at['g']) continue;
    const auto place = [&](const std::string& letters) {
      std::int64_t i = 0;
      for (char letter : letters) i = i * sizes[letter] + at[letter];
      return i;
    };
    sums[place(out)] += a[place(lhs)] * b[place(rhs)];
  }
  return sums;
}

// The values of one device's block as the reply says, in row-major order.
inline std::vector<double> got(const Trial& t, std::int64_t device) {
  const Block& block = t.outcome().blocks.at(device);
  std::vector<double> values(block.bytes / format(result(t.c).dtype).bytes);
  decode(result(t.c).dtype, t.arena.data() + block.offset, std::ssize(values), values.data());
  return values;
}

// What is wrong with the blocks of an outcome, or nothing: every device holds, at the right indices, the
// wanted values; where the result is unfinished, the parts along a fibre add up to them.
inline std::string fault(const Trial& t) {
  const Case& c = t.c;
  const Spec to = result(c).free ? parse_spec(*t.outcome().claims.at(0), c.mesh) : result(c);
  const std::vector<double> wanted = want(t);
  const std::vector<brute::Index> all = brute::indices(shape(to));
  std::vector<AxisId> others;
  for (AxisId a = 0; a < static_cast<AxisId>(c.mesh.axes.size()); ++a)
    if (!brute::names(to.unfinished, a)) others.push_back(a);
  std::map<std::pair<std::int64_t, std::int64_t>, double> sums;  // (fibre, element) -> sum of the parts
  for (std::int64_t device = 0; device < devices(c.mesh); ++device) {
    const std::vector<double> values = got(t, device);
    std::size_t next = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!brute::holds(c, to, device, all[i])) continue;
      if (next == values.size()) return "device " + std::to_string(device) + " has too few elements";
      const auto [place, first] =
          sums.try_emplace({brute::digits(c.mesh, device, others), static_cast<std::int64_t>(i)}, 0);
      combine(to, first, values[next++], place->second);
    }
    if (next != values.size()) return "device " + std::to_string(device) + " has too many elements";
  }
  for (auto& [place, sum] : sums) sum /= static_cast<double>(axes_size(c.mesh, to.averaged));
  for (const auto& [place, sum] : sums)
    if (!(sum == decode(to.dtype, encode(to.dtype, wanted[place.second]))))
      return "element " + std::to_string(place.second) + " of fibre " + std::to_string(place.first) + " is " +
             std::to_string(sum) + ", wanted " + std::to_string(wanted[place.second]);
  return "";
}

inline std::int64_t moved(const Outcome& o) {
  return std::accumulate(o.trace.begin(), o.trace.end(), std::int64_t{0},
                         [](std::int64_t sum, const Collective& c) { return sum + c.moved.value(); });
}

}  // namespace plumb::local::trial

#include "harness/trace/untrue_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "adapters/protocol/vocabulary.h"
#include "harness/trace/steps.h"
#include "reference/words/letters.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

// In how many parts the terms of a product are, or its operands.
std::int64_t parts_of_terms(const Case& c) {
  std::vector<AxisId> axes;
  for (std::size_t i = 0; i < c.op.operands.size(); ++i) {
    const Spec& spec = c.op.operands[i];
    axes.insert(axes.end(), spec.unfinished.begin(), spec.unfinished.end());
    for (const int d : contracted_dims(c.op, static_cast<int>(i)))
      axes.insert(axes.end(), spec.dims[d].axes.begin(), spec.dims[d].axes.end());
  }
  std::ranges::sort(axes);
  axes.erase(std::ranges::unique(axes).begin(), axes.end());
  return axes_size(c.mesh, axes);
}

// Of how many devices' arrays it makes one result, replicas too.
std::int64_t brought_from(const Mesh& mesh, const Collective& one) {
  if (one.kind != "all-gather" && one.kind != "all-to-all" && one.kind != "send") return 1;
  if (!one.pairs.empty()) return devices(mesh);
  std::int64_t n = 1;
  for (const auto& group : groups_of(mesh, one)) n = std::max<std::int64_t>(n, std::ssize(group));
  return n;
}

std::string too_large(const Case& c, const Trace& trace) {
  const std::int64_t n = devices(c.mesh);
  int value = std::max({format(DType::f32).bytes, format(c.acc).bytes, format(c.wire).bytes});
  for (const Spec* spec : arrays(c)) value = std::max(value, format(spec->dtype).bytes);
  double most = 0;
  const std::int64_t of_terms = is_reshard(c) ? 1 : parts_of_terms(c);
  for (const Spec& spec : c.op.operands)
    most += value * static_cast<double>(parts(c.mesh, spec)) * most_padded(spec.dims, n);
  for (const Spec& spec : c.op.chain)
    most += value * static_cast<double>(std::max(of_terms, parts(c.mesh, spec))) * most_padded(spec.dims, n);
  const double to_all = most * static_cast<double>(n) * static_cast<double>(n);
  for (const Collective& one : trace) {
    const double all = most * static_cast<double>(brought_from(c.mesh, one));
    if (static_cast<double>(one.in) > (one.kind == "all-gather" ? most : all) ||
        static_cast<double>(one.out) > all)
      return fmt::format("one {} of {} bytes, more than all arrays have", one.kind,
                         std::max(one.in, one.out));
    if (const double moved = static_cast<double>(one.moved.value_or(0));
        moved > to_all * static_cast<double>(one.times))
      return fmt::format("one {} moved {} bytes, more than all arrays have, from each device to each",
                         one.kind, *one.moved);
  }
  return "";
}

// How much larger than another a block can be of the same array in as many pieces: cut to equal sizes, those
// of a dimension of d over n devices are ceil(d/n) long, which is ceil(d/n) n / d of their share. Of several
// dimensions the product, of several arrays the most.
//   f32[8,4] on 4 devices  1        f32[5] on 4  8/5        f32[1,4], f32[] on 4  4
// As a fraction; nullopt where no number says it: an array of nothing, or too
// large a number.
struct Ratio {
  __int128 over = 1, under = 1;
};
std::optional<Ratio> unevenness(const Case& c) {
  const std::int64_t n = devices(c.mesh);
  Ratio most;
  for (const Spec* spec : arrays(c)) {
    Ratio own{spec->dims.empty() ? n : 1, 1};
    for (const Dim& dim : spec->dims) {
      if (dim.size == 0) return std::nullopt;
      const __int128 padded = __int128{(dim.size + n - 1) / n} * n,
                     common = std::gcd(static_cast<std::int64_t>(padded), dim.size);
      own.over *= padded / common, own.under *= dim.size / common;
      if (own.over >> 30 != 0) return std::nullopt;
    }
    if (own.over * most.under > most.over * own.under) most = own;
  }
  return most;
}

// Whether a is at most b, but for uneven blocks.
bool at_most(const Ratio& most, __int128 a, __int128 b) { return a * most.under <= b * most.over; }

// A reshard that adds nothing up and quantizes nothing.
bool only_moves(const Case& c) {
  return is_reshard(c) &&
         std::ranges::all_of(arrays(c), [&](const Spec* spec) { return parts(c.mesh, *spec) == 1; });
}

// Of a reshard of which nobody counted: who counts may send what some of those that have it hold. Where it
// adds up, sums lie as they were scattered, some here and some there: only that a scatter makes no more than
// it has is known.
std::string misshapen(const Case& c, const Trace& trace) {
  const std::optional<Ratio> most = unevenness(c);
  if (!most || !is_reshard(c)) return "";
  const bool moves = only_moves(c);
  for (const Collective& one : trace) {
    const bool exchanges = one.kind == "all-to-all", gathers = moves && one.kind == "all-gather",
               scatters = one.kind == "reduce-scatter";
    if (one.moved || (!exchanges && !gathers && !scatters)) continue;
    std::int64_t n = devices(c.mesh);  // of the smallest group
    for (const auto& group : groups_of(c.mesh, one)) n = std::min<std::int64_t>(n, std::ssize(group));
    const bool fits = exchanges ? at_most(*most, one.in, one.out) && at_most(*most, one.out, one.in)
                      : gathers ? at_most(*most, __int128{n} * one.in, one.out)
                                : at_most(*most, __int128{n} * one.out, one.in);
    if (!fits)
      return fmt::format("one {} over {} makes {} bytes of {}, and no blocks of these arrays are so uneven",
                         one.kind, counted(n, "device"), one.out, one.in);
  }
  return "";
}

std::string gathers_one(const Case& c, const Trace& trace) {
  for (const Spec* spec : arrays(c))
    for (const Dim& dim : spec->dims)
      if (dim.size % devices(c.mesh) != 0) return "";
  for (const Collective& one : trace) {
    if (one.kind != "all-gather" || one.in != one.out || one.in == 0 || one.moved) continue;
    for (const auto& group : groups_of(c.mesh, one))
      if (group.size() > 1)
        return fmt::format("an all-gather over {} devices that joins nothing to the {} bytes of one",
                           group.size(), one.in);
  }
  const Spec& from = c.op.operands[0];
  if (trace.empty() || trace[0].kind != "all-gather" || !only_moves(c)) return "";
  const std::int64_t held = largest_block_bytes(c.mesh, from, c.rule);
  const int own = format(from.dtype).bytes,
            wider = std::max({1, format(DType::f32).bytes / own, bits_of(trace[0].dtype) / (8 * own)});
  if (held == bytes(from) || trace[0].in < bytes(from) * wider) return "";
  return fmt::format("an all-gather of all {} bytes from each device, which has {}", bytes(from), held);
}

}  // namespace

double most_padded(std::span<const Dim> dims, std::int64_t n) {
  if (dims.empty()) return 1;
  double most = 0;
  for (std::int64_t m = 1; m <= n; ++m)
    if (n % m == 0) {
      const std::int64_t padded = std::max<std::int64_t>(1, (dims[0].size + m - 1) / m) * m;
      most = std::max(most, static_cast<double>(padded) * most_padded(dims.subspan(1), n / m));
    }
  return most;
}

std::vector<const Spec*> arrays(const Case& c) {
  std::vector<const Spec*> all;
  for (const Spec& spec : c.op.operands) all.push_back(&spec);
  for (const Spec& spec : c.op.chain) all.push_back(&spec);
  return all;
}

std::string untrue_sizes(const Case& c, const Trace& trace) {
  std::string why = too_large(c, trace);
  if (why.empty()) why = misshapen(c, trace);
  if (why.empty()) why = gathers_one(c, trace);
  return why;
}

}  // namespace plumb

#include "harness/trace/untrue.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "adapters/protocol/vocabulary.h"
#include "harness/trace/cost.h"
#include "harness/trace/lower_bound.h"
#include "harness/trace/narrow.h"
#include "harness/trace/steps.h"
#include "harness/trace/untrue_sizes.h"
#include "reference/bytes/bytes.h"
#include "reference/words/letters.h"
#include "reference/words/text.h"
#include "reference/words/tiles.h"

namespace plumb {
namespace {

// A reduction by a name that no sum goes by.
bool never_adds(const std::string& op) {
  const auto by = reduces_by(op);
  return by == ReducesBy::product || by == ReducesBy::truth || by == ReducesBy::bits;
}

// Whether it takes the mean along an axis over which a sum is due. Along one that holds replicas it may.
bool divides_a_sum(const Case& c, const Collective& one) {
  const auto axes = fibre_axes(c.mesh, one);
  const auto all = arrays(c);
  return axes && std::ranges::any_of(*axes, [&](AxisId axis) {
           const auto left = [&](const Spec* spec) { return std::ranges::count(spec->unfinished, axis) > 0; };
           const auto averaged = [&](const Spec* spec) {
             return std::ranges::count(spec->averaged, axis) > 0;
           };
           return c.mesh.axes[axis].size > 1 && std::ranges::any_of(all, left) &&
                  std::ranges::none_of(all, averaged);
         });
}

// How many sums are due along an axis: of each operand's parts, of a product's terms, one less where they may
// be left as parts; of parts that the next layout of a chain does not have.
int sums_due(const Case& c, AxisId axis) {
  const auto in_parts = [&](const Spec& spec) {
    return spec.reduction == Reduce::sum && std::ranges::count(spec.unfinished, axis) > 0;
  };
  int due = 0;
  bool cut = false;
  for (std::size_t i = 0; i < c.op.operands.size(); ++i) {
    due += in_parts(c.op.operands[i]);
    for (const int d : contracted_dims(c.op, static_cast<int>(i)))
      cut = cut || std::ranges::count(c.op.operands[i].dims[d].axes, axis) > 0;
  }
  due = std::max(0, due + cut - in_parts(c.op.chain[0]));
  for (std::size_t i = 1; i < c.op.chain.size(); ++i)
    due += in_parts(c.op.chain[i - 1]) && !in_parts(c.op.chain[i]);
  return c.mesh.axes[axis].size > 1 ? due : 0;
}

// Whether it may stand for a sum: several are due along an axis of it, or one, and nothing was added up along
// that axis before. What is added up already is its own maximum, and so are replicas.
bool stands_for_a_sum(const Case& c, const Trace& trace, std::size_t extreme) {
  const auto along = [&](const Collective& one, AxisId axis) {
    const auto axes = fibre_axes(c.mesh, one);
    return !axes || std::ranges::count(*axes, axis) > 0;
  };
  const auto adds = [&](AxisId axis) {
    return std::any_of(
        trace.begin(), trace.begin() + static_cast<std::ptrdiff_t>(extreme),
        [&](const auto& one) { return reduces(one) && !extreme_named(one.op) && along(one, axis); });
  };
  for (AxisId axis = 0; axis < static_cast<AxisId>(c.mesh.axes.size()); ++axis)
    if (const int due = along(trace[extreme], axis) ? sums_due(c, axis) : 0;
        due > 1 || (due == 1 && !adds(axis)))
      return true;
  return false;
}

// Whether a product adds up nothing: it is zero wherever it is made.
bool adds_nothing(const Case& c) {
  return std::ranges::any_of(contracted_dims(c.op, 0),
                             [&](int d) { return c.op.operands[0].dims[d].size == 0; });
}

// Whether an operand is split along what is summed; where none is, nothing is a sum over devices.
bool cuts_a_sum(const Case& c) {
  for (int i : {0, 1}) {
    const Spec& spec = c.op.operands[i];
    for (const int d : contracted_dims(c.op, i))
      if (axes_size(c.mesh, spec.dims[d].axes) > 1) return true;
    if (parts(c.mesh, spec) > 1) return true;
  }
  return false;
}

// Elements of a device's block of an einsum that it cannot make of what it holds of the operands.
std::int64_t made_elsewhere(const Case& c, std::int64_t device) {
  const Letters words = letters(c.op);
  const Slice due = block(c.mesh, result(c), c.rule, device);
  Slice own = due;
  for (int i : {0, 1}) {
    const Spec& spec = c.op.operands[i];
    const Slice held = block(c.mesh, spec, c.rule, device);
    bool whole = parts(c.mesh, spec) == 1;
    for (std::size_t d = 0; d < held.size(); ++d) {
      const std::size_t at = words.out.find(words.operand[i][d]);
      if (at == std::string::npos) {
        whole = whole && held[d].size() == spec.dims[d].size;
        continue;
      }
      own[at].begin = std::max(own[at].begin, held[d].begin);
      own[at].end = std::max(own[at].begin, std::min(own[at].end, held[d].end));
    }
    if (!whole) return elements(due);
  }
  return elements(due) - elements(own);
}

// The same of a grouped wgrad: those of the groups of which it does not hold all rows.
std::int64_t made_of_other_rows(const Case& c, const Grouped& grouped, std::int64_t device) {
  const Slice due = block(c.mesh, result(c), c.rule, device);
  const auto runs = group_rows(grouped, c.op.operands[0].dims[0].size);
  std::int64_t groups = 0;
  for (std::int64_t g = due[0].begin; g < due[0].end; ++g)
    groups += std::ranges::any_of(c.op.operands, [&](const Spec& spec) {
      const Range held = block(c.mesh, spec, c.rule, device)[0];
      return std::ranges::any_of(
          runs[g], [&](const Range& rows) { return rows.size() > 0 && both(rows, held) != rows; });
    });
  return groups == 0 ? 0 : elements(due) / due[0].size() * groups;
}

// Elements of a device's block that are made of what others have, where it is known: of a reshard all, if its
// operand is in parts.
std::int64_t made_of_others(const Case& c, std::int64_t device) {
  if (result(c).free || parts(c.mesh, result(c)) > 1 || adds_nothing(c)) return 0;
  if (std::holds_alternative<Einsum>(c.op.kind)) return cuts_a_sum(c) ? made_elsewhere(c, device) : 0;
  const auto* grouped = std::get_if<Grouped>(&c.op.kind);
  if (grouped && grouped->form == Form::wgrad) return made_of_other_rows(c, *grouped, device);
  const bool in_parts = is_reshard(c) && parts(c.mesh, c.op.operands[0]) > 1;
  return in_parts ? elements(block(c.mesh, result(c), c.rule, device)) : 0;
}

bool sums_are_due(const Case& c) {
  for (std::int64_t d = 0; d < devices(c.mesh); ++d)
    if (made_of_others(c, d) > 0) return true;
  return false;
}

// Elements of the operands that a device has not all of and of which its block is made, at most: sums may
// bring these, among zeros.
std::int64_t factors_of(const Case& c, std::int64_t device) {
  const Slice due = block(c.mesh, result(c), c.rule, device);
  if (is_reshard(c)) return elements(due);
  const Letters words = letters(c.op);
  std::int64_t sum = 0;
  for (int i : {0, 1}) {
    const Spec& spec = c.op.operands[i];
    const Slice held = block(c.mesh, spec, c.rule, device);
    bool whole = parts(c.mesh, spec) == 1;
    std::int64_t all = 1;
    for (std::size_t d = 0; d < held.size(); ++d) {
      const std::size_t at = words.out.find(words.operand[i][d]);
      const Range needed = at == std::string::npos ? Range{0, spec.dims[d].size} : due[at];
      whole = whole && both(needed, held[d]) == needed, all *= needed.size();
    }
    if (!whole) sum += all;
  }
  return sum;
}

// Whether nothing that moves brings anything but extremes: then a product has no sums.
bool only_extremes_move(const Case& c, const Trace& trace) {
  return std::ranges::all_of(trace, [&](const Collective& one) {
    return moved(c.mesh, one) == 0 || (reduces(one) && extreme_named(one.op));
  });
}

// Whether anything but the result is in parts, which may be left as it was gathered.
bool finishes_parts(const Case& c) {
  const auto all = arrays(c);
  return std::any_of(all.begin(), all.end() - 1, [&](auto* spec) { return parts(c.mesh, *spec) > 1; });
}

// Whether the bits that are joined may be a gather, each member's among zeros: where nothing is added up or
// compared, or if they have what two members have at least, of a product all its factors.
bool may_gather(const Case& c, const Trace& trace) {
  std::int64_t bits = 0, due = 0;
  for (const Collective& one : trace)
    if (reduces(one) && names_bits(one.op)) bits += one.in * one.times;
  if (is_quantize(c)) return bits >= 2 * format(c.op.operands[0].dtype).bytes;
  for (std::int64_t d = 0; d < devices(c.mesh); ++d) {
    if (is_reshard(c) && finishes_parts(c))
      due = std::max(due, 2 * factors_of(c, d) * least_bytes(c));
    else if (!is_reshard(c) && made_of_others(c, d) > 0)
      due = std::max(due, factors_of(c, d) * bytes_of_value(c));
  }
  return bits >= due;
}

std::string reduces_otherwise(const Case& c, const Trace& trace) {
  const auto compares = [](const Spec* spec) { return spec->reduction != Reduce::sum; };
  const auto all = arrays(c);
  const bool any = std::ranges::any_of(all, compares), coded = quantizes(c.op);
  const bool means = std::ranges::any_of(all, [](const Spec* spec) { return !spec->averaged.empty(); });
  const bool no_sums = coded && !is_quantize(c) && only_extremes_move(c, trace) && sums_are_due(c);
  bool reduced = false, as_due = false, added = false;
  std::string other;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const Collective& one = trace[i];
    const bool sent_sum = one.kind == "send" && !one.op.empty() && sums(c.op);
    if (!reduces(one) && !sent_sum) continue;
    const std::optional<Reduce> extreme = extreme_named(one.op);
    // The largest is the smallest of the negated: where either is due, both may be taken.
    if (extreme && !any && (no_sums || !coded) && stands_for_a_sum(c, trace, i))
      return fmt::format("it takes the {}, where sums are due", one.op);
    if (names_mean(one.op) && moved(c.mesh, one) != 0 && (!means || divides_a_sum(c, one)))
      return fmt::format("it takes the {}, where no mean is due", one.op);
    reduced = true;
    if (never_adds(one.op))
      other = one.op;
    else
      added = true;
    as_due = as_due || extreme || !names_sum(one.op);
  }
  if (!added && !other.empty() && !(names_bits(other) && may_gather(c, trace)))
    return fmt::format("it takes the {}, where {} are due", other,
                       any || coded ? "extremes or sums" : "sums");
  if (coded) return "";
  const auto adds = [&](const Spec* spec) { return !compares(spec) && parts(c.mesh, *spec) > 1; };
  if (parts(c.mesh, c.op.operands[0]) == 1 || std::ranges::any_of(all, adds)) return "";
  if (c.op.operands[0].reduction == Reduce::sum || !reduced || as_due) return "";
  return fmt::format("it adds up, where the {} is due", name(c.op.operands[0].reduction));
}

// Integers may be the bytes of what is moved, and beside other collectives be counted for an end of their
// own. Who compares floats as the integers of their bits has as many bits.
std::string reduces_integers(const Case& c, const Trace& trace) {
  if (quantizes(c.op) || format(result(c).dtype).integer) return "";
  const bool sum = c.op.operands[0].reduction == Reduce::sum;
  const Collective* found = nullptr;
  for (const Collective& one : trace) {
    if (moved(c.mesh, one) == 0) continue;
    const int bits = integer_bits(one);
    if (!combines(one) || bits == 0 || (!sum && bits >= 8 * format(result(c).dtype).bytes)) return "";
    found = &one;
  }
  for (std::int64_t d = 0; found && d < devices(c.mesh); ++d)
    if (made_of_others(c, d) > 0)
      return fmt::format("it reduces {}, where values of {} are due", found->dtype,
                         format(result(c).dtype).name);
  return "";
}

std::string sums_too_few_values(const Case& c, const Trace& trace) {
  // The sum of an operand's parts may be taken before it is multiplied, of fewer elements.
  const auto in_parts = [&](const Spec& operand) { return parts(c.mesh, operand) > 1; };
  if (!is_reshard(c) && std::ranges::any_of(c.op.operands, in_parts)) return "";
  std::vector<double> summed(devices(c.mesh));
  for (const Collective& one : trace) {
    if (moved(c.mesh, one) == 0) continue;
    if (!combines(one)) return "";
    const auto dtype = dtype_named(one.dtype);
    const std::int64_t value =
        dtype ? format(*dtype).bytes : std::min(format(c.wire).bytes, format(result(c).dtype).bytes);
    for (const auto& group : groups_of(c.mesh, one))
      for (std::int64_t d : group)
        summed[d] += static_cast<double>(one.kind == "all-reduce" ? one.in : one.out) /
                     static_cast<double>(value) * static_cast<double>(one.times);
  }
  for (std::int64_t d = 0; d < devices(c.mesh); ++d)
    if (const std::int64_t made = made_of_others(c, d), due = made > 0 ? std::min(made, factors_of(c, d)) : 0;
        summed[d] < static_cast<double>(due))
      return fmt::format("its sums make {} of the {} elements of device {} that are sums over devices",
                         summed[d], due, d);
  return "";
}

// The one collective that moves anything, if it adds up, once.
const Collective* only_sum(const Case& c, const Trace& trace) {
  const Collective* found = nullptr;
  for (const Collective& one : trace) {
    if (moved(c.mesh, one) == 0) continue;
    if (found || !combines(one) || extreme_named(one.op) || one.times != 1) return nullptr;
    found = &one;
  }
  return found;
}

// Of an einsum of two whole operands in parts along one axis the result is linear in each part that a device
// has: what one sum alone told is as many values as the factors that a block is made of.
std::string adds_at_once(const Case& c, const Trace& trace) {
  const Collective* one = std::holds_alternative<Einsum>(c.op.kind) ? only_sum(c, trace) : nullptr;
  if (!one) return "";
  const std::vector<Spec>& of = c.op.operands;
  const bool crossed = std::ranges::any_of(of[0].unfinished, [&](AxisId axis) {
    return c.mesh.axes[axis].size > 1 && std::ranges::count(of[1].unfinished, axis) > 0;
  });
  std::int64_t all = 0;
  for (const Spec& spec : of) all += elements(spec);
  for (std::int64_t d = 0; crossed && d < devices(c.mesh); ++d) {
    if (made_of_others(c, d) == 0) continue;
    std::int64_t held = 0;
    for (const Spec& spec : of) held += elements(block(c.mesh, spec, c.rule, d));
    const std::int64_t factors = factors_of(c, d), values = one->in / bytes_of_value(c);
    if (held == all && values < factors)
      return fmt::format("it adds up {} values, and parts of {} factors meet those of others on device {}",
                         values, factors, d);
  }
  return "";
}

// "one all-gather over 2 devices cannot make 4096 bytes of 4"
std::string misfit_of(const Collective& one, std::int64_t n) {
  const auto at_most = [&](std::int64_t a, std::int64_t times, std::int64_t b) {
    return __int128{a} <= __int128{times} * b;
  };
  const bool in_fits = at_most(one.in, n, one.out), out_fits = at_most(one.out, n, one.in);
  if (one.roundings > 0 && one.additions < 62 && n > std::int64_t{1} << one.additions)
    return fmt::format("one {} over {} devices cannot add up with {} additions of a part", one.kind, n,
                       one.additions);
  bool fits = true;
  if (one.kind == "all-reduce") fits = one.in == one.out;
  if (one.kind == "all-gather") fits = one.in <= one.out && out_fits;
  if (one.kind == "reduce-scatter") fits = one.out <= one.in;
  if (one.kind == "collective-permute") fits = one.out <= one.in;
  if (one.kind == "collective-broadcast") fits = one.in == one.out;
  if (one.kind == "all-to-all") fits = in_fits && out_fits;
  if (fits) return "";
  const std::string over = one.pairs.empty() ? fmt::format(" over {} devices", n) : "";
  return fmt::format("one {}{} cannot make {} bytes of {}", one.kind, over, one.out, one.in);
}

}  // namespace

std::string untrue(const Case& c, const Trace& trace, bool exact_values) {
  if (is_resolve(c)) return "";
  std::string why = untrue_sizes(c, trace);
  if (why.empty()) why = reduces_otherwise(c, trace);
  if (why.empty()) why = reduces_integers(c, trace);
  if (why.empty() && exact_values) why = too_narrow(c, trace);
  if (why.empty()) why = sums_too_few_values(c, trace);
  if (why.empty()) why = adds_at_once(c, trace);
  return why;
}

std::string misfit(const Mesh& mesh, const Trace& trace) {
  for (const Collective& one : trace) {
    std::int64_t n = one.axes.empty() ? 1 : axes_size(mesh, axes_of(mesh, one));
    for (const std::vector<std::int64_t>& group : one.groups)
      n = std::max<std::int64_t>(n, std::ssize(group));
    if (std::string text = misfit_of(one, n); !text.empty()) return text;
  }
  return "";
}

}  // namespace plumb

#include "harness/trace/transit.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "harness/trace/acts.h"
#include "harness/trace/at_once.h"
#include "harness/trace/different.h"
#include "harness/trace/heard.h"
#include "harness/trace/learnt.h"
#include "harness/trace/reachability.h"
#include "harness/trace/steps.h"
#include "harness/trace/untrue_sizes.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

// A collective of more than the array has, or one part of it, whatever pieces it was cut into; a gather makes
// so much of each member's.
std::string of_too_much(const Case& reshard, std::span<const Collective> steps) {
  const Spec& from = reshard.op.operands[0];
  const int value = std::max({format(DType::f32).bytes, format(reshard.acc).bytes, format(reshard.wire).bytes,
                              format(from.dtype).bytes, format(result(reshard).dtype).bytes});
  const double most = value * most_padded(from.dims, devices(reshard.mesh));
  for (const Collective& one : steps) {
    if (one.kind == "all-to-all" || one.kind == "send") continue;
    double members = 1;
    if (one.kind == "all-gather")
      for (const auto& group : groups_of(reshard.mesh, one))
        members = std::max(members, static_cast<double>(group.size()));
    if (static_cast<double>(one.in) > most || static_cast<double>(one.out) > members * most)
      return fmt::format("its {} makes {} bytes of {}, more than the array has", one.kind, one.out, one.in);
  }
  return "";
}

// The reshard that each slice makes along axes over which parts stay parts, where nothing crosses these.
Case of_each_slice(Case reshard, std::span<const Collective> steps) {
  Spec &from = reshard.op.operands[0], &to = reshard.op.chain.back();
  const std::vector<AxisId> stays = ends(from, to).stays, joined = joined_axes(reshard.mesh, steps);
  if (!shared(stays, joined).empty()) return reshard;
  for (Spec* spec : {&from, &to})
    std::erase_if(spec->unfinished, [&](AxisId axis) { return contains(stays, axis); });
  return reshard;
}

std::optional<std::string> sums_for_nothing(const Transit& t, std::span<const Collective> steps) {
  const Mesh& mesh = t.e.c.mesh;
  if (t.e.idempotent) return "";  // it may be taken again
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (!reduces(steps[i]) || acts_of(mesh, steps.subspan(i, 1)).empty()) continue;
    if (adds_values(t.e, steps.first(i + 1))) continue;
    Trace less(steps.begin(), steps.end());
    less.erase(less.begin() + static_cast<std::ptrdiff_t>(i));
    if (does_nothing(t.e, steps, i) && brings_too_little(*t.reshard, less).empty())
      return fmt::format("its {} over {} adds up what needs no sum", steps[i].kind,
                         steps[i].axes.empty() ? "its groups" : dotted(steps[i].axes));
  }
  return "";
}

bool are_pieces(const Collective& one, const Collective& next) {
  return reduces(one) && one.kind == next.kind && one.axes == next.axes && one.groups == next.groups &&
         one.dtype == next.dtype && one.times == 1 && next.times == 1 && !one.moved && !next.moved;
}

// The most bytes that a device has of an array after a step.
std::int64_t held_after(const Collective& one, std::int64_t own, std::int64_t held) {
  if (one.kind == "all-gather") return std::max(held, one.out);
  return one.kind == "reduce-scatter" ? std::max(own, one.out) : held;
}

std::optional<std::string> lacks_as_they_stand(const Transit& t, std::span<const Collective> steps) {
  auto why = not_made(t.e, steps);
  if (why != "" || !t.reshard) return why;
  why = of_too_much(*t.reshard, steps);
  if (why == "" && !t.parts.empty())
    return learnt_too_little(*t.reshard, {steps.begin(), steps.end()}, t.parts);
  if (why == "") why = brings_too_little(*t.reshard, steps);
  const Case slice = of_each_slice(*t.reshard, steps);
  if (why == "" && !(result(slice) == result(*t.reshard)))
    why = not_made(execution(slice, slice.op.operands[0], result(slice)), steps);
  if (why == "") why = sums_for_nothing(t, steps);
  return why;
}

}  // namespace

std::optional<Trace> without_pieces(const Case& reshard, std::span<const Collective> steps) {
  Trace all;
  const std::int64_t own = largest_block_bytes(reshard.mesh, reshard.op.operands[0], reshard.rule);
  std::int64_t held = own;
  for (const Collective& step : steps) {
    if (all.empty() || !are_pieces(all.back(), step)) {
      if (!all.empty()) held = held_after(all.back(), own, held);
      all.push_back(step);
      continue;
    }
    all.back().in += step.in, all.back().out += step.out;
    if (all.back().in > held) return std::nullopt;
  }
  if (all.size() == steps.size()) return std::nullopt;
  return all;
}

Transit transit(const Case& c, const Spec& from, const Spec& to) {
  Case reshard = c;
  reshard.op = {Reshard{}, {from}, {to}};
  return {execution(c, from, to), std::move(reshard)};
}

std::string brings_too_little(const Case& whole, std::span<const Collective> steps) {
  const Case reshard = of_each_slice(whole, steps);
  const Trace trace(steps.begin(), steps.end());
  std::vector<Slice> due;
  for (std::int64_t d = 0; d < devices(reshard.mesh); ++d)
    due.push_back(block(reshard.mesh, result(reshard), reshard.rule, d));
  std::string why = learnt_too_little(reshard, trace);
  if (why.empty()) why = brought_too_little(reshard, trace);
  if (why.empty()) why = told_too_little(reshard, due, trace);
  return why;
}

namespace {

std::optional<std::string> lacks_in_pieces_too(const Transit& t, std::span<const Collective> steps) {
  const auto why = lacks_as_they_stand(t, steps);
  if (why == "" || !t.reshard) return why;
  const std::optional<Trace> whole = without_pieces(*t.reshard, steps);
  return whole && lacks_as_they_stand(t, *whole) == "" ? "" : why;
}

}  // namespace

std::optional<std::string> lacks(const Transit& t, std::span<const Collective> steps) {
  const auto why = lacks_in_pieces_too(t, steps);
  if (why != "" || !t.reshard) return why;
  Trace moving;
  std::ranges::copy_if(steps, std::back_inserter(moving), [&](const Collective& one) {
    return one.moved || one.kind == "send" || std::min(one.in, one.out) >= least_value(*t.reshard, one);
  });
  return moving.size() == steps.size() ? why : lacks_in_pieces_too(t, moving);
}

}  // namespace plumb

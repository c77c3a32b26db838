#include "harness/judge/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "harness/judge/blocks.h"
#include "harness/judge/cost.h"
#include "reference/bytes/bytes.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

struct Layouts {
  std::vector<Spec> operands;
  Spec result;
};

// The terms of the contracted letters that a device adds, and the piece of the result they belong to.
struct Work {
  std::map<char, Range> range;  // of every letter
  bool contradicts = false;     // the operands hold other pieces of one letter
  char letter = 0;
};

Work work(const Case& c, const Einsum& e, const Layouts& at, std::int64_t device) {
  Work w;
  const std::string* letters[] = {&e.lhs, &e.rhs};
  for (int i = 0; i < 2; ++i) {
    const Slice slice = block(c.mesh, at.operands[i], c.rule, device);
    for (std::size_t d = 0; d < slice.size(); ++d) {
      const char letter = (*letters[i])[d];
      const auto [found, added] = w.range.emplace(letter, slice[d]);
      if (!added && found->second != slice[d] && !w.contradicts) w.contradicts = true, w.letter = letter;
    }
  }
  return w;
}

std::string text(const Range& r) { return fmt::format("{}:{}", r.begin, r.end); }

// The axes over which the trace sums; nullopt where a sum is over groups that are no axes.
std::optional<std::vector<AxisId>> summed(const Case& c, const Trace& trace) {
  std::vector<AxisId> axes;
  for (const Collective& step : trace) {
    if (step.kind != "all-reduce" && step.kind != "reduce-scatter") continue;
    if (step.axes.empty()) return std::nullopt;
    for (const std::string& name : step.axes)
      axes.push_back(
          static_cast<AxisId>(std::ranges::find(c.mesh.axes, name, &Axis::name) - c.mesh.axes.begin()));
  }
  return axes;
}

// Whether the result's block lies in what the device makes.
std::optional<Fact> makes(const Case& c, const Einsum& e, const Layouts& at, const Work& w,
                          std::int64_t device) {
  const Slice due = block(c.mesh, at.result, c.rule, device);
  if (elements(due) == 0) return std::nullopt;
  for (std::size_t d = 0; d < due.size(); ++d) {
    const Range made = w.range.at(e.out[d]);
    if (made.begin <= due[d].begin && due[d].end <= made.end) continue;
    return fact(Status::wrong, fmt::format("a plan that does not compute the case: device {} makes {} of {}, "
                                           "and is said to hold {}",
                                           device, text(made), e.out[d], text(due[d])));
  }
  return std::nullopt;
}

// How often the terms of a fibre's devices cover each term: every one should stand once.
std::optional<Fact> terms(const Case& c, const Einsum& e, const std::vector<const Work*>& fibre,
                          std::int64_t device) {
  std::string letters;
  for (char letter : e.lhs)
    if (e.out.find(letter) == std::string::npos) letters += letter;
  std::int64_t all = 1, added = 0;
  for (char letter : letters) all *= c.op.operands[0].dims[e.lhs.find(letter)].size;
  const auto size = [&](const std::vector<Range>& box) {
    return std::accumulate(box.begin(), box.end(), std::int64_t{1}, [](std::int64_t n, const Range& r) {
      return n * std::max<std::int64_t>(r.size(), 0);
    });
  };
  std::vector<std::vector<Range>> boxes;
  for (const Work* w : fibre) {
    std::vector<Range> box;
    for (char letter : letters) box.push_back(w->range.at(letter));
    for (const std::vector<Range>& other : boxes) {
      std::vector<Range> both;
      for (std::size_t i = 0; i < box.size(); ++i)
        both.push_back({std::max(box[i].begin, other[i].begin), std::min(box[i].end, other[i].end)});
      if (size(both) == 0) continue;
      return fact(Status::wrong,
                  fmt::format("a plan that does not compute the case: {} terms over {} are added "
                              "more than once in the sum of device {}",
                              size(both), letters, device));
    }
    added += size(box);
    boxes.push_back(std::move(box));
  }
  if (added == all) return std::nullopt;
  return fact(
      Status::wrong,
      fmt::format("a plan that does not compute the case: the sum of device {} has {} of {} terms over {}",
                  device, added, all, letters));
}

std::optional<Fact> computes(const Case& c, const Einsum& e, const Layouts& at, std::vector<AxisId> axes) {
  axes.insert(axes.end(), at.result.unfinished.begin(), at.result.unfinished.end());
  std::vector<Work> all;
  for (std::int64_t device = 0; device < devices(c.mesh); ++device) {
    all.push_back(work(c, e, at, device));
    if (all.back().contradicts)
      return fact(
          Status::wrong,
          fmt::format("a plan that does not compute the case: device {} holds other pieces of {} in its "
                      "operands, {} and {}",
                      device, all.back().letter, print(c.mesh, at.operands[0]),
                      print(c.mesh, at.operands[1])));
    if (auto found = makes(c, e, at, all.back(), device)) return found;
  }
  if (std::set(axes.begin(), axes.end()).size() != axes.size())
    return fact(Status::wrong, "a plan that does not compute the case: it sums twice over one axis");
  for (const std::vector<std::int64_t>& devices : fibres(c.mesh, axes)) {
    std::vector<const Work*> fibre;
    for (std::int64_t device : devices) fibre.push_back(&all[device]);
    for (std::int64_t device : devices)
      for (const Work* other : fibre)
        if (auto found = makes(c, e, at, *other, device)) return found;
    if (auto found = terms(c, e, fibre, devices.front())) return found;
  }
  return std::nullopt;
}

void alike(const Spec& named, const Spec& asked) {
  if (named.dtype != asked.dtype || shape(named) != shape(asked))
    throw BadInput("another shape or dtype than in the case");
}

std::int64_t fewest(const Case& c, const Spec& from, const Spec& to) {
  Case reshard = c;
  reshard.op = {Reshard{}, {from}, {to}};
  const std::vector<std::int64_t> each = fewest_bytes(reshard);
  return std::accumulate(each.begin(), each.end(), std::int64_t{0});
}

// Less moved than the layouts it names need: then it is no plan.
std::optional<Fact> moves_too_little(const Case& c, const Outcome& outcome, const Layouts& at,
                                     const std::vector<AxisId>& axes) {
  Spec parts = at.result;
  parts.unfinished.insert(parts.unfinished.end(), axes.begin(), axes.end());
  std::int64_t need = fewest(c, parts, at.result) + fewest(c, at.result, result(c));
  for (std::size_t i = 0; i < at.operands.size(); ++i) need += fewest(c, c.op.operands[i], at.operands[i]);
  const std::int64_t said = cost(c, outcome).moved;
  if (said < 0 || said >= need) return std::nullopt;
  return fact(Status::wrong,
              fmt::format("a plan that does not compute the case: it moves {} bytes, its layouts need {}",
                          said, need));
}

}  // namespace

std::vector<Fact> plan_facts(const Case& c, const Outcome& outcome) {
  if (is_reshard(c)) return {};
  const auto* e = std::get_if<Einsum>(&c.op.kind);
  if (!e || outcome.plan.operands.size() != c.op.operands.size() || outcome.plan.result.empty())
    return {fact(Status::mistrusted,
                 "a plan that does not say how the operands meet: nothing could have been wrong")};
  Layouts at;
  try {
    for (std::size_t i = 0; i < c.op.operands.size(); ++i) {
      at.operands.push_back(parse_spec(outcome.plan.operands[i], c.mesh));
      alike(at.operands[i], c.op.operands[i]);
    }
    at.result = parse_spec(outcome.plan.result, c.mesh);
    alike(at.result, result(c));
  } catch (const BadInput& bad) {
    return {fact(Status::misplaced, fmt::format("a plan that names no layout: {}", bad.what()))};
  }
  if (std::ranges::any_of(at.operands, [](const Spec& s) { return !s.unfinished.empty(); }))
    return {fact(Status::mistrusted, "a plan whose operands meet unfinished is not judged")};
  const auto axes = summed(c, outcome.trace);
  if (!axes) return {fact(Status::mistrusted, "a plan that sums over groups which are no axes of the mesh")};
  if (auto found = computes(c, *e, at, *axes)) return {*found};
  if (auto found = moves_too_little(c, outcome, at, *axes)) return {*found};
  return {};
}

}  // namespace plumb

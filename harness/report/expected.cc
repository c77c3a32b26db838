#include "harness/report/expected.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "harness/measure/bandwidth.h"
#include "harness/measure/statistics.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

// What is compared with what: cases of one backend, on one mesh, of one dtype.
struct Timed {
  const Timings* timings = nullptr;
  Case c;
  Work work;
  std::string like;
  double least = 0, most = 0;  // of the medians of its repetitions
};

std::vector<Timed> comparable(const std::vector<Timings>& all) {
  std::vector<Timed> timed;
  for (const Timings& t : all) {
    const std::vector<double> each = medians(t);
    const Case c = parse_case(t.line);
    if (each.size() < fewest_compared || c.op.chain.size() > 1) continue;
    const auto [least, most] = std::ranges::minmax(each);
    timed.push_back({&t, c, work(c),
                     fmt::format("{} {} {}", t.backend, print(c.mesh), format(c.op.operands[0].dtype).name),
                     least, most});
  }
  return timed;
}

std::string microseconds(double nanoseconds) { return fmt::format("{:.4g} us", nanoseconds / 1000); }

void say_parts(const Timed& whole, const std::vector<Timed>& all, std::vector<std::string>& broken) {
  const auto part = [&](const char* kind) {
    return std::ranges::find_if(all, [&](const Timed& t) {
      return t.like == whole.like && t.work.kind == kind && t.work.bytes == whole.work.bytes &&
             t.work.devices == whole.work.devices;
    });
  };
  const auto scatter = part("reduce-scatter"), gather = part("all-gather");
  if (scatter == all.end() || gather == all.end() || whole.least <= scatter->most + gather->most) return;
  broken.push_back(
      fmt::format("{}  {}\n    its medians are {} at least, those of its reduce-scatter and all-gather {} and {} at most",
                  whole.timings->backend, whole.timings->line, microseconds(whole.least),
                  microseconds(scatter->most), microseconds(gather->most)));
}

void say_smaller(const Timed& large, const std::vector<Timed>& all, std::vector<std::string>& broken) {
  for (const Timed& small : all) {
    const bool alike = small.like == large.like && small.work.kind == large.work.kind &&
                       small.work.devices == large.work.devices && small.work.bytes < large.work.bytes;
    if (!alike || !is_reshard(large.c) || large.work.kind == "redistribution" || large.work.kind == "copy" || large.most >= small.least)
      continue;
    broken.push_back(fmt::format("{}  {}\n    its medians are {} at most, and those of less data {} at least: {}",
                                 large.timings->backend, large.timings->line, microseconds(large.most),
                                 microseconds(small.least), small.timings->line));
  }
}

bool whole(const Spec& spec) {
  return spec.unfinished.empty() &&
         std::ranges::all_of(spec.dims, [](const Dim& d) { return d.axes.empty(); });
}

double longest_copy(const Timings& t) {
  double most = 0;
  for (const Repetition& r : t.repetitions)
    if (const auto copy = r.limits.find("copy"); copy != r.limits.end()) most = std::max(most, copy->second);
  return most;
}

void say_slice(const Timed& one, const std::vector<Timed>& all, std::vector<std::string>& broken) {
  const Spec& to = one.c.op.chain.back();
  if (!is_reshard(one.c) || whole(to) || !to.unfinished.empty()) return;
  const auto gather = std::ranges::find_if(all, [&](const Timed& t) {
    return t.like == one.like && is_reshard(t.c) && t.c.op.operands == one.c.op.operands &&
           whole(t.c.op.chain.back()) && longest_copy(*t.timings) > 0;
  });
  if (gather == all.end()) return;
  const double copy = longest_copy(*gather->timings);
  if (one.least <= gather->most + copy) return;
  broken.push_back(
      fmt::format("{}  {}\n    its medians are {} at least, those of making the whole {} at most, and of copying it {}: {}",
                  one.timings->backend, one.timings->line, microseconds(one.least),
                  microseconds(gather->most), microseconds(copy), gather->timings->line));
}

// The einsum that is one expert of a grouped product on every device, all of them at once; nothing where the
// sizes differ, or an expert's are on several devices.
std::optional<std::string> one_expert_each(const Case& c) {
  const auto* g = std::get_if<Grouped>(&c.op.kind);
  if (!g || g->form != Form::fwd || g->sizes.size() != 1) return std::nullopt;
  const std::vector<std::int64_t>& sizes = g->sizes[0];
  const Spec &rows = c.op.operands[0], &weights = c.op.operands[1];
  const std::int64_t n = devices(c.mesh), experts = std::ssize(sizes);
  const bool equal =
      std::ranges::count(sizes, sizes[0]) == experts && sizes[0] * experts == rows.dims[0].size;
  const bool alike = rows.dims[0].axes == weights.dims[0].axes && axes_size(c.mesh, rows.dims[0].axes) == n;
  if (!equal || !alike || experts % n != 0) return std::nullopt;
  Case one = c;
  one.op.kind = Einsum{"bmk", "bkn", "bmn"};
  const Dim batch{n, rows.dims[0].axes};
  const auto cut = [&](Spec spec, std::int64_t m, std::int64_t k) {
    spec.dims = {
        batch, {m, {}},
         {k, {}}
    };
    return spec;
  };
  const std::int64_t k = weights.dims[1].size, wide = weights.dims[2].size;
  one.op.operands = {cut(rows, sizes[0], k), cut(weights, k, wide)};
  one.op.chain = {cut(c.op.chain.back(), sizes[0], wide)};
  return print(one);
}

void say_loop(const Timed& one, const std::vector<Timed>& all, std::vector<std::string>& broken) {
  const auto line = one_expert_each(one.c);
  if (!line) return;
  const auto expert = std::ranges::find_if(
      all, [&](const Timed& t) { return t.like == one.like && t.timings->line == *line; });
  if (expert == all.end()) return;
  const std::int64_t experts =
      one.c.op.operands[1].dims[0].size / axes_size(one.c.mesh, one.c.op.operands[1].dims[0].axes);
  if (one.least <= static_cast<double>(experts) * expert->most) return;
  broken.push_back(fmt::format(
      "{}  {}\n    its medians are {} at least, and those of one of the {} experts of a device, over which a loop goes {} times, {} at most: {}",
      one.timings->backend, one.timings->line, microseconds(one.least), experts, experts,
      microseconds(expert->most), *line));
}

}  // namespace

std::vector<std::string> broken_rules(const std::vector<Timings>& all) {
  const std::vector<Timed> timed = comparable(all);
  std::vector<std::string> broken;
  for (const Timed& one : timed) {
    if (one.work.kind == "all-reduce") say_parts(one, timed, broken);
    say_smaller(one, timed, broken);
    say_slice(one, timed, broken);
    say_loop(one, timed, broken);
  }
  return broken;
}

}  // namespace plumb

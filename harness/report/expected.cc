#include "harness/report/expected.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/measure/bandwidth.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

constexpr std::size_t fewest = 4;  // of repetitions: with three of each every order may be chance

// What is compared with what: cases of one backend, on one mesh, of one dtype.
struct Timed {
  const Timings* timings = nullptr;
  Work work;
  std::string like;
  double least = 0, most = 0;  // of the medians of its repetitions
};

std::vector<Timed> comparable(const std::vector<Timings>& all) {
  std::vector<Timed> timed;
  for (const Timings& t : all) {
    const std::vector<double> each = medians(t);
    const Case c = parse_case(t.line);
    if (each.size() < fewest || !is_reshard(c) || c.op.chain.size() > 1) continue;
    const auto [least, most] = std::ranges::minmax(each);
    timed.push_back({&t, work(c),
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
      fmt::format("{}  {}\n    it takes {} at least, its reduce-scatter and all-gather {} and {} at most",
                  whole.timings->backend, whole.timings->line, microseconds(whole.least),
                  microseconds(scatter->most), microseconds(gather->most)));
}

void say_smaller(const Timed& large, const std::vector<Timed>& all, std::vector<std::string>& broken) {
  for (const Timed& small : all) {
    const bool alike = small.like == large.like && small.work.kind == large.work.kind &&
                       small.work.devices == large.work.devices && small.work.bytes < large.work.bytes;
    if (!alike || large.work.kind == "redistribution" || large.most >= small.least) continue;
    broken.push_back(fmt::format("{}  {}\n    it takes {} at most, and less data {} at least: {}",
                                 large.timings->backend, large.timings->line, microseconds(large.most),
                                 microseconds(small.least), small.timings->line));
  }
}

}  // namespace

std::vector<std::string> broken_rules(const std::vector<Timings>& all) {
  const std::vector<Timed> timed = comparable(all);
  std::vector<std::string> broken;
  for (const Timed& one : timed) {
    if (one.work.kind == "all-reduce") say_parts(one, timed, broken);
    say_smaller(one, timed, broken);
  }
  return broken;
}

}  // namespace plumb

#include "harness/judge/plan_terms.h"

#include <fmt/format.h>

#include <map>
#include <numeric>
#include <set>

#include "reference/words/text.h"

namespace plumb {
namespace {

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

// Whether the result's block lies in what the device makes.
std::optional<Fact> makes(const Case& c, const Einsum& e, const Layouts& at, const Work& w,
                          std::int64_t device) {
  const Slice due = block(c.mesh, at.result, c.rule, device);
  if (elements(due) == 0) return std::nullopt;
  for (std::size_t d = 0; d < due.size(); ++d) {
    const Range made = w.range.at(e.out[d]);
    if (made.begin <= due[d].begin && due[d].end <= made.end) continue;
    return not_the_case(fmt::format("device {} makes {} of {}, and is said to hold {}", device, text(made),
                                    e.out[d], text(due[d])));
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
      std::vector<Range> twice;
      for (std::size_t i = 0; i < box.size(); ++i) twice.push_back(both(box[i], other[i]));
      if (size(twice) == 0) continue;
      return not_the_case(fmt::format("{} terms over {} are added more than once in the sum of device {}",
                                      size(twice), letters, device));
    }
    added += size(box);
    boxes.push_back(std::move(box));
  }
  if (added == all) return std::nullopt;
  return not_the_case(
      fmt::format("the sum of device {} has {} of {} terms over {}", device, added, all, letters));
}

}  // namespace

bool twice(const std::vector<AxisId>& axes) {
  return std::set(axes.begin(), axes.end()).size() != axes.size();
}

std::optional<Fact> contradicts(const Case& c, const Einsum& e, const Layouts& at) {
  for (std::int64_t device = 0; device < devices(c.mesh); ++device)
    if (const Work w = work(c, e, at, device); w.contradicts)
      return not_the_case(fmt::format("device {} holds other pieces of {} in its operands, {} and {}", device,
                                      w.letter, print(c.mesh, at.operands[0]),
                                      print(c.mesh, at.operands[1])));
  return std::nullopt;
}

std::optional<Fact> computes(const Case& c, const Einsum& e, const Layouts& at,
                             const std::vector<AxisId>& axes) {
  if (std::ranges::any_of(at.operands, [&](const Spec& s) { return parts(c.mesh, s) > 1; }))
    return std::nullopt;
  std::vector<Work> all;
  for (std::int64_t device = 0; device < devices(c.mesh); ++device) {
    all.push_back(work(c, e, at, device));
    if (auto found = makes(c, e, at, all.back(), device)) return found;
  }
  if (twice(axes)) return not_the_case("it sums twice over one axis");
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

}  // namespace plumb

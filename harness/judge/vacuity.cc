#include "harness/judge/vacuity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "harness/judge/in_common.h"
#include "harness/trace/needs.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

template <typename Value>
Tensor filled(const Tensor& like, Value value_at) {
  Tensor t = zeros(like.dtype, like.shape);
  const int size = format(t.dtype).bytes;
  for (std::int64_t i = 0; i < elements(t.shape); ++i)
    store(t.dtype, t.bytes.data() + i * size, encode(t.dtype, value_at(i)));
  return t;
}

bool passes(const Wanted& wanted, const Bound& bound, const Tensor& got) {
  for (std::int64_t i = 0; i < elements(got.shape); ++i)
    if (!within(bound, i, got.dtype, bits(got, i))) return false;
  return pooled_facts(wanted, bound, got).empty();
}

// Row p of the partial sums.
std::span<const std::byte> row(const Tensor& partials, std::int64_t p) {
  const std::size_t size = partials.bytes.size() / partials.shape[0];
  return std::span(partials.bytes).subspan(p * size, size);
}

double at(std::span<const std::byte> row, std::int64_t i) {
  return decode(DType::f64, load(DType::f64, row.data() + 8 * i));
}

bool alike(const Tensor& a, const Tensor& b) {
  for (std::int64_t i = 0; i < elements(a.shape); ++i)
    if (value(a, i) != value(b, i)) return false;
  return true;
}

// How many elements differ from what is wanted, of those that have errors in common as many as errors.
std::int64_t differ_by_themselves(const Wanted& wanted, const Bound& bound, const Tensor& got) {
  std::vector<std::int64_t> differ;
  for (std::int64_t i = 0; i < elements(got.shape); ++i)
    if (value(got, i) != value(wanted.whole, i)) differ.push_back(i);
  std::int64_t count = std::ssize(differ);
  for (const InCommon& all : errors_in_common(wanted, bound.reduction)) {
    std::map<std::int64_t, std::int64_t> of_class;
    for (std::int64_t i : differ) ++of_class[all.classes[i]];
    std::int64_t free = 0;
    for (const auto& [_, here] : of_class) free += std::min(here, all.errors);
    count = std::min(count, free);
  }
  return count;
}

// What a wrong result lacks from which `got` cannot be told; empty where it is none of those tried.
std::string unseen(const Wanted& wanted, const Bound& bound, const Tensor& got) {
  const bool rounds = wanted.certificate.scope == Certificate::Scope::none;
  const std::int64_t ranks = bound.partials.bytes.empty() ? 0 : bound.partials.shape[0];
  const auto exact = [&](std::int64_t i) { return value(bound.exact.value, i); };
  const auto confused = [&](const Tensor& lie) {
    return (!rounds || alike(lie, got)) && passes(wanted, bound, lie);
  };
  if (by_chance(wanted, bound, got, 2 + ranks)) return "";
  if (confused(zeros(wanted.whole.dtype, wanted.whole.shape))) return "zeros everywhere";
  if (!rounds) return "";
  if (confused(filled(wanted.whole, [&](std::int64_t i) { return exact(i) / 2; })))
    return "a half of every element";
  for (std::int64_t p = 0; p < ranks; ++p) {
    const std::span<const std::byte> share = row(bound.partials, p);
    if (confused(filled(wanted.whole, [&](std::int64_t i) { return exact(i) - at(share, i); })))
      return fmt::format("a sum without the share of rank {}", p);
  }
  return "";
}

// Why no check of this result could have failed; empty where one could.
std::string unfailing(const Case& c, std::size_t r, const Glance& whole, const Declared& declared) {
  const std::int64_t count = elements(whole.shape);
  if (!whole.alike) return "";
  const std::uint64_t first = whole.first;
  if (count == 1 && first != 0) return "";
  if (is_constant(c, r)) {
    if (masked_rows(c, declared) == 0 || masked_rows(c, declared) != whole.shape[0]) return "";
    return "every row is of no group, and the backend leaves these undefined: nothing could have been wrong";
  }
  return fmt::format("every wanted element is {}: misplaced ones would pass",
                     element_text(whole.dtype, first));
}

}  // namespace

std::optional<Fact> cannot_fail(const Case& c, std::span<const Tensor> wholes, const Declared& declared) {
  std::vector<Glance> seen;
  for (const Tensor& whole : wholes) {
    const std::int64_t count = elements(whole.shape);
    Glance& one = seen.emplace_back(Glance{whole.dtype, whole.shape, true, count > 0 ? bits(whole, 0) : 0});
    for (std::int64_t i = 1; i < count && one.alike; ++i) one.alike = bits(whole, i) == one.first;
  }
  return cannot_fail(c, seen, declared);
}

std::optional<Fact> cannot_fail(const Case& c, std::span<const Glance> wholes, const Declared& declared) {
  std::string why;
  for (std::size_t r = 0; r < wholes.size(); ++r) {
    if (elements(wholes[r].shape) == 0) continue;
    const std::string of_this = unfailing(c, r, wholes[r], declared);
    if (of_this.empty()) return std::nullopt;
    if (why.empty()) why = of_this;
  }
  if (why.empty()) return std::nullopt;
  return fact(Status::mistrusted, why);
}

bool by_chance(const Wanted& wanted, const Bound& bound, const Tensor& got, std::int64_t tried) {
  if (wanted.certificate.scope != Certificate::Scope::none) return false;
  const double halves = std::ldexp(
      tried, -static_cast<int>(std::min<std::int64_t>(differ_by_themselves(wanted, bound, got), 1000)));
  return halves > kFalseDoubt &&
         static_cast<double>(tried) * pooled_statistics(wanted, bound, got).chance > kFalseDoubt;
}

std::optional<Fact> vacuous(const Wanted& wanted, const Bound& bound, const Differences& differences,
                            const Tensor& got) {
  if (differences.unbounded > 0)
    return fact(Status::mistrusted,
                fmt::format("{} of the elements that differ may have overflowed on the way: the bound allows "
                            "anything there",
                            differences.unbounded));
  const std::string passing = unseen(wanted, bound, got);
  if (passing.empty()) return std::nullopt;
  const std::string differ = fmt::format("{} {} from what is wanted", counted(differences.rounded, "element"),
                                         differences.rounded == 1 ? "differs" : "differ");
  if (bound.split_unknown)
    return fact(Status::mistrusted,
                fmt::format("{}, where the sums of the case are exact. The trace does not say which devices "
                            "add up what, and for any split the bound would allow {}: it cannot be told "
                            "whether this is wrong",
                            differ, passing));
  return fact(Status::mistrusted,
              fmt::format("{}, and the bound would allow {}: it cannot be told whether this is wrong", differ,
                          passing));
}

}  // namespace plumb

#include "harness/judge/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "harness/judge/summed.h"
#include "reference/exact/exact.h"
#include "reference/meaning/meaning.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

// Memory in which nothing is due is filled with ones: NaN in every floating-point format.
bool poison(DType dtype, std::uint64_t bits) {
  return format(dtype).integer ? dtype == DType::s32 && bits == 0xffffffff : std::isnan(decode(dtype, bits));
}

bool zero(DType dtype, std::uint64_t bits) { return dtype != DType::e8m0 && decode(dtype, bits) == 0; }

std::vector<std::int64_t> index_of(std::span<const std::int64_t> shape, std::int64_t element) {
  std::vector<std::int64_t> index(shape.size());
  for (std::size_t d = shape.size(); d-- > 0; element /= shape[d]) index[d] = element % shape[d];
  return index;
}

// How many elements the parts of a fibre of an unfinished sum make only once their sum is rounded.
// Each part is a float, and so is the wanted number: their difference is 0 exactly where it is in f64, in
// which all of them lie.
std::int64_t unrounded(const Wanted& wanted, const std::vector<Held>& parts) {
  const Spec& spec = result(wanted.c);
  const std::int64_t mean_of = axes_size(wanted.c.mesh, spec.averaged);
  if (format(spec.dtype).integer || spec.reduction != Reduce::sum) return 0;
  const std::int64_t times = spec.dtype == DType::f64 ? mean_of : 1;  // the wanted sum may be in no format
  const int width = format(spec.dtype).bytes;
  const std::int64_t n = elements(parts.front().asked);
  Tensor terms = zeros(DType::f64, {std::ssize(parts) + times, n});
  const auto put = [&](std::int64_t part, std::int64_t i, double value) {
    std::memcpy(terms.bytes.data() + (part * n + i) * 8, &value, 8);
  };
  for (std::int64_t p = 0; p < std::ssize(parts); ++p)
    for (std::int64_t i = 0; i < n; ++i)
      put(p, i, decode(spec.dtype, load(spec.dtype, parts[p].bytes.data() + i * width)));
  each_run(wanted.whole.shape, parts.front().asked,
           [&](std::int64_t from, std::int64_t to, std::int64_t count) {
             for (std::int64_t i = 0; i < count; ++i) {
               const double want =
                   decode(spec.dtype, load(spec.dtype, wanted.whole.bytes.data() + (from + i) * width));
               for (std::int64_t t = 0; t < times; ++t)
                 put(std::ssize(parts) + t, to + i, -want * static_cast<double>(mean_of / times));
             }
           });
  const Tensor off = sum_parts(terms, DType::f64);
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < n; ++i)
    count += decode(DType::f64, load(DType::f64, off.bytes.data() + i * 8)) != 0;
  return count;
}

// The finished block of a fibre of an unfinished result: what its parts make, rounded once.
Held finished(const Case& c, std::vector<Held> parts) {
  Held sum = std::move(parts.front());
  Tensor stacked = zeros(result(c).dtype, {static_cast<std::int64_t>(parts.size()), elements(sum.asked)});
  const std::size_t size = stacked.bytes.size() / parts.size();
  for (std::size_t p = 0; p < parts.size(); ++p)
    std::memcpy(stacked.bytes.data() + p * size, (p == 0 ? sum : parts[p]).bytes.data(), size);
  sum.bytes = finish(c.mesh, result(c), stacked, result(c).dtype).bytes;
  return sum;
}

}  // namespace

std::string element_text(DType dtype, std::uint64_t bits) {
  if (format(dtype).integer) return fmt::format("{}", static_cast<std::int64_t>(decode(dtype, bits)));
  return fmt::format("{} (0x{:0{}x})", decode(dtype, bits), bits, 2 * format(dtype).bytes);
}

bool compare(const Wanted& wanted, const Held& held, const Bound* bound, Differences& differences) {
  const DType dtype = wanted.whole.dtype;
  const int size = format(dtype).bytes;
  // Of zeros. Codes are compared bit for bit, and so is what is only moved, in data that have +0 alone.
  const bool signs = is_quantize(wanted.c) || (!sums(wanted.c.op) && wanted.c.fill == Fill::provenance);
  bool identical = true, counted = false;
  const Slice& slice = held.slice();
  if (elements(slice) * size != static_cast<std::int64_t>(held.bytes.size())) return false;
  each_run(wanted.whole.shape, slice, [&](std::int64_t from, std::int64_t to, std::int64_t count) {
    const std::byte *want = wanted.whole.bytes.data() + from * size, *got = held.bytes.data() + to * size;
    if (std::memcmp(want, got, count * size) == 0) return;
    identical = false;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::uint64_t w = load(dtype, want + i * size), g = load(dtype, got + i * size);
      if (w == g || (!signs && zero(dtype, w) && zero(dtype, g))) continue;
      if (bound && within(*bound, from + i, dtype, g)) {
        ++differences.rounded;
        const bool pooled = wanted.certificate.scope == Certificate::Scope::none && finite(dtype, g);
        differences.unbounded += !pooled && allows_anything(*bound, from + i);
        continue;
      }
      Place& place = differences.place;
      if (place.elements++ == 0) {
        place.device = held.device;
        place.coordinates = coordinates_text(wanted.c.mesh, held.device);
        place.index = index_of(wanted.whole.shape, from + i);
        place.want = element_text(dtype, w);
        place.got = element_text(dtype, g);
      }
      if (!counted) ++place.devices, differences.devices.push_back(held.device), counted = true;
      if (poison(dtype, g) && !poison(dtype, w)) ++differences.poisoned;
    }
  });
  return identical;
}

ToCompare to_compare(const Wanted& wanted, const Outcome& outcome, const Read& read) {
  const Case& c = wanted.c;
  std::vector<Held> all;
  all.reserve(outcome.blocks.size());
  for (const Block& block : outcome.blocks) all.push_back(held(c, block, read));
  if (parts(c.mesh, result(c)) == 1) return {std::move(all), 0};
  std::ranges::sort(all, {}, &Held::device);
  ToCompare sums;
  for (const std::vector<std::int64_t>& fibre : fibres(c.mesh, result(c).unfinished)) {
    std::vector<Held> members;
    for (std::int64_t device : fibre) members.push_back(all[device]);
    const std::size_t due = elements(members.front().asked) * format(result(c).dtype).bytes;
    const auto as_due = [&](const Held& part) { return part.bytes.size() == due; };
    if (!std::ranges::all_of(members, as_due)) continue;
    if (wanted.certificate.scope != Certificate::Scope::none || only_copied(c))
      sums.unrounded += unrounded(wanted, members);
    sums.blocks.push_back(finished(c, std::move(members)));
  }
  return sums;
}

std::vector<Fact> value_facts(DType dtype, const Differences& differences) {
  const Place& place = differences.place;
  if (place.elements == 0) return {};
  // -1 is a number, too.
  const bool leaked =
      format(dtype).integer ? differences.poisoned == place.elements : differences.poisoned > 0;
  std::string index;
  for (std::int64_t i : place.index) index += fmt::format("{}{}", index.empty() ? "" : ",", i);
  Fact differ =
      fact(leaked ? Status::leaked : Status::wrong,
           fmt::format("{} on {}{}; the first on device {} ({}) at [{}]: want {}, got {}",
                       counted(place.elements, "element"), counted(place.devices, "device"),
                       leaked ? fmt::format(", {} of them poison or padding", differences.poisoned) : "",
                       place.device, place.coordinates, index, place.want, place.got));
  differ.place = place;
  return {std::move(differ)};
}

}  // namespace plumb

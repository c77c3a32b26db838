#include "reference/fill/by_index.h"

#include <bit>
#include <cmath>

#include "reference/fill/emit.h"
#include "reference/fill/hash.h"

namespace plumb {
namespace {

enum IndexKey : std::uint64_t { kElement = 1, kPart, kWinner };

std::uint64_t part_key(const Recipe& r, const Run& run) {
  return mix(key(r.seed, run.operand, kPart) + kGolden * static_cast<std::uint64_t>(run.part));
}

// The position of the run in the parts laid end to end.
std::uint64_t first(const Recipe& r, const Run& run) {
  return static_cast<std::uint64_t>(run.part * r.sources[run.operand].elements + run.begin);
}

}  // namespace

void write_run(const Recipe& r, const Provenance& p, const Run& run, std::byte* out) {
  const DType dtype = r.sources[run.operand].dtype;
  const int bytes = format(dtype).bytes;
  const std::uint64_t index = first(r, run), base = key(r.seed, run.operand, kElement);
  if (!p.distinct) {
    for (std::int64_t i = 0; i < run.count; ++i, out += bytes) {
      const std::uint64_t random = mix(base + kGolden * (index + i));
      store(dtype, out, pattern(p.patterns, below(random, static_cast<std::int64_t>(p.patterns.count))));
    }
    return;
  }
  std::uint64_t n = permuted(p.order, index);
  for (std::int64_t i = 0; i < run.count; ++i, out += bytes) {
    store(dtype, out, pattern(p.patterns, n));
    const std::uint64_t left = p.order.count - n;
    n = p.order.step < left ? n + p.order.step : p.order.step - left;
  }
}

void write_run(const Recipe& r, const Normal&, const Run& run, std::byte* out) {
  const std::uint64_t index = first(r, run), base = key(r.seed, run.operand, kElement);
  // 64 coins have the variance 16; a uniform 16-bit number, in units of 2^16 coins, (1 - 2^-32) / 12.
  const double scale = 1.0 / (65536.0 * std::sqrt(16.0 + 4 * (1.0 - 0x1p-32) / 12.0));
  emit(r.sources[run.operand].dtype, run.count, out, [&](std::int64_t i) {
    const std::uint64_t h = mix(base + kGolden * (index + i)), u = remix(h, base);
    const std::int64_t coins = std::popcount(h) - 32;
    const std::int64_t fine =
        static_cast<std::int64_t>((u & 0xffff) + (u >> 16 & 0xffff) + (u >> 32 & 0xffff) + (u >> 48)) -
        2 * 0xffff;
    return static_cast<double>(coins * 65536 + fine) * scale;
  });
}

void write_run(const Recipe& r, const Addends& a, const Run& run, std::byte* out) {
  const std::uint64_t base = key(r.seed, run.operand, kElement), part = part_key(r, run);
  const double unit = std::ldexp(static_cast<double>(a.unit.factor), a.unit.exponent);
  const Shares s = a.shares;
  emit(r.sources[run.operand].dtype, run.count, out, [=, p = run.part, begin = run.begin](std::int64_t i) {
    const std::uint64_t h = mix(base + kGolden * static_cast<std::uint64_t>(begin + i)), u = remix(h, part);
    return static_cast<double>(sign_of(u) * magnitude_of_part(s, h, p, u)) * unit;
  });
}

namespace {

// A number from [-most, top - 1] but zero, where -most < top <= most and top is not 0.
std::int64_t less_than(std::int64_t top, std::int64_t most, std::uint64_t random) {
  if (top < 0) return top - 1 - below(random, most + top);
  const std::int64_t n = below(random, most + top - 1) - most;
  return n < 0 ? n : n + 1;
}

}  // namespace

void write_run(const Recipe& r, const Contest& c, const Run& run, std::byte* out) {
  const std::uint64_t base = key(r.seed, run.operand, kElement), part = part_key(r, run);
  const std::uint64_t turns = key(r.seed, run.operand, kWinner);
  const double unit = std::ldexp(static_cast<double>(c.unit.factor), c.unit.exponent) * (c.largest ? 1 : -1);
  emit(r.sources[run.operand].dtype, run.count, out, [&](std::int64_t i) {
    const std::int64_t element = run.begin + i, round = element / c.parts;
    const std::int64_t winner =
        (element + below(mix(turns + kGolden * static_cast<std::uint64_t>(round)), c.parts)) % c.parts;
    const std::uint64_t h = mix(base + kGolden * static_cast<std::uint64_t>(element));
    const bool negative = (h & 1) != 0 && c.most > 1;
    const std::int64_t top =
        negative ? -1 - below(remix(h, base), c.most - 1) : 1 + below(remix(h, base), c.most);
    return static_cast<double>(run.part == winner ? top : less_than(top, c.most, remix(h, part))) * unit;
  });
}

void write_run(const Recipe& r, const Wrapping& w, const Run& run, std::byte* out) {
  const Source& source = r.sources[run.operand];
  const Wrapping::Operand& o = w.operand[run.operand];
  const int width = 8 * format(source.dtype).bytes;
  const std::uint64_t base = key(r.seed, run.operand, kElement), part = part_key(r, run);
  const std::int64_t words = (std::int64_t{1} << (width - o.shift)) - 1;
  emit(source.dtype, run.count, out, [&](std::int64_t i) {
    const std::uint64_t h = mix(base + kGolden * static_cast<std::uint64_t>(run.begin + i)),
                        u = remix(h, part);
    // The sign of an element is that of all its parts: they must not cancel to nothing.
    if (!o.whole_range) return static_cast<double>(sign_of(h) * magnitude_of_part(o.shares, h, run.part, u));
    const std::int64_t word = 1 + below(u, words);
    return static_cast<double>((o.odd ? word | 1 : word) << o.shift);
  });
}

}  // namespace plumb

#include "adapters/rank/arithmetic.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace plumb {
namespace {

void copy(const Combine& c, std::byte* to, const std::byte* from, std::int64_t count) {
  std::memcpy(to, from, count * format(c.acc).bytes);
}

// The wire holds every value of acc, and T adds as acc does.
template <class T>
void add_plain(const Combine&, std::byte* to, const std::byte* from, std::int64_t count) {
  auto* sums = reinterpret_cast<T*>(to);
  const auto* parts = reinterpret_cast<const T*>(from);
  for (std::int64_t i = 0; i < count; ++i) sums[i] += parts[i];
}

// In double: the sum of two elements of any narrower format is rounded correctly, for double has more
// than twice its digits and two.
void add_any(const Combine& c, std::byte* to, const std::byte* from, std::int64_t count) {
  constexpr std::int64_t most = 256;
  const int bytes = format(c.acc).bytes;
  std::array<double, most> sums, parts;
  std::array<std::byte, most * 8> message;
  for (std::int64_t i = 0; i < count; i += most) {
    const std::int64_t n = std::min(most, count - i);
    decode(c.acc, from + i * bytes, n, parts.data());
    encode(c.wire, parts.data(), n, message.data());
    decode(c.wire, message.data(), n, parts.data());
    decode(c.acc, to + i * bytes, n, sums.data());
    for (std::int64_t k = 0; k < n; ++k) sums[k] += parts[k];
    encode(c.acc, sums.data(), n, to + i * bytes);
  }
}

// As add_any, with the larger or smaller instead of the sum.
template <bool largest>
void take_any(const Combine& c, std::byte* to, const std::byte* from, std::int64_t count) {
  const int bytes = format(c.acc).bytes;
  for (std::int64_t i = 0; i < count; ++i) {
    const double part = decode(c.wire, encode(c.wire, decode(c.acc, load(c.acc, from + i * bytes))));
    const double best = decode(c.acc, load(c.acc, to + i * bytes));
    if (std::isnan(part) || (largest ? part > best : part < best))
      store(c.acc, to + i * bytes, encode(c.acc, part));
  }
}

}  // namespace

Combine taking(Reduce reduction, DType acc, DType wire) {
  return {reduction == Reduce::max ? take_any<true> : take_any<false>, acc, wire};
}

std::uint64_t neutral(DType dtype, Reduce reduction) {
  if (reduction == Reduce::sum) return encode(dtype, 0);
  const double most =
      format(dtype).integer ? format(dtype).largest + (reduction == Reduce::max) : format(dtype).largest;
  return encode(dtype, reduction == Reduce::max ? -most : most);
}

Combine copying(DType dtype) { return {copy, dtype, dtype}; }

Combine placing(DType acc, DType wire) { return {copy, acc, wire}; }

void combine_travelling(const Combine& c, std::byte* to, const std::byte* from, std::int64_t count) {
  if (c.acc == c.wire) return c.run(c, to, from, count);
  constexpr std::int64_t most = 256;
  const int travelling = format(c.wire).bytes;
  std::array<double, most> values;
  std::array<std::byte, most * 8> sums, parts;
  const auto read = [&](const std::byte* at, std::int64_t n, std::byte* into) {
    decode(c.wire, at, n, values.data());
    encode(c.acc, values.data(), n, into);
  };
  for (std::int64_t i = 0; i < count; i += most) {
    const std::int64_t n = std::min(most, count - i);
    read(to + i * travelling, n, sums.data());
    read(from + i * travelling, n, parts.data());
    c.run(c, sums.data(), parts.data(), n);
    decode(c.acc, sums.data(), n, values.data());
    encode(c.wire, values.data(), n, to + i * travelling);
  }
}

Combine adding(DType acc, DType wire) {
  if (acc == wire) {
    if (acc == DType::f32) return {add_plain<float>, acc, wire};
    if (acc == DType::f64) return {add_plain<double>, acc, wire};
    if (acc == DType::s32) return {add_plain<std::uint32_t>, acc, wire};
  }
  return {add_any, acc, wire};
}

}  // namespace plumb

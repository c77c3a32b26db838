#include "reference/words/dtype.h"

#include <bit>

#include "reference/words/clones.h"
#include "reference/words/element.h"

static_assert(std::endian::native == std::endian::little);

namespace plumb {
namespace {

template <DType dtype>
PLUMB_INLINE void decode_all(const std::byte* from, std::int64_t count, double* values) {
  using Word = typename As<dtype>::Word;
  for (std::int64_t i = 0; i < count; ++i) {
    Word word;
    std::memcpy(&word, from + i * sizeof(Word), sizeof(Word));
    values[i] = decode_one<dtype>(word);
  }
}

template <DType dtype>
PLUMB_INLINE void encode_all(const double* values, std::int64_t count, std::byte* to) {
  using Word = typename As<dtype>::Word;
  for (std::int64_t i = 0; i < count; ++i) {
    const Word word = static_cast<Word>(encode_one<dtype>(values[i]));
    std::memcpy(to + i * sizeof(Word), &word, sizeof(Word));
  }
}

}  // namespace

std::span<const Format> formats() { return kFormats; }

std::optional<DType> dtype_named(std::string_view name) {
  for (const Format& f : kFormats)
    if (f.name == name) return f.dtype;
  return std::nullopt;
}

double decode(DType dtype, std::uint64_t bits) {
  return with_dtype(dtype, [&]<DType d>() { return decode_one<d>(bits); });
}

std::uint64_t encode(DType dtype, double value) {
  return with_dtype(dtype, [&]<DType d>() { return encode_one<d>(value); });
}

PLUMB_CLONES void decode(DType dtype, const std::byte* from, std::int64_t count, double* values) {
  with_dtype(dtype, [&]<DType d>() PLUMB_LAMBDA { decode_all<d>(from, count, values); });
}

PLUMB_CLONES void encode(DType dtype, const double* values, std::int64_t count, std::byte* to) {
  with_dtype(dtype, [&]<DType d>() PLUMB_LAMBDA { encode_all<d>(values, count, to); });
}

bool holds(DType wide, DType narrow) {
  const Format &w = format(wide), &n = format(narrow);
  // The exponent of the smallest step.
  const auto finest = [](const Format& f) { return f.integer ? 0 : f.min_exponent - f.digits + 1; };
  return w.digits >= n.digits && w.largest >= n.largest && finest(w) <= finest(n);
}

bool finite(DType dtype, std::uint64_t bits) {
  return with_dtype(dtype, [&]<DType d>() {
    using T = As<d>;
    return T::f.integer || (bits & ~T::sign) < T::beyond;
  });
}

}  // namespace plumb

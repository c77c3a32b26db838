#include "reference/check/device/device_check.h"

#include "reference/check/device/elements.h"
#include "reference/device/each_index.h"
#include "reference/device/folded.h"

namespace plumb {
namespace {

void write_elements(const AtIndex& all, DType dtype, std::int64_t part, const Cutout& cut, std::byte* out) {
  std::visit(
      [&](const auto& data) {
        for_each_index(cut.count, WrittenElement<std::decay_t<decltype(data)>>{data, dtype, width_of(dtype),
                                                                               part, cut, out});
      },
      all);
}

void write_terms(const ProductAt& at, DType dtype, std::int64_t count, std::byte* out) {
  for_each_index(count, WrittenTerm{at, dtype, width_of(dtype), out});
}

template <class Run>
auto with_wrong_element(const MadeOf& m, const Cutout& cut, const std::byte* block, Run&& run) {
  return std::visit(
      [&](const auto& data) {
        return run(WrongElement<std::decay_t<decltype(data)>>{data, m.dtype, width_of(m.dtype), m.parts,
                                                              m.reduction, m.divisor, m.signs, cut, block});
      },
      m.data);
}

std::int64_t count_wrong(const MadeOf& m, const Cutout& cut, const std::byte* block) {
  return with_wrong_element(m, cut, block, [&](const auto& wrong) {
    return static_cast<std::int64_t>(sum_over(cut.count, wrong));
  });
}

std::int64_t find_wrong(const MadeOf& m, const Cutout& cut, const std::byte* block) {
  return with_wrong_element(m, cut, block, [&](const auto& wrong) { return first_index(cut.count, wrong); });
}

std::uint64_t digest_elements(DType dtype, const Cutout& cut, const std::byte* block, std::uint64_t seed) {
  return sum_over(cut.count, DigestedElement{mix(seed + kGolden), width_of(dtype), cut, block});
}

std::int64_t find_unlike(DType dtype, std::int64_t count, const std::byte* block) {
  return first_index(count, UnlikeElement{dtype, width_of(dtype), block});
}

template <class Sum>
void weigh_elements(const Weighed& w, const std::byte* box, const std::uint64_t* weights,
                    std::uint64_t* partial, std::uint64_t* sums) {
  const AnyElement any{w.dtype, width_of(w.dtype), w.scale};
  const auto weigh = [&]<class Read>(const Read& read) {
    constexpr int most = std::is_same_v<Read, AnyElement> ? 1 : Weighed::kAbreast;
    if (most > 1 && w.abreast())
      for_each_index(w.sums / most * w.pieces * Sum::lanes,
                     WeighedPiece<Sum, Read, most>{w, read, box, weights, partial});
    else
      for_each_index(w.sums * w.pieces * Sum::lanes,
                     WeighedPiece<Sum, Read, 1>{w, read, box, weights, partial});
  };
  const bool floats = w.scale >= 1 && w.scale <= 0x1p100;
  const auto by = static_cast<float>(floats ? w.scale : 1);
  if constexpr (std::is_same_v<Sum, WordSum>)
    weigh(any);
  else if (floats && w.dtype == DType::bf16)
    weigh(FloatElement<DType::bf16>{by});
  else if (floats && w.dtype == DType::f32)
    weigh(FloatElement<DType::f32>{by});
  else
    weigh(any);
  for_each_index(w.sums * Sum::lanes, GatheredSum<Sum>{w, partial, sums});
}

std::int64_t find_unwhole(DType dtype, double scale, std::int64_t count, const std::byte* block) {
  return first_index(count, UnwholeElement{dtype, width_of(dtype), scale, block});
}

const DeviceCheck& check_of_this_device() {
  static const DeviceCheck all{memory_of_this_device(),
                               write_elements,
                               write_terms,
                               count_wrong,
                               find_wrong,
                               digest_elements,
                               find_unlike,
                               weigh_elements<PrimeSum>,
                               weigh_elements<WordSum>,
                               find_unwhole};
  return all;
}

}  // namespace

#ifdef __CUDACC__
const DeviceCheck& check_on_card() { return check_of_this_device(); }
#else
const DeviceCheck& check_here() { return check_of_this_device(); }
#endif

}  // namespace plumb

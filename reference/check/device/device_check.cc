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

bool in_words(const void* at) { return reinterpret_cast<std::uintptr_t>(at) % sizeof(Word16) == 0; }

void write_terms(const ProductAt& at, DType dtype, std::int64_t count, std::byte* out) {
  const int width = width_of(dtype), most = static_cast<int>(sizeof(Word16)) / width;
  if (at.dims > 0 && at.dim[at.dims - 1].range.size() % most == 0 && in_words(out))
    return for_each_index(count / most, WrittenTerms{at, dtype, width, out});
  for_each_index(count, WrittenTerm{at, dtype, width, out});
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

std::uint64_t digest_signs(DType dtype, const Cutout& cut, const std::byte* block, std::uint64_t seed) {
  const std::uint64_t zero = signed_zero(dtype);
  if (zero == 0) return 0;
  return sum_over(cut.count, DigestedSign{
                                 {mix(seed + kGolden), width_of(dtype), cut, block},
                                 zero
  });
}

std::int64_t find_unlike(DType dtype, std::int64_t count, const std::byte* block) {
  return first_index(count, UnlikeElement{dtype, width_of(dtype), block});
}

template <class Sum>
void weigh_elements(const Weighed& w, const std::byte* box, const std::uint64_t* weights,
                    std::uint64_t* partial, std::uint64_t* sums) {
  const AnyElement any{w.dtype, width_of(w.dtype), w.scale};
  const auto weigh = [&]<class Read>(const Read& read) {
    const auto by = [&]<int count, int run>() {
      for_each_index(w.sums / count * w.pieces * Sum::lanes,
                     WeighedPiece<Sum, Read, count, run>{w, read, box, weights, partial});
    };
    if constexpr (Read::has_small) {
      if (w.abreast() && w.run == Read::run && in_words(box) && in_words(weights))
        return by.template operator()<Weighed::kAbreast, Read::run>();
      if (w.abreast()) return by.template operator()<Weighed::kAbreast, 1>();
    }
    by.template operator()<1, 1>();
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
                               digest_signs,
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

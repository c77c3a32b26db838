#include "reference/check/device/device_check.h"

#include "reference/check/device/elements.h"
#include "reference/device/each_index.h"

namespace plumb {
namespace {

void write_elements(const MadeOf& m, std::int64_t part, const Cutout& cut, std::byte* out) {
  std::visit(
      [&](const auto& data) {
        for_each_index(cut.count, WrittenElement<std::decay_t<decltype(data)>>{
                                      data, m.dtype, width_of(m.dtype), part, cut, out});
      },
      m.data);
}

std::int64_t first_wrong(const MadeOf& m, const Cutout& cut, const std::byte* block) {
  return std::visit(
      [&](const auto& data) {
        return first_index(cut.count, WrongElement<std::decay_t<decltype(data)>>{
                                          data, m.dtype, width_of(m.dtype), m.parts, m.reduction, m.divisor,
                                          m.signs, cut, block});
      },
      m.data);
}

std::uint64_t digest_elements(DType dtype, const Cutout& cut, const std::byte* block, std::uint64_t seed) {
  return sum_over(cut.count, DigestedElement{mix(seed + kGolden), width_of(dtype), cut, block});
}

}  // namespace

const DeviceCheck& check_here() {
  static const DeviceCheck all{write_elements, first_wrong, digest_elements};
  return all;
}

}  // namespace plumb

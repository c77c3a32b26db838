// Data written and proved where they lie, by kernels. device_check.cc is compiled for each device.
#pragma once

#include <cstddef>
#include <cstdint>

#include "reference/check/device/made.h"
#include "reference/check/device/weighed.h"
#include "reference/device/memory.h"
#include "reference/fill/product_at.h"

namespace plumb {

struct DeviceCheck {
  DeviceMemory memory;
  void (*write)(const AtIndex&, DType, std::int64_t part, const Cutout&, std::byte* out);
  void (*write_product)(const ProductAt&, DType, std::int64_t count, std::byte* out);
  // How many elements are not what their parts make, and the first of them; count where there is none.
  std::int64_t (*wrong)(const MadeOf&, const Cutout&, const std::byte* block);
  std::int64_t (*first_wrong)(const MadeOf&, const Cutout&, const std::byte* block);
  std::uint64_t (*digest)(DType, const Cutout&, const std::byte* block, std::uint64_t seed);
  std::uint64_t (*digest_signs)(DType, const Cutout&, const std::byte* block, std::uint64_t seed);
  // The first that is not like the first of all, zeros of both signs being alike.
  std::int64_t (*first_unlike)(DType, std::int64_t count, const std::byte* block);
  // Adds to sums, in the integers modulo 2^61 - 1, or 64 times modulo 2^32. Room for sums * pieces words, or
  // 64 times as many, is at `partial`.
  void (*weigh)(const Weighed&, const std::byte* box, const std::uint64_t* weights, std::uint64_t* partial,
                std::uint64_t* sums);
  void (*weigh_words)(const Weighed&, const std::byte* box, const std::uint64_t* weights,
                      std::uint64_t* partial, std::uint64_t* sums);
  // The first that times `scale` is no integer up to 2^53.
  std::int64_t (*first_unwhole)(DType, double scale, std::int64_t count, const std::byte* block);
};
const DeviceCheck& check_here();
const DeviceCheck& check_on_card();

}  // namespace plumb

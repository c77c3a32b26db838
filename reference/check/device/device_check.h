// Data written and proved where they lie, by kernels. device_check.cc is compiled for each device.
#pragma once

#include <cstddef>
#include <cstdint>

#include "reference/check/device/made.h"

namespace plumb {

// Of `first_wrong` count where every element is what its parts make.
struct DeviceCheck {
  void (*write)(const MadeOf&, std::int64_t part, const Cutout&, std::byte* out);
  std::int64_t (*first_wrong)(const MadeOf&, const Cutout&, const std::byte* block);
  std::uint64_t (*digest)(DType, const Cutout&, const std::byte* block, std::uint64_t seed);
};
const DeviceCheck& check_here();

}  // namespace plumb

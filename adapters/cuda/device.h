// A device that works on blocks: a card, or this processor in its place. device.cc is compiled for each.
#pragma once

#include <string>

#include "adapters/cuda/work.h"
#include "adapters/protocol/device_memory.h"
#include "adapters/rank/hands.h"

namespace plumb::cuda {

struct Device {
  std::string name;  // of the card, by its driver
  const DeviceCheck* memory = nullptr;
  Hands hands;
  void (*move)(const Moves&) = nullptr;
  void (*multiply)(const Products&) = nullptr;
  void (*spin)(const std::int64_t* one) = nullptr;  // does not end as long as 1 stands there, in its memory
  bool (*lost)() = nullptr;     // after an error: whether this process can do nothing more with it
  std::string engine = "ieee";  // how that adds up
};

const Device& this_processor();

// The first card, or in `why` why there is none.
const Device* card(std::string& why);

}  // namespace plumb::cuda

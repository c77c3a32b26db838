// A device that works on blocks: a card, or this processor in its place. device.cc is compiled for each.
#pragma once

#include <string>

#include "adapters/cuda/work.h"
#include "adapters/rank/hands.h"

namespace plumb::cuda {

struct Device {
  std::string name;  // of the card, by its driver
  Hands hands;
  void (*move)(const Moves&) = nullptr;
  void (*multiply)(const Products&) = nullptr;
};

const Device& this_processor();

// The first card, or in `why` why there is none.
const Device* card(std::string& why);

}  // namespace plumb::cuda

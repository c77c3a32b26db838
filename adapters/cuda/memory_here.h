// This processor in the place of a card: its name and its memory.
#pragma once

#include <cstdint>
#include <string>

#include "adapters/rank/hands.h"

namespace plumb::cuda {
namespace {

std::string device_name() { return "this processor"; }

using RecastAll = void(const Recast&, const std::byte*, std::byte*, std::int64_t);
Hands hands_with(RecastAll* recast) {
  Hands hands = own_hands();
  hands.recast = recast;
  return hands;
}

}  // namespace
}  // namespace plumb::cuda

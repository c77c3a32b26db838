// This processor in the place of a card: its memory, and a loop.
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

template <class Work>
void for_each_index(std::int64_t count, const Work& work) {
  for (std::int64_t i = 0; i < count; ++i) work(i);
}

}  // namespace
}  // namespace plumb::cuda

#include <fmt/format.h>

#include <stdexcept>

#include "adapters/protocol/serve.h"

namespace plumb {

std::span<std::byte> Arena::take(std::size_t bytes) {
  constexpr std::size_t alignment = 64;
  const std::size_t begin = (next + alignment - 1) / alignment * alignment;
  if (begin > whole.size() || bytes > whole.size() - begin)
    throw std::length_error(
        fmt::format("the arena of {} bytes has no room for {} more after {}", whole.size(), bytes, next));
  next = begin + bytes;
  return whole.subspan(begin, bytes);
}

std::uint64_t Arena::offset(std::span<const std::byte> taken) const {
  return static_cast<std::uint64_t>(taken.data() - whole.data());
}

}  // namespace plumb

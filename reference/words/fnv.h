// FNV-1a in 64 bits (draft-eastlake-fnv): of data that a line names, and of texts that must stay as they are.
#pragma once

#include <cstdint>
#include <string_view>

namespace plumb {

// The hash of the bytes after those that made `hash`.
inline std::uint64_t fnv(std::string_view bytes, std::uint64_t hash = 0xcbf29ce484222325) {
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return hash;
}

}  // namespace plumb

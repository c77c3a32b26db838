#include <utility>

#include "reference/words/op.h"
#include "reference/words/text.h"

namespace plumb {

std::uint64_t data_seed(const Case& c) {
  if (c.seed) return *c.seed;
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char byte : print(c)) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return hash;
}

Case seeded(Case c) {
  c.seed = data_seed(c);
  return c;
}

}  // namespace plumb

#include <utility>

#include "reference/words/fnv.h"
#include "reference/words/op.h"
#include "reference/words/text.h"

namespace plumb {

std::uint64_t data_seed(const Case& c) { return c.seed ? *c.seed : fnv(print(c)); }

Case seeded(Case c) {
  c.seed = data_seed(c);
  return c;
}

}  // namespace plumb

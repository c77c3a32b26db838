#include "harness/sweep/data.h"

#include <fmt/format.h>

#include <set>

#include "reference/fill/fill.h"
#include "reference/words/text.h"

namespace plumb {

Digests digests(const Case& c) {
  Digests all;
  for (std::size_t i = 0; i < c.op.operands.size(); ++i) all.push_back(digest(fill(c, static_cast<int>(i))));
  return all;
}

std::string data_in_words(std::uint64_t seed, const std::vector<Digests>& cases) {
  if (cases.empty() || cases.front().empty()) return "";
  const std::string meshes = cases.size() == 1 ? "the one mesh" : fmt::format("all {} meshes", cases.size());
  std::string others;
  for (std::size_t i = 0; i < cases.front().size(); ++i) {
    std::set<std::uint64_t> different;
    for (const Digests& one : cases) different.insert(one[i]);
    if (different.size() > 1)
      others += fmt::format("{} of operand {} there are {}", others.empty() ? ":" : ",", i, different.size());
  }
  if (others.empty()) return fmt::format("the same data on {} (seed={})\n", meshes, seed);
  return fmt::format("not the same data on {}, though seed={} is{}\n", meshes, seed, others);
}

}  // namespace plumb

#include "harness/judge/replicas.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/judge/values.h"
#include "harness/trace/slices.h"
#include "reference/words/text.h"

namespace plumb {

// Their place along the axes that split the result or leave it unfinished; of a free result, the first that
// says the same slice.
std::vector<std::int64_t> replica_keys(const Case& c, const std::vector<Block>& blocks) {
  std::vector<std::int64_t> keys;
  std::map<std::vector<std::int64_t>, std::int64_t> slices;
  std::vector<AxisId> named = result(c).unfinished;
  for (const Dim& dim : result(c).dims) named.insert(named.end(), dim.axes.begin(), dim.axes.end());
  for (const Block& block : blocks) {
    if (!result(c).free) {
      keys.push_back(coordinate(c.mesh, named, block.device));
      continue;
    }
    std::vector<std::int64_t> bounds;
    for (const Range& range : joined(block).value_or(Slice{
             {-1 - block.device, 0}
    }))
      bounds.insert(bounds.end(), {range.begin, range.end});
    keys.push_back(slices.try_emplace(bounds, std::ssize(slices)).first->second);
  }
  return keys;
}

bool has_replicas(const Case& c, const Outcome& outcome) {
  std::vector<std::int64_t> keys = replica_keys(c, outcome.blocks);
  std::ranges::sort(keys);
  return std::ranges::adjacent_find(keys) != keys.end();
}

std::vector<Fact> replica_facts(const Case& c, const Outcome& outcome, const Read& read, bool right) {
  const std::vector<std::int64_t> keys = replica_keys(c, outcome.blocks);
  std::vector<std::vector<std::byte>> first(outcome.blocks.size());
  std::vector<std::int64_t> owner(first.size(), -1);
  std::int64_t diverged = 0;
  std::string text;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Block& block = outcome.blocks[i];
    const std::int64_t key = keys[i];
    std::vector<std::byte> bytes(block.bytes);
    if (!bytes.empty()) read(block, bytes);
    if (owner[key] < 0) {
      owner[key] = block.device;
      first[key] = std::move(bytes);
    } else if (bytes != first[key] && diverged++ == 0) {
      const int size = format(result(c).dtype).bytes;
      const std::size_t length = std::min(bytes.size(), first[key].size());
      const std::size_t at =
          (std::mismatch(bytes.begin(), bytes.begin() + length, first[key].begin()).first - bytes.begin()) /
          size;
      text = fmt::format("device {} ({}) differs from device {} ({})", block.device,
                         coordinates_text(c.mesh, block.device), owner[key],
                         coordinates_text(c.mesh, owner[key]));
      if (at * size < length)
        text +=
            fmt::format(" at element {} of the block: {} and {}", at,
                        element_text(result(c).dtype, load(result(c).dtype, bytes.data() + at * size)),
                        element_text(result(c).dtype, load(result(c).dtype, first[key].data() + at * size)));
    }
  }
  if (diverged == 0) return {};
  if (right)
    text += result(c).unfinished.empty()
                ? "; every replica is right but for rounding"
                : "; the finished result is right on every replica, only its parts differ";
  return {fact(Status::diverged,
               fmt::format("{} {} other bits than the first of their replicas: {}",
                           counted(diverged, "device"), diverged == 1 ? "holds" : "hold", text))};
}

}  // namespace plumb

#include "adapters/rank/hand_over.h"

#include <cstring>

#include "adapters/protocol/ranks.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

void hand_over(const Holder& holder, const Blocks& result, Arena& arena, Outcome& o) {
  const std::int64_t index = std::ssize(o.claims);
  for (std::int64_t device = 0; device < devices(*holder.mesh); ++device) {
    const bool own = holder.own.begin <= device && device < holder.own.end;
    const Slice slice = own ? result.slice(device) : block(*holder.mesh, result.spec, holder.rule, device);
    const std::int64_t bytes = elements(slice) * format(result.stored).bytes;
    const std::span<std::byte> place = arena.take(bytes);
    if (own && bytes > 0) {
      std::memcpy(place.data(), result.block(device), bytes);
      send_written(arena.offset(place), bytes);
    }
    std::vector<std::vector<Range>> claim;
    for (const Range& range : slice) claim.push_back({range});
    o.blocks.push_back(
        {device, index, arena.offset(place), static_cast<std::uint64_t>(bytes), std::move(claim)});
  }
}

}  // namespace

Outcome hand_over(const Holder& holder, const Done& done, Arena& arena) {
  Outcome o;
  for (const Blocks& result : done.results) {
    hand_over(holder, result, arena, o);
    o.claims.push_back(print(*holder.mesh, result.spec));
  }
  o.trace = done.trace;
  o.received = done.received;
  return o;
}

}  // namespace plumb

#include "adapters/rank/hand_over.h"

#include <algorithm>
#include <cassert>

#include "adapters/protocol/ranks.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

void hand_over(const Holder& holder, const Blocks& result, Arena* arena, Outcome& o) {
  const std::int64_t index = std::ssize(o.claims);
  for (std::int64_t device = 0; device < devices(*holder.mesh); ++device) {
    const bool own = holder.own.begin <= device && device < holder.own.end;
    const Slice slice = own ? result.slice(device) : block(*holder.mesh, result.spec, holder.rule, device);
    const auto bytes = static_cast<std::size_t>(elements(slice) * format(result.stored).bytes);
    std::vector<std::vector<Range>> claim;
    for (const Range& range : slice) claim.push_back({range});
    o.blocks.push_back({device, index, 0, bytes, std::move(claim)});
    if (!arena) {
      o.lying.emplace_back(own ? result.block(device) : nullptr, own ? bytes : 0);
      continue;
    }
    const std::span<std::byte> place = arena->take(bytes);
    o.blocks.back().offset = arena->offset(place);
    if (!own || bytes == 0) continue;
    result.hands->memory.get(place.data(), result.block(device), bytes);
    send_written(arena->offset(place), bytes);
  }
}

}  // namespace

// Here, and not as it is carried out: that is under the clock.
Outcome hand_over(const Holder& holder, const Ready& ready, Arena* arena) {
  assert(std::ranges::all_of(ready.passage.blocks, intact));
  Outcome o;
  for (const Blocks* result : ready.results) {
    hand_over(holder, *result, arena, o);
    o.claims.push_back(print(*holder.mesh, result->spec));
  }
  o.trace = ready.trace;
  o.received = ready.received;
  return o;
}

void note_unused(const std::string& algorithm, Outcome& o) {
  if (algorithm.empty() || std::ranges::count(o.trace, "all-reduce", &Collective::kind) > 0) return;
  o.notes.push_back("algorithm=" + algorithm + " chose nothing: there was no all-reduce");
}

}  // namespace plumb

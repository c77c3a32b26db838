// The ways in which what is met can come from those who hold it to those who want it.
#pragma once

#include "adapters/plan/intersections.h"
#include "adapters/plan/plan.h"

namespace plumb {

// The devices among which a meeting is shared out: as offsets, and those without the summed axes.
struct Owners {
  std::vector<std::int64_t> all, unsummed;
};

// A choice of what becomes of the axes, and the offsets of those who take part. Where a device that
// wants it holds a part, all such devices share a sum; otherwise all that hold a part do, and the
// meetings of a block fall on them in turn.
struct Way {
  Roles roles;
  std::vector<std::vector<Overlap>> dims;
  AxisSet pinned = 0;  // by holders and wanters both; where they differ no device is both
  std::vector<std::int64_t> kept, summed, wanters;
  Owners wanting, holding;
  std::int64_t shares = 1;                    // of a meeting among `holding`
  std::vector<std::int64_t> copiers, beside;  // of a move: wanters of all parts, the holder nearest to each
};

struct Meeting {
  std::vector<Range> box;
  Concerned place;
};

// Whether a device holds what is met, or a part of it, and wants it.
bool holder_wants(const Grid&, const Way&, const Concerned&);
Volume volume(const Grid&, const Way&, const Meeting&);

// A reshard with its ways, the given one first. An axis that stays unfinished may keep its parts, or they
// may be added up on one device along it and stand beside zeros: fewer bytes where each part would
// have to move.
struct Routing {
  const Mesh& mesh;
  const Spec &from, &to;
  Rule rule;
  Grid g;
  bool stays = false;  // every device has the same block before and after
  std::vector<Way> ways;
  std::vector<std::uint8_t> choice;  // per meeting the cheapest way; empty: the first
};
Routing routing(const Mesh&, const Spec& from, const Spec& to, Rule);

// Calls run(way, meeting) for every meeting with the way that was chosen for it.
template <class Run>
void each_choice(const Routing& t, Run&& run) {
  Meeting met;
  for (std::size_t w = 0; w < t.ways.size(); ++w) {
    std::size_t i = 0;
    each_meeting(t.ways[w].dims, [&](const std::vector<Range>& box, const Concerned& place) {
      if (!t.choice.empty() && t.choice[i++] != w) return;
      met.box = box, met.place = place;
      run(t.ways[w], met);
    });
  }
}

}  // namespace plumb

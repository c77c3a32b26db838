#include "reference/hlo/run/groups.h"

namespace plumb::hlo {
namespace {

std::vector<Integers> each_alone(std::int64_t devices) {
  std::vector<Integers> groups;
  for (std::int64_t d = 0; d < devices; ++d) groups.push_back({d});
  return groups;
}

// Whether the groups are of replicas; there is one.
bool of_replicas(const Groups& groups) { return expand(groups, 1) == std::vector<Integers>{{0}}; }

void check(const std::vector<Integers>& groups, std::int64_t devices) {
  std::vector<bool> met(static_cast<std::size_t>(devices));
  std::int64_t members = 0;
  for (const Integers& group : groups) {
    require(group.size() == groups[0].size() && !group.empty(), "replica_groups= of one size");
    for (const std::int64_t d : group) {
      require(d >= 0 && d < devices && !met[static_cast<std::size_t>(d)],
              "replica_groups= have each device once");
      met[static_cast<std::size_t>(d)] = true;
      ++members;
    }
  }
  require(members == devices, "replica_groups= have each device once");
}

}  // namespace

std::vector<Integers> groups_of(const Instruction& i, std::int64_t devices) {
  require(devices > 0, "no collective within a reduction");
  const auto groups = get<Groups>(i, Key::replica_groups);
  const bool channel = find(i, Key::channel_id), global = get<bool>(i, Key::use_global_device_ids);
  const bool moves = i.opcode == Opcode::all_to_all || i.opcode == Opcode::collective_broadcast ||
                     i.opcode == Opcode::ragged_all_to_all;
  require(channel || !global, "use_global_device_ids= without a channel_id=");
  if (!channel || (!global && !moves)) {
    require(of_replicas(groups), "replica_groups= of replicas, of which there is one");
    return channel ? expand(Groups{}, devices) : each_alone(devices);
  }
  const std::vector<Integers> lists = expand(groups, devices);
  check(lists, devices);
  return lists;
}

Ranks ranks_of(const std::vector<Integers>& groups, std::int64_t devices) {
  Ranks ranks{Integers(static_cast<std::size_t>(devices)), Integers(static_cast<std::size_t>(devices))};
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (std::size_t m = 0; m < groups[g].size(); ++m) {
      ranks.group[static_cast<std::size_t>(groups[g][m])] = static_cast<std::int64_t>(g);
      ranks.rank[static_cast<std::size_t>(groups[g][m])] = static_cast<std::int64_t>(m);
    }
  return ranks;
}

Integers sources_of(const Instruction& i, std::int64_t devices) {
  require(devices > 0, "no collective within a reduction");
  Integers sources(static_cast<std::size_t>(devices), -1);
  const bool channel = find(i, Key::channel_id);
  std::vector<bool> sent(sources.size());
  for (const auto& [source, target] : get<std::vector<Pair>>(i, Key::source_target_pairs)) {
    if (!channel) {  // of replicas: what the one of each device sends, it sends itself
      require(source == 0 && target == 0, "source_target_pairs= of replicas, of which there is one");
      for (std::int64_t d = 0; d < devices; ++d) sources[static_cast<std::size_t>(d)] = d;
      continue;
    }
    require(0 <= source && source < devices && 0 <= target && target < devices,
            "source_target_pairs= of devices");
    require(sources[static_cast<std::size_t>(target)] < 0, "source_target_pairs= with a target twice");
    require(!sent[static_cast<std::size_t>(source)], "source_target_pairs= with a source twice");
    sent[static_cast<std::size_t>(source)] = true;
    sources[static_cast<std::size_t>(target)] = source;
  }
  return sources;
}

}  // namespace plumb::hlo

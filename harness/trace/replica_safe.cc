#include "harness/trace/replica_safe.h"

#include <algorithm>
#include <map>
#include <set>

#include "harness/trace/steps.h"

namespace plumb {
namespace {

using Tag = std::int64_t;

// Tags of a group's members become one: a reduction's is new, that of a move joins theirs.
Tag joined(const Collective& one, const std::vector<std::int64_t>& group, const std::vector<Tag>& tags,
           std::map<std::vector<std::int64_t>, Tag>& named) {
  std::set<Tag> distinct;
  for (std::int64_t device : group) distinct.insert(tags[device]);
  if (!reduces(one) && distinct.size() == 1) return *distinct.begin();
  std::vector<std::int64_t> name{reduces(one)};
  if (reduces(one)) {
    name.insert(name.end(), group.begin(), group.end());
    for (std::int64_t device : group) name.push_back(tags[device]);
  } else {
    name.insert(name.end(), distinct.begin(), distinct.end());
  }
  return named.emplace(std::move(name), std::ssize(named) + 1).first->second;
}

void advance_tags(const Mesh& mesh, const Collective& one, std::vector<Tag>& tags,
                  std::map<std::vector<std::int64_t>, Tag>& named) {
  const std::vector<Tag> before = tags;
  for (const auto& [from, to] : one.pairs) tags[to] = before[from];
  for (const std::vector<std::int64_t>& group : groups_of(mesh, one)) {
    if (group.size() < 2) continue;
    const Tag tag = joined(one, group, before, named);
    for (std::int64_t device : group) tags[device] = tag;
  }
}

}  // namespace

std::optional<bool> replica_safe(const Case& c, const Trace& trace) {
  const auto known = [](const Collective& one) { return one.kind != "send" && !names_nobody(one); };
  if (!std::ranges::all_of(trace, known) || std::ranges::none_of(trace, reduces)) return std::nullopt;
  std::vector<Tag> tags(devices(c.mesh), 0);
  std::map<std::vector<std::int64_t>, Tag> named;
  for (const Collective& one : trace) advance_tags(c.mesh, one, tags, named);
  std::map<std::vector<std::int64_t>, Tag> first;  // of those that hold the same
  bool replicas = false, safe = true;
  for (std::int64_t device = 0; device < devices(c.mesh); ++device) {
    const Slice slice = block(c.mesh, result(c), c.rule, device);
    if (elements(slice) == 0) continue;
    std::vector<std::int64_t> held{part(c.mesh, result(c), device)};
    for (const Range& range : slice) held.push_back(range.begin);  // pieces that begin alike are the same
    const auto [at, added] = first.emplace(std::move(held), tags[device]);
    replicas |= !added;
    safe &= at->second == tags[device];
  }
  if (!replicas) return std::nullopt;
  return safe;
}

}  // namespace plumb

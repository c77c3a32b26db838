#include "reference/fill/members.h"

#include <map>
#include <utility>

namespace plumb {

MembersDrawn members(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
  const auto part = [&](std::size_t i) { return std::pair(a[i], b.empty() ? 0 : b[i]); };
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> seen;
  MembersDrawn m;
  for (std::size_t i = 0; i < a.size(); ++i) m.number.push_back(seen[part(i)]++);
  for (std::size_t i = 0; i < a.size(); ++i) m.count.push_back(seen[part(i)]);
  return m;
}

}  // namespace plumb

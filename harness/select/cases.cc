#include "harness/select/cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "harness/select/sample.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

std::int64_t total(const std::vector<Pattern>& patterns) {
  std::int64_t n = 0;
  for (const Pattern& p : patterns) n += count(p);
  return n;
}

std::size_t group_of(const Cases& cases, std::int64_t n) {
  assert(0 <= n && n < count(cases));
  return std::ranges::upper_bound(cases.ends, n) - cases.ends.begin();
}

}  // namespace

Cases cases_of(std::vector<Row> rows) {
  Cases cases;
  std::int64_t end = 0;
  for (Row& row : sized(std::move(rows), {})) {
    Group group{std::move(row), {}, {}};
    try {
      group.patterns = parse_pattern(group.row.line);
    } catch (const BadInput& error) {
      if (group.row.origin.empty()) throw;
      throw BadInput(fmt::format("{}: {}", group.row.origin, error.what()));
    }
    std::int64_t n = total(group.patterns);
    if (group.row.sample > 0) {
      group.picked = sample(n, group.row.sample, group.row.seed);
      n = static_cast<std::int64_t>(group.picked.size());
    }
    cases.ends.push_back(end += n);
    cases.groups.push_back(std::move(group));
  }
  return cases;
}

std::int64_t count(const Cases& cases) { return cases.ends.empty() ? 0 : cases.ends.back(); }

namespace {

// The pattern that case n is of, and its number there.
struct Found {
  const Pattern& pattern;
  std::int64_t n;
};

Found find(const Cases& cases, std::int64_t n) {
  const std::size_t g = group_of(cases, n);
  const Group& group = cases.groups[g];
  if (g > 0) n -= cases.ends[g - 1];
  if (!group.picked.empty()) n = group.picked[n];
  std::size_t p = 0;
  for (; n >= count(group.patterns[p]); ++p) n -= count(group.patterns[p]);
  return {group.patterns[p], n};
}

}  // namespace

Case nth(const Cases& cases, std::int64_t n) {
  const Found found = find(cases, n);
  return nth(found.pattern, found.n);
}

const Mesh& mesh_of(const Cases& cases, std::int64_t n) { return find(cases, n).pattern.like.mesh; }

const Row& row_of(const Cases& cases, std::int64_t n) { return cases.groups[group_of(cases, n)].row; }

}  // namespace plumb

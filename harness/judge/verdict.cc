#include "harness/judge/verdict.h"

#include <algorithm>
#include <array>

namespace plumb {
namespace {

constexpr std::array<std::string_view, statuses> names = {
    "unrun", "unsupported", "hung",     "crashed",    "reneged",  "misplaced", "leaked",
    "wrong", "diverged",    "unstable", "mistrusted", "wasteful", "pass",      "waived"};

}  // namespace

std::string_view name(Status status) { return names[static_cast<int>(status)]; }

std::optional<Status> status_named(std::string_view text) {
  const auto found = std::ranges::find(names, text);
  if (found == names.end()) return std::nullopt;
  return static_cast<Status>(found - names.begin());
}

bool finding(Status status) {
  return status != Status::unrun && status != Status::unsupported && status != Status::pass &&
         status != Status::waived;
}

}  // namespace plumb

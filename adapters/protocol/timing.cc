#include "adapters/protocol/timing.h"

#include <array>

namespace plumb {
namespace {

constexpr std::array<std::string_view, 3> sync_names{"none", "barrier", "window"};

}  // namespace

std::string_view name(Sync sync) { return sync_names[static_cast<std::size_t>(sync)]; }

std::optional<Sync> sync_named(std::string_view text) {
  for (std::size_t i = 0; i < sync_names.size(); ++i)
    if (sync_names[i] == text) return static_cast<Sync>(i);
  return std::nullopt;
}

std::vector<std::int64_t> clock_row(const Clocked& said) {
  std::vector<std::int64_t> row{said.clock};
  for (std::size_t i = 0; i < said.enter.size(); ++i)
    row.push_back(said.enter[i]), row.push_back(said.leave[i]);
  return row;
}

Clocked clock_from(const std::vector<std::int64_t>& row) {
  Clocked said{row.at(0), {}, {}};
  for (std::size_t i = 1; i + 1 < row.size(); i += 2)
    said.enter.push_back(row[i]), said.leave.push_back(row[i + 1]);
  return said;
}

}  // namespace plumb

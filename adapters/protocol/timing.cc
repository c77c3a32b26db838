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

std::vector<std::int64_t> sights_row(const Clocked& said) {
  const Sight &before = said.before, &after = said.after;
  return {before.at, before.offset, before.error, after.at, after.offset, after.error};
}

void take_sights(Clocked& said, const std::vector<std::int64_t>& row) {
  said.before = {row.at(0), row.at(1), row.at(2)};
  said.after = {row.at(3), row.at(4), row.at(5)};
}

}  // namespace plumb

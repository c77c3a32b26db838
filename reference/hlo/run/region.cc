#include "reference/hlo/run/region.h"

#include <algorithm>
#include <map>

#include "reference/hlo/module/sdy.h"
#include "reference/hlo/run/manual.h"
#include "reference/hlo/run/runs.h"

namespace plumb::hlo {
namespace {

Integers each_its_own(const Module& module) {
  return manual_places({.spread = Spread::manual}, module.partitions);
}

// The border that XLA writes: the value's sharding on either side.
Crossing between(const Module& module, const Instruction& inside, const Instruction& outside) {
  require(outside.sharding.size() == 1, "a sharding");
  const Sharding& around = outside.sharding[0];
  return {around,
          inside.sharding.size() == 1 ? manual_places(inside.sharding[0], module.partitions)
                                      : each_its_own(module),
          manual_places(around, module.partitions)};
}

// The border that Shardy writes: shardings of all operands, or of all results, in one attribute.
std::vector<Crossing> of_shardy(const Module& module, const Instruction& i, bool inwards) {
  std::vector<Crossing> all;
  for (Sharding& s : sdy_shardings(module, i, inwards ? "xla.sdy.in_shardings" : "xla.sdy.out_shardings")) {
    Integers around = manual_places(sdy_outside(i, s.axes.mesh), module.partitions);
    all.push_back({std::move(s), each_its_own(module), std::move(around)});
  }
  return all;
}

// Of a value, which may be one of several.
Sharding sharding_of(const Computation& computation, const Instruction& i) {
  const bool is_element = i.opcode == Opcode::get_tuple_element && i.sharding.empty();
  const auto& from = is_element ? computation.instructions[static_cast<std::size_t>(i.operands[0])] : i;
  require(from.sharding.size() == 1, "a sharding");
  if (!is_element) return i.sharding[0];
  return from.sharding[0].parts.at(static_cast<std::size_t>(get<std::int64_t>(i, Key::index)));
}

// The same where the values have shardings of their own.
std::vector<Crossing> of_values(const Module& module, const Computation& computation, const Instruction& i,
                                bool inwards) {
  require(i.sharding.size() == 1, "a sharding");
  const bool several = i.sharding[0].spread == Spread::tuple;
  const std::vector<Sharding> results = several ? i.sharding[0].parts : i.sharding;
  require(results.size() == i.operands.size(), "a sharding for each value");
  std::vector<Crossing> all;
  for (std::size_t n = 0; n < results.size(); ++n) {
    const Sharding operand =
        sharding_of(computation, computation.instructions[static_cast<std::size_t>(i.operands[n])]);
    const Sharding &inside = inwards ? results[n] : operand, &outside = inwards ? operand : results[n];
    all.push_back({sdy_cut(outside, inside), each_its_own(module),
                   manual_places(sdy_outside(inside), module.partitions)});
  }
  return all;
}

}  // namespace

std::vector<Crossing> crossings(const Module& module, const Computation& computation, const Instruction& i) {
  const Border border = border_of(get<std::string>(i, Key::custom_call_target)).value_or(Border::marker);
  if (border == Border::sdy_enter || border == Border::sdy_leave) {
    const bool inwards = border == Border::sdy_enter;
    const bool has_attribute =
        std::ranges::any_of(i.frontend, [](const auto& text) { return text.first.ends_with("_shardings"); });
    return has_attribute || i.sharding.empty() ? of_shardy(module, i, inwards)
                                               : of_values(module, computation, i, inwards);
  }
  require(i.operands.size() == 1, "one operand");
  const Instruction& operand = computation.instructions[static_cast<std::size_t>(i.operands[0])];
  return {border == Border::enter ? between(module, i, operand) : between(module, operand, i)};
}

std::optional<Division> outer_tiles(Division division, const Integers& dims, const Integers& held) {
  if (dims.size() != held.size()) return std::nullopt;
  const Integers tile = tile_dims(dims, division);
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (tile[d] == held[d]) continue;
    const std::int64_t outer = held[d] > 0 && dims[d] % held[d] == 0 ? dims[d] / held[d] : 0;
    if (outer == 0 || division.tiles[d] % outer != 0) return std::nullopt;
    for (Share& share : division.shares) share.tile[d] /= division.tiles[d] / outer;
    division.tiles[d] = outer;
  }
  return division;
}

Division division_at(const Crossing& border, const Integers& dims, const Integers& held) {
  const auto all = divide_within(border.outside, dims.size(), std::ssize(border.inside));
  require(all.has_value(), "unsupported: a border of a manual region whose layout is not said");
  const auto division = outer_tiles(*all, dims, held);
  require(division.has_value(), "the tiles of the array that devices hold");
  std::map<std::int64_t, const Share*> of;
  for (std::size_t d = 0; d < border.inside.size(); ++d)
    require(*of.try_emplace(border.inside[d], &division->shares[d]).first->second == division->shares[d],
            "unsupported: a manual region that other axes than its own divide");
  return *division;
}

Holding holding_at(const Crossing& border, const Division& division, const Integers& lanes) {
  std::map<std::int64_t, Integers> places;
  for (std::size_t d = 0; d < border.around.size(); ++d)
    places[border.around[d]].push_back(static_cast<std::int64_t>(d));
  Holding holding;
  holding.of.resize(border.around.size());
  std::map<Integers, std::int32_t> met;  // by what it is made of: a lane for each tile and part
  for (auto& [place, devices] : places) {
    Integers made_of;
    for (const std::int64_t d : devices) {
      const Share& share = division.shares[static_cast<std::size_t>(d)];
      made_of.push_back(lanes[static_cast<std::size_t>(d)]), made_of.push_back(share.part);
      made_of.insert(made_of.end(), share.tile.begin(), share.tile.end());
    }
    const auto number =
        met.try_emplace(std::move(made_of), static_cast<std::int32_t>(met.size())).first->second;
    for (const std::int64_t d : devices) holding.of[static_cast<std::size_t>(d)] = number;
    if (number == std::ssize(holding.devices)) holding.devices.push_back(std::move(devices));
  }
  return holding;
}

}  // namespace plumb::hlo

#include "reference/hlo/run/runs.h"

#include <map>
#include <vector>

namespace plumb::hlo {
namespace {

constexpr std::pair<std::string_view, Border> kBorders[] = {
    {"Sharding",                   Border::marker   },
    {"xla.sdy.FuncResultSharding", Border::marker   },
    {"SPMDFullToShardShape",       Border::enter    },
    {"SPMDShardToFullShape",       Border::leave    },
    {"xla.sdy.GlobalToLocalShape", Border::sdy_enter},
    {"xla.sdy.LocalToGlobalShape", Border::sdy_leave},
};

std::string target_of(const Instruction& i) { return get<std::string>(i, Key::custom_call_target); }

bool is_unknown(const Instruction& i) {
  return i.opcode == Opcode::custom_call && !border_of(target_of(i)) && !gives_nothing(i.shape);
}

// Goes through computations as they are called. A value is inside of a manual region where one that it is
// computed from is, from the call that enters to the one that leaves.
struct Regions {
  const Module& module;
  UnknownCalls found{};
  std::set<std::pair<std::int64_t, bool>> gone_through{};

  void go_through(std::int64_t number, bool inside) {
    if (!gone_through.insert({number, inside}).second) return;
    const Computation& c = module.computations[static_cast<std::size_t>(number)];
    std::vector<char> is(c.instructions.size(), inside);
    for (std::size_t n = 0; n < is.size(); ++n) {
      const Instruction& i = c.instructions[n];
      for (const std::int64_t o : i.operands) is[n] |= is[static_cast<std::size_t>(o)];
      is[n] |= !i.sharding.empty() && i.sharding[0].spread == Spread::manual;
      for (const Attribute& a : i.attributes)
        if (const Calls* calls = std::get_if<Calls>(&a.value))
          for (const std::int64_t called : calls->computations) go_through(called, is[n]);
      if (is_unknown(i) && is[n]) found.inside.insert(target_of(i));
      if (is_unknown(i) && !is[n]) found.outside.insert(&i);
      const auto border = i.opcode == Opcode::custom_call ? border_of(target_of(i)) : std::nullopt;
      if (border == Border::enter || border == Border::sdy_enter) is[n] = true;
      if (border == Border::leave || border == Border::sdy_leave) is[n] = false;
    }
  }
};

}  // namespace

std::optional<Border> border_of(std::string_view target) {
  for (const auto& [name, border] : kBorders)
    if (name == target) return border;
  return std::nullopt;
}

UnknownCalls unknown_calls(const Module& module) {
  Regions regions{module};
  regions.go_through(module.entry, false);
  return regions.found;
}

void check_runs(const Module& module, const Module& before) {
  const std::set<std::string> inside = unknown_calls(before).inside;
  std::map<std::string, int> all;
  const Instruction* first = nullptr;
  for (const Instruction* i : unknown_calls(module).outside) {
    if (&module != &before && inside.contains(target_of(*i))) continue;
    ++all["custom-call " + target_of(*i)];
    if (!first || i->at < first->at) first = i;
  }
  if (!first) return;
  std::string list;
  for (const auto& [name, times] : all) {
    list += (list.empty() ? "" : ", ") + name;
    if (times > 1) list += " (" + std::to_string(times) + " times)";
  }
  refuse(module, *first, "unsupported: " + list);
}

}  // namespace plumb::hlo

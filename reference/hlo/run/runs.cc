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

// What it is called where it cannot be run; else empty.
std::string unknown(const Instruction& i) {
  if (i.opcode != Opcode::custom_call) return {};
  const auto target = get<std::string>(i, Key::custom_call_target);
  return border_of(target) ? "" : "custom-call " + target;
}

// The computations that the entry reaches, itself among them.
std::vector<bool> reached(const Module& module) {
  std::vector<bool> is(module.computations.size());
  Integers open = {module.entry};
  while (!open.empty()) {
    const auto c = static_cast<std::size_t>(open.back());
    open.pop_back();
    if (is[c]) continue;
    is[c] = true;
    for (const Instruction& i : module.computations[c].instructions)
      for (const Attribute& a : i.attributes)
        if (const Calls* calls = std::get_if<Calls>(&a.value))
          open.insert(open.end(), calls->computations.begin(), calls->computations.end());
  }
  return is;
}

}  // namespace

std::optional<Border> border_of(std::string_view target) {
  for (const auto& [name, border] : kBorders)
    if (name == target) return border;
  return std::nullopt;
}

void check_runs(const Module& module) {
  std::map<std::string, int> all;
  const Instruction* first = nullptr;
  const std::vector<bool> is_reached = reached(module);
  for (std::size_t c = 0; c < module.computations.size(); ++c)
    for (const Instruction& i : module.computations[c].instructions)
      if (const std::string name = is_reached[c] ? unknown(i) : ""; !name.empty()) {
        ++all[name];
        if (!first || i.at < first->at) first = &i;
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

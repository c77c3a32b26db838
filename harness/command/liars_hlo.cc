#include "harness/command/liars_hlo.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "harness/backend/interrupt.h"
#include "harness/command/dumps.h"
#include "harness/command/files.h"
#include "harness/report/table.h"
#include "reference/hlo/prove/faults.h"
#include "reference/hlo/prove/harm.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

namespace fs = std::filesystem;

struct Program {
  std::string name;
  hlo::Module before, after;
  std::optional<hlo::Module> propagated;
  std::vector<hlo::Seen> rightly{};
  hlo::Wholes wholes{};
  hlo::Subject subject() const { return {before, after, propagated ? &*propagated : nullptr}; }
};

std::set<fs::path> folders_with_dumps(const std::vector<std::string>& roots) {
  std::set<fs::path> folders;
  for (const std::string& root : roots) {
    std::error_code error;
    for (fs::recursive_directory_iterator file(root, error), end; file != end; file.increment(error))
      if (file->path().filename().string().ends_with(".before_optimizations.txt"))
        folders.insert(file->path().parent_path());
    if (error) throw BadInput(fmt::format("{}: {}", root, error.message()));
  }
  if (folders.empty()) throw BadInput(fmt::format("{}: no folder of dumps", roots.at(0)));
  return folders;
}

Program program_in(const fs::path& folder) {
  const Dumps dumps = chosen_dumps(folder.string(), "");
  return {folder.string(), *module_at(dumps.before), *module_at(dumps.after), module_at(dumps.propagated)};
}

struct Counts {
  std::int64_t applied = 0, refuted = 0, no_module = 0, unsettled = 0, lost = 0, alarms = 0;
  std::array<std::int64_t, hlo::harms> harmless{};
};

void try_one(Program& p, const hlo::Fault& fault, std::size_t c, std::size_t i, Counts& row) {
  const auto faulty = planted(p.after, fault, c, i);
  if (!faulty) return;
  if (interrupted()) throw Interrupted();
  ++row.applied;
  const hlo::Subject right = p.subject();
  try {
    const hlo::Finding finding = hlo::prove({p.before, *faulty, right.propagated}, {}, &p.wholes).finding;
    const hlo::Harm harm = harm_of(right, p.rightly, {*faulty, c, i});
    const bool moved = harm == hlo::Harm::moved;
    if (moved && finding == hlo::Finding::refuted) {
      ++row.refuted;
    } else if (!moved && finding == hlo::Finding::unsettled) {
      ++row.unsettled;  // a softmax that subtracts something else than its largest, say
    } else if (!moved && finding == hlo::Finding::proven) {
      ++row.harmless[static_cast<std::size_t>(harm)];
    } else {
      ++(moved ? row.lost : row.alarms);
      fmt::print("{} {} %{}: {}: {}\n", moved ? "lost:" : "false alarm:", p.name,
                 p.after.computations[c].instructions[i].name, fault.name, name(finding));
    }
  } catch (const hlo::BadModule&) {
    ++row.no_module;
  }
}

void print_table(const std::map<std::string, Counts>& table) {
  std::vector<std::vector<std::string>> rows = {
      {"fault", "applied", "refuted", "no module", "same", "completed", "padding", "unneeded", "unsettled",
       "lost", "false alarms"}
  };
  Counts all;
  const auto add_row = [&](const std::string& name, const Counts& r) {
    std::vector<std::string> cells = {name};
    for (const std::int64_t n : {r.applied, r.refuted, r.no_module, r.harmless[1], r.harmless[2],
                                 r.harmless[3], r.harmless[4], r.unsettled, r.lost, r.alarms})
      cells.push_back(std::to_string(n));
    rows.push_back(std::move(cells));
  };
  for (const auto& [name, r] : table) {
    add_row(name, r);
    all.applied += r.applied, all.refuted += r.refuted, all.no_module += r.no_module;
    all.unsettled += r.unsettled, all.lost += r.lost, all.alarms += r.alarms;
    for (std::size_t h = 0; h < r.harmless.size(); ++h) all.harmless[h] += r.harmless[h];
  }
  add_row("all", all);
  fmt::print("{}", columns(rows, 11));
}

}  // namespace

std::int64_t liars_in_modules(const std::vector<std::string>& folders, const std::vector<std::string>& only,
                              int draws) {
  std::map<std::string, Counts> table;
  std::int64_t right = 0, alarms = 0, others = 0;
  for (const hlo::Fault& fault : hlo::faults())
    if (only.empty() || std::ranges::count(only, fault.name) > 0) table[fault.name];
  if (table.empty()) throw BadInput(fmt::format("there is no fault '{}' of modules", only.at(0)));
  for (const fs::path& folder : folders_with_dumps(folders)) {
    Program p = program_in(folder);
    const hlo::Finding finding = prove(p.subject(), {}).finding;
    if (finding != hlo::Finding::proven) {
      ++others;
      continue;
    }
    ++right;
    if (prove(p.subject(), {1000, draws, 8, {}, {}}).finding != hlo::Finding::proven) {
      ++alarms;
      fmt::print("false alarm: {}, of {} from seed 1000\n", p.name, counted(draws, "draw"));
    }
    p.rightly = rightly_run(p.subject());
    for (const hlo::Fault& fault : hlo::faults()) {
      if (!table.contains(fault.name)) continue;
      for (std::size_t c = 0; c < p.after.computations.size(); ++c)
        for (std::size_t i = 0; i < p.after.computations[c].instructions.size(); ++i)
          try_one(p, fault, c, i, table[fault.name]);
    }
  }
  print_table(table);
  fmt::print("{} in {} each, {}; {} not proven and left out\n", counted(right, "right program"),
             counted(draws, "draw"), counted(alarms, "false alarm"), others);
  for (const auto& [name, row] : table) alarms += row.lost + row.alarms;
  return alarms;
}

}  // namespace plumb

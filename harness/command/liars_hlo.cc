#include "harness/command/liars_hlo.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>

#include "harness/backend/interrupt.h"
#include "harness/command/dumps.h"
#include "harness/command/kept_faults.h"
#include "harness/report/progress.h"
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
  hlo::Rightly rightly{};
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
  std::int64_t applied = 0, refuted = 0, no_module = 0, in_doubt = 0, unsettled = 0, lost = 0, alarms = 0;
  std::array<std::int64_t, hlo::harms> harmless{};

  void add(const Counts& more) {
    applied += more.applied, refuted += more.refuted, no_module += more.no_module;
    in_doubt += more.in_doubt, unsettled += more.unsettled, lost += more.lost, alarms += more.alarms;
    for (std::size_t h = 0; h < harmless.size(); ++h) harmless[h] += more.harmless[h];
  }
};
using Table = std::map<std::string, Counts>;

constexpr std::int64_t kKept = 10;  // of faults that move a result one in so many is kept

struct Planting {
  const ModuleLiars& asked;
  std::ofstream keep{};
  Table all{};
  std::int64_t right = 0, alarms = 0, others = 0;  // programs; those with a false alarm; not proven
  LongWork work{};

  // At once, so that a run that is killed leaves what it found.
  void say(const std::string& line) {
    work.clear();
    fmt::print("{}\n", line);
    std::fflush(stdout);
  }
};

// "544 applied, 525 refuted, 6 no module, 3 padding": what there is none of is left out.
std::string listed(const Counts& counts) {
  std::string text = fmt::format("{} applied, {} refuted", counts.applied, counts.refuted);
  const auto more = [&](std::int64_t n, std::string_view what) {
    if (n > 0) text += fmt::format(", {} {}", n, what);
  };
  more(counts.no_module, "no module");
  more(counts.in_doubt, "in doubt");
  for (std::size_t h = 1; h < counts.harmless.size(); ++h)
    more(counts.harmless[h], name(static_cast<hlo::Harm>(h)));
  more(counts.unsettled, "unsettled");
  more(counts.lost, "lost");
  if (counts.alarms > 0) text += ", " + counted(counts.alarms, "false alarm");
  return text;
}

void keep_fault(Planting& planting, const Program& p, const hlo::Fault& fault, hlo::Harm harm,
                const hlo::Planted& at, const Counts& row) {
  if (!planting.keep.is_open() || harm == hlo::Harm::alike ||
      (harm == hlo::Harm::moved && row.refuted % kKept != 0))
    return;
  planting.keep << kept_fault(fault.name, p.after.computations[at.c].instructions[at.i].name, harm, at.faulty)
                << '\n';
}

void try_one(Planting& planting, Program& p, const hlo::Fault& fault, std::size_t c, std::size_t i,
             Counts& row) {
  const auto faulty = planted(p.after, fault, c, i);
  if (!faulty) return;
  if (interrupted()) throw Interrupted();
  planting.work.tell(fmt::format("{}: {}: {}", p.name, fault.name, listed(row)));
  ++row.applied;
  const hlo::Subject right = p.subject();
  try {
    const hlo::Proof proof = hlo::prove({p.before, *faulty, right.propagated}, {}, &p.wholes);
    const hlo::Finding finding = proof.finding;
    const hlo::Planted at{*faulty, c, i, refuting_draw(proof)};
    const hlo::Harm harm = harm_of(right, p.rightly, at);
    const bool moved = harm == hlo::Harm::moved;
    keep_fault(planting, p, fault, harm, at, row);
    if (moved && finding == hlo::Finding::refuted) {
      ++row.refuted;
    } else if (moved ? finding != hlo::Finding::proven
                     : harm == hlo::Harm::alike && finding == hlo::Finding::proven) {
      ++row.in_doubt;  // nothing is claimed, and it is no pass
    } else if (!moved && finding == hlo::Finding::unsettled) {
      ++row.unsettled;  // a softmax that subtracts something else than its largest, say
    } else if (!moved && finding == hlo::Finding::proven) {
      ++row.harmless[static_cast<std::size_t>(harm)];
    } else {
      ++(moved ? row.lost : row.alarms);
      planting.say(fmt::format("{} {} %{}: {}: {}", moved ? "lost:" : "false alarm:", p.name,
                               p.after.computations[c].instructions[i].name, fault.name, name(finding)));
    }
  } catch (const hlo::BadModule&) {
    ++row.no_module;
  }
}

bool is_planted(const ModuleLiars& asked, const hlo::Fault& fault) {
  return asked.only.empty() || std::ranges::count(asked.only, fault.name) > 0;
}

// Each fault at each place of a right program.
void plant_each(Planting& planting, Program& p) {
  if (planting.keep.is_open()) planting.keep << kept_program(p.name, p.subject()) << '\n';
  for (const hlo::Fault& fault : hlo::faults()) {
    if (!is_planted(planting.asked, fault)) continue;
    Counts row;
    for (std::size_t c = 0; c < p.after.computations.size(); ++c)
      for (std::size_t i = 0; i < p.after.computations[c].instructions.size(); ++i)
        try_one(planting, p, fault, c, i, row);
    planting.all[fault.name].add(row);
    if (row.applied > 0) planting.say(fmt::format("{}: {}: {}", p.name, fault.name, listed(row)));
  }
}

void plant_in(Planting& planting, const fs::path& folder) {
  Program p = program_in(folder);
  if (const hlo::Finding finding = prove(p.subject(), {}).finding; finding != hlo::Finding::proven) {
    ++planting.others;
    return planting.say(fmt::format("{}: {}, and left out", p.name, name(finding)));
  }
  ++planting.right;
  if (prove(p.subject(), {1000, planting.asked.draws, 8, {}, {}}).finding != hlo::Finding::proven) {
    ++planting.alarms;
    planting.say(
        fmt::format("false alarm: {}, of {} from seed 1000", p.name, counted(planting.asked.draws, "draw")));
  }
  plant_each(planting, p);
}

void print_table(const Table& table) {
  std::vector<std::vector<std::string>> rows = {
      {"fault", "applied", "refuted", "in doubt", "no module", "same", "completed", "padding", "unneeded",
       "unsettled", "lost", "false alarms"}
  };
  Counts all;
  const auto add_row = [&](const std::string& name, const Counts& r) {
    std::vector<std::string> cells = {name};
    for (const std::int64_t n : {r.applied, r.refuted, r.in_doubt, r.no_module, r.harmless[1], r.harmless[2],
                                 r.harmless[3], r.harmless[4], r.unsettled, r.lost, r.alarms})
      cells.push_back(std::to_string(n));
    rows.push_back(std::move(cells));
  };
  for (const auto& [name, r] : table) add_row(name, r), all.add(r);
  add_row("all", all);
  fmt::print("{}", columns(rows, 11));
}

void print_summary(Planting& planting) {
  planting.work.clear();
  print_table(planting.all);
  fmt::print("{} in {} each, {}; {} not proven and left out\n", counted(planting.right, "right program"),
             counted(planting.asked.draws, "draw"), counted(planting.alarms, "false alarm"), planting.others);
}

}  // namespace

std::int64_t liars_in_modules(const ModuleLiars& asked) {
  Planting planting{asked};
  for (const hlo::Fault& fault : hlo::faults())
    if (is_planted(asked, fault)) planting.all[fault.name];
  if (planting.all.empty())
    throw BadInput(fmt::format("there is no fault '{}' of modules", asked.only.at(0)));
  const std::set<fs::path> folders = folders_with_dumps(asked.folders);
  if (!asked.keep.empty()) planting.keep.open(asked.keep, std::ios::app);
  try {
    for (const fs::path& folder : folders) {
      plant_in(planting, folder);
      if (!asked.keep.empty() && !planting.keep.flush())
        throw BadInput(fmt::format("{}: cannot be written", asked.keep));
    }
  } catch (const Interrupted&) {
    print_summary(planting);
    throw;
  }
  print_summary(planting);
  std::int64_t amiss = planting.alarms;
  for (const auto& [name, row] : planting.all) amiss += row.lost + row.alarms;
  return amiss;
}

}  // namespace plumb

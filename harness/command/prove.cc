// plumb prove: a partitioner's output against its input.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>
#include <memory>

#include "harness/command/command.h"
#include "harness/command/files.h"
#include "reference/hlo/prove/where.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

namespace fs = std::filesystem;

struct ProveFlags {
  std::vector<std::string> paths;
  std::string module;
  std::uint64_t seed = 0;
  int draws = 2;
};

// The files of one module among XLA's dumps.
struct Dumps {
  fs::path before, propagated, after;
};

constexpr const char* kFlags =
    "XLA_FLAGS='--xla_dump_to=DIR --xla_dump_hlo_as_text --xla_dump_large_constants "
    "--xla_dump_hlo_pass_re=spmd.*|shardy.*|sharding.*'";

bool has(const std::string& name, std::initializer_list<const char*> parts) {
  return std::ranges::any_of(parts, [&](const char* part) { return name.find(part) != name.npos; });
}

// "module_0001.jit_step" of "module_0001.jit_step.before_optimizations.txt".
std::string module_of(const std::string& name) {
  const std::size_t first = name.find('.');
  return first == name.npos ? "" : name.substr(0, name.find('.', first + 1));
}

std::map<std::string, Dumps> dumps_in(const fs::path& folder) {
  std::map<std::string, Dumps> all;
  for (const auto& file : fs::directory_iterator(folder)) {
    const std::string name = file.path().filename().string();
    if (!name.starts_with("module_") || !name.ends_with(".txt")) continue;
    Dumps& dumps = all[module_of(name)];
    if (has(name, {".before_optimizations."})) dumps.before = file.path();
    if (has(name, {".after_shardy-xla.", ".after_sharding-propagation."})) dumps.propagated = file.path();
    if (has(name, {".after_spmd-partitioning.", ".after_spmd_partitioner.", ".after_tpu-spmd-partitioning."}))
      dumps.after = file.path();
  }
  return all;
}

std::pair<std::string, Dumps> chosen(const std::string& folder, const std::string& module) {
  std::map<std::string, Dumps> all = dumps_in(folder);
  std::erase_if(all, [&](const auto& entry) {
    const bool asked = module.empty() ? !entry.second.after.empty() : entry.first == module;
    return !asked;
  });
  if (all.empty())
    throw BadInput(fmt::format("{}: no {} after the partitioner; compile with {}", folder,
                               module.empty() ? "module" : module, kFlags));
  if (all.size() > 1) {
    std::string names;
    for (const auto& [name, dumps] : all) names += (names.empty() ? "" : ", ") + name;
    throw BadInput(fmt::format("{}: several modules, take one with --module: {}", folder, names));
  }
  const auto& [name, dumps] = *all.begin();
  if (dumps.before.empty()) throw BadInput(fmt::format("{}: no {}.before_optimizations.txt", folder, name));
  if (dumps.after.empty())
    throw BadInput(fmt::format("{}: no {} after the partitioner; compile with {}", folder, name, kFlags));
  return {name, dumps};
}

std::optional<hlo::Module> module_at(const fs::path& path) {
  if (path.empty()) return std::nullopt;
  return hlo::parse(read_text(path.string()), path.filename().string());
}

std::string place(const hlo::Integers& index) {
  return index.empty() ? "" : fmt::format(" at [{}]", fmt::join(index, ","));
}

void report(const hlo::Place& at) {
  fmt::print("    at     {}  {}  {}\n", at.instruction, at.source, at.op_name);
  fmt::print("    there  {}\n", at.there.empty() ? "no collective" : at.there);
}

void report(const hlo::Proof& proof, const std::optional<hlo::Place>& at, const std::string& subject,
            const std::string& again) {
  fmt::print("{}  {}, {}, {}\n", name(proof.finding), subject, counted(proof.devices, "device"),
             proof.finding == hlo::Finding::refuted ? fmt::format("draw {}", proof.draws)
                                                    : counted(proof.draws, "draw"));
  if (!proof.why.empty()) fmt::print("    {}\n", proof.why);
  if (proof.finding == hlo::Finding::proven)
    fmt::print("    {}, {} on all devices together{}\n", counted(proof.results, "result"),
               counted(proof.elements, "element"), proof.as_propagated ? "; layout as propagated" : "");
  for (const hlo::Difference& d : proof.differences)
    fmt::print("    result {} {}: {} on {}; the first on device {}{}\n", d.result, print(d.shape),
               counted(d.elements, "element"), counted(d.devices, "device"), d.device, place(d.index));
  if (at) report(*at);
  for (const std::string& path : proof.untaken) fmt::print("    no draw took {}\n", path);
  if (proof.finding == hlo::Finding::proven)
    fmt::print(
        "    for these sizes; what integers decide is tested, not proven; rounding is not looked at\n");
  else
    fmt::print("    again: {}\n", again);
}

int prove_modules(const ProveFlags& flags) {
  const std::string& first = flags.paths[0];
  const bool folder = flags.paths.size() == 1;
  if (folder && !fs::is_directory(first)) throw BadInput(fmt::format("{}: no folder of dumps", first));
  const auto [name, dumps] = folder ? chosen(first, flags.module)
                                    : std::pair{
                                          std::string(), Dumps{first, {}, flags.paths[1]}
  };
  const auto before = module_at(dumps.before), after = module_at(dumps.after),
             propagated = module_at(dumps.propagated);
  const hlo::Subject subject{*before, *after, propagated ? &*propagated : nullptr};
  const hlo::Proof proof = hlo::prove(subject, {flags.seed, flags.draws, 8});
  const std::string what =
      folder ? fmt::format("{}: {}", first, name) : fmt::format("{} {}", first, flags.paths[1]);
  const std::string again = fmt::format("plumb prove {}{} --seed {}", fmt::join(flags.paths, " "),
                                        flags.module.empty() ? "" : " --module " + flags.module, proof.seed);
  report(proof, hlo::locate(subject, proof), what, again);
  return proof.finding == hlo::Finding::proven ? 0 : 1;
}

}  // namespace

void add_prove(CLI::App& app, int& code) {
  auto flags = std::make_shared<ProveFlags>();
  CLI::App* prove = app.add_subcommand("prove",
                                       "Whether a module of HLO computes, partitioned, what it computes "
                                       "whole: on every device, in exact arithmetic");
  prove
      ->add_option("PATHS", flags->paths,
                   "A folder of XLA's dumps, or the module before and the one after the partitioner")
      ->required()
      ->expected(1, 2);
  prove->add_option("--module", flags->module, "Which module of the folder, module_0001.jit_step");
  prove->add_option("--seed", flags->seed, "Of the first draw");
  prove->add_option("--draws", flags->draws, "How many draws must agree")->check(CLI::Range(1, 1000));
  prove->callback([flags, &code] {
    try {
      code = prove_modules(*flags);
    } catch (const hlo::BadModule& error) {
      throw BadInput(error.what());
    }
  });
}

}  // namespace plumb

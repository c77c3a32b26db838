#include "harness/command/dumps.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <system_error>

#include "harness/command/files.h"
#include "reference/hlo/module/total_order.h"
#include "reference/words/text.h"

namespace plumb {

namespace fs = std::filesystem;

const char* const kDumpFlags =
    "XLA_FLAGS='--xla_dump_to=DIR --xla_dump_hlo_as_text --xla_dump_large_constants "
    "--xla_dump_hlo_pass_re=spmd.*|shardy.*|sharding.*'";

namespace {

struct Found : Dumps {
  fs::path optimized, again;  // a second one after the partitioner
};

bool has(const std::string& name, std::initializer_list<const char*> parts) {
  return std::ranges::any_of(parts, [&](const char* part) { return name.find(part) != name.npos; });
}

// "module_0001.jit_step" of "module_0001.jit_step.before_optimizations.txt".
std::string module_of(const std::string& name) {
  const std::size_t first = name.find('.');
  return first == name.npos ? "" : name.substr(0, name.find('.', first + 1));
}

// The pass after which a module was dumped: "after_spmd-partitioning".
std::string behind(const fs::path& file) {
  const std::string name = file.filename().string();
  const std::size_t begin = name.find(".after_") + 1;
  return name.substr(begin, name.find('.', begin) - begin);
}

std::map<std::string, Found> dumps_in(const fs::path& folder) {
  std::error_code error;
  fs::directory_iterator files(folder, error);
  if (error) throw BadInput(fmt::format("{}: {}", folder.string(), error.message()));
  std::map<std::string, Found> all;
  for (const auto& file : files) {
    const std::string name = file.path().filename().string();
    if (!name.starts_with("module_") || !name.ends_with(".txt")) continue;
    Found& dumps = all[module_of(name)];
    if (name.find(".after_") != name.npos) dumps.passes.push_back({name, file.path(), false});
    dumps.module = module_of(name);
    if (name.ends_with(".before_optimizations.txt")) dumps.before = file.path();
    if (name.ends_with("after_optimizations.txt")) dumps.optimized = file.path();
    if (has(name, {".after_shardy-xla.", ".after_sharding-propagation."})) dumps.propagated = file.path();
    if (has(name,
            {".after_spmd-partitioning.", ".after_spmd_partitioner.", ".after_tpu-spmd-partitioning."})) {
      if (!dumps.after.empty() && behind(dumps.after) == behind(file.path())) dumps.again = dumps.after;
      dumps.after = file.path();
    }
  }
  return all;
}

// Of "module_0001.jit_f.0016.simplification.after_algsimp.before_simplify-sorts.txt" the pass is algsimp
// (0016).
std::string pass_of(const std::string& file) {
  const std::size_t behind = file.find(".after_");
  std::string number, pipeline;
  for (std::size_t at = 0; at < behind;) {
    const std::size_t end = std::min(file.find('.', at), behind);
    const std::string part = file.substr(at, end - at);
    if (part.size() == 4 && part.find_first_not_of("0123456789") == part.npos)
      number = part;
    else
      pipeline = part;
    at = end + 1;
  }
  const std::size_t begin = behind + 7;
  const std::string pass = file.substr(begin, file.find('.', begin) - begin);
  return fmt::format("{} ({})", pass == "pipeline-start" ? "what comes before " + pipeline : pass, number);
}

// Sorts the passes, and says from which on the module is partitioned.
void arrange(Found& found) {
  std::ranges::sort(found.passes, {}, &CompilerPass::file);
  const auto reads = [](const CompilerPass& pass) {
    return has(pass.file.filename().string(),
               {".before_spmd-partitioning.", ".before_spmd_partitioner.", ".before_tpu-spmd-partitioning."});
  };
  auto border = found.passes.end();
  for (auto pass = found.passes.begin(); pass != found.passes.end(); ++pass) {
    if (reads(*pass)) border = pass + 1;
    if (border == found.passes.end() && pass->file == found.after) border = pass;
    pass->name = pass_of(pass->file.filename().string());
  }
  for (auto pass = border; pass != found.passes.end(); ++pass) pass->partitioned = true;
}

std::string names_of(const std::map<std::string, Found>& all) {
  std::string names;
  for (const auto& [name, dumps] : all) names += (names.empty() ? "" : ", ") + name;
  return names;
}

}  // namespace

Dumps chosen_dumps(const std::string& folder, const std::string& module) {
  if (!fs::is_directory(folder))
    throw BadInput(
        fmt::format("{}: no folder of dumps; of two modules both are given, BEFORE AFTER", folder));
  std::map<std::string, Found> all = dumps_in(folder);
  const bool partitioned =
      std::ranges::any_of(all, [](const auto& one) { return !one.second.after.empty(); });
  const std::string here = names_of(all);
  std::erase_if(all, [&](const auto& one) {
    const Found& dumps = one.second;
    const bool judged = !dumps.after.empty() || (!partitioned && !dumps.optimized.empty());
    return module.empty() ? !judged : one.first != module;
  });
  if (all.empty() && !module.empty() && !here.empty())
    throw BadInput(fmt::format("{}: no {} here, only {}", folder, module, here));
  if (all.empty())
    throw BadInput(fmt::format("{}: no {} after the partitioner; compile with {}", folder,
                               module.empty() ? "module" : module, kDumpFlags));
  if (all.size() > 1)
    throw BadInput(fmt::format("{}: several modules, take one with --module: {}", folder, names_of(all)));
  Found& found = all.begin()->second;
  if (found.before.empty())
    throw BadInput(
        fmt::format("{}: no {}.before_optimizations.txt; what JAX finds in its compilation cache is not "
                    "dumped: JAX_ENABLE_COMPILATION_CACHE=false",
                    folder, found.module));
  if (!found.again.empty()) {
    std::string one = found.after.filename().string(), other = found.again.filename().string();
    if (other < one) std::swap(one, other);
    throw BadInput(fmt::format("{}: two of one program, {} and {}: each run needs a folder of its own",
                               folder, one, other));
  }
  if (found.after.empty() && !found.optimized.empty()) {
    found.after = found.optimized;
    found.note =
        fmt::format("no module after the partitioner: taken after all passes; {} dumps it", kDumpFlags);
  }
  if (found.after.empty())
    throw BadInput(
        fmt::format("{}: no {} after the partitioner; compile with {}", folder, found.module, kDumpFlags));
  arrange(found);
  return found;
}

std::optional<hlo::Module> module_at(const fs::path& path) {
  if (path.empty()) return std::nullopt;
  return hlo::with_floats_compared(
      hlo::parse(read_text(path.string(), "a module, as XLA writes it"), path.filename().string()));
}

}  // namespace plumb

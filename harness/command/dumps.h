// The modules that XLA dumped: which files of a folder are one program, before and after the partitioner.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "reference/hlo/module/module.h"

namespace plumb {

// The module after a pass, where XLA dumped it.
struct CompilerPass {
  std::string name;  // "algsimp (0016)"
  std::filesystem::path file;
  bool partitioned = false;  // else it is still the whole program
};

// The files of one module. A path is empty where there is no such file.
struct Dumps {
  std::string module;  // "module_0001.jit_step"; empty where files were named one by one
  std::filesystem::path before, propagated, after;
  std::vector<CompilerPass> passes;  // in their order
  std::string note;          // what was taken in the place of what is not there
};

// The flags that make XLA dump what is needed, for messages.
extern const char* const kDumpFlags;

// The dumps of a folder; `module` says which, where there are several. Throws BadInput: several, none, or one
// half is not there.
Dumps chosen_dumps(const std::string& folder, const std::string& module);

// The module of a file; none of an empty path. Throws BadInput.
std::optional<hlo::Module> module_at(const std::filesystem::path&);

}  // namespace plumb

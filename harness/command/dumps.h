// The modules that XLA dumped: which files of a folder are one program, before and after the partitioner.
#pragma once

#include <filesystem>
#include <string>

namespace plumb {

// The files of one module. A path is empty where there is no such file.
struct Dumps {
  std::string module;  // "module_0001.jit_step"; empty where files were named one by one
  std::filesystem::path before, propagated, after;
  std::string note;  // what was taken in the place of what is not there
};

// The flags that make XLA dump what is needed, for messages.
extern const char* const kDumpFlags;

// The dumps of a folder; `module` says which, where there are several. Throws BadInput: several, none, or one
// half is not there.
Dumps chosen_dumps(const std::string& folder, const std::string& module);

}  // namespace plumb

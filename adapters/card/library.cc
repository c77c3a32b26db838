#include "adapters/card/library.h"

#include <dlfcn.h>
#include <glob.h>

#include <cstdlib>
#include <vector>

namespace plumb::card {
namespace {

std::vector<std::string> files_like(const std::string& pattern) {
  std::vector<std::string> files;
  glob_t found{};
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0)
    files.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  return files;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// Where Python keeps packages: of an environment, of the user, of the system.
std::vector<std::string> of_python() {
  std::vector<std::string> patterns;
  for (const char* prefix : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (!variable(prefix).empty()) patterns.push_back(variable(prefix) + "/lib/python3*/site-packages");
  if (!variable("HOME").empty()) patterns.push_back(variable("HOME") + "/.local/lib/python3*/site-packages");
  for (const char* prefix : {"/usr/local/lib", "/usr/lib"})
    for (const char* folder :
         {"/python3*/site-packages", "/python3*/dist-packages", "/python3/dist-packages"})
      patterns.push_back(std::string(prefix) + folder);
  return patterns;
}

// By its name, then file by file.
std::vector<std::string> places(const Sought& sought, const std::string& name) {
  std::vector<std::string> all{name}, patterns;
  for (const char* prefix : {"CUDA_HOME", "CUDA_PATH"})
    if (!variable(prefix).empty()) patterns.push_back(variable(prefix) + "/lib64/");
  patterns.insert(patterns.end(), {"/usr/local/cuda/lib64/", "/usr/local/cuda-*/lib64/"});
  if (!sought.package.empty())
    for (const std::string& packages : of_python())
      for (const std::string& package : {sought.package, std::string("cu1?")})
        patterns.push_back(packages + "/nvidia/" + package + "/lib/");
  for (const std::string& pattern : patterns)
    for (std::string& file : files_like(pattern + name)) all.push_back(std::move(file));
  return all;
}

// False, and why in what the linker says, where it cannot be opened.
bool open(Library& library, const std::string& file) {
  library.handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  library.file = file;
  if (library.handle) return library.why.clear(), true;
  const char* error = ::dlerror();
  library.why = error ? error : file + " cannot be opened";
  return false;
}

}  // namespace

// What is there and cannot be used is said rather than that there is none.
Library open_library(const Sought& sought) {
  Library library;
  const std::string asked = sought.variable.empty() ? "" : variable(sought.variable.c_str());
  if (!asked.empty()) {
    if (!open(library, asked)) library.why = fmt::format("{}={}: {}", sought.variable, asked, library.why);
    return library;
  }
  std::string broken;
  for (const std::string& name : sought.names)
    for (const std::string& file : places(sought, name)) {
      if (open(library, file)) return library;
      const bool absent = library.why.find("No such file") != std::string::npos;
      if (broken.empty() && !absent) broken = library.why;
    }
  library.why = broken.empty() ? fmt::format("no {}: {}", sought.names[0], sought.mend) : broken;
  return library;
}

Library open_product_library(const std::string& name, const std::string& variable) {
  return open_library({
      {"lib" + name + ".so.13", "lib" + name + ".so.12"},
      variable,
      "cublas",
      "pip install nvidia-cublas, or set " + variable + " to its file"
  });
}

void* symbol(const Library& library, const char* name) {
  return library.handle ? ::dlsym(library.handle, name) : nullptr;
}

}  // namespace plumb::card

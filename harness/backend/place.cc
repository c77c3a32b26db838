#include "harness/backend/place.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <filesystem>

#include "harness/backend/spawn.h"

namespace plumb {

namespace fs = std::filesystem;

namespace {

fs::path running_program() {
  std::error_code none;
  return fs::read_symlink("/proc/self/exe", none);
}

// The folders above the running program, nearest first.
std::vector<fs::path> above() {
  std::vector<fs::path> out;
  for (fs::path p = running_program(); p.has_relative_path(); p = p.parent_path())
    out.push_back(p.parent_path());
  return out;
}

// Whether what runs was built here, and not installed.
bool in_build() {
  std::error_code none;
  const fs::path build = fs::weakly_canonical(PLUMB_BUILD, none);
  const std::vector<fs::path> folders = above();
  return std::ranges::count(folders, build) > 0;
}

// Where the files of this project may lie: in an installation, or in the sources.
std::vector<fs::path> roots() {
  std::vector<fs::path> out;
  for (const fs::path& p : above()) {
    out.push_back(p / "share" / "plumbline");
    out.push_back(p);
  }
  if (in_build()) out.emplace_back(PLUMB_SOURCE);
  return out;
}

fs::path environments() {
  const auto variable = [](const char* name) -> fs::path {
    const char* value = std::getenv(name);
    return value ? value : "";
  };
  if (const fs::path home = variable("PLUMB_HOME"); !home.empty()) return home / "env";
  if (const fs::path cache = variable("XDG_CACHE_HOME"); !cache.empty()) return cache / "plumbline" / "env";
  fs::path home = variable("HOME");
  if (const passwd* user = home.empty() ? ::getpwuid(::getuid()) : nullptr) home = user->pw_dir;
  return home / ".cache" / "plumbline" / "env";
}

bool executable(const fs::path& p) {
  std::error_code none;
  return fs::is_regular_file(p, none) && ::access(p.c_str(), X_OK) == 0;
}

// "0.10.2" as numbers, so that it follows 0.9.1. What is before a release, as 0.10.2rc1 is, sorts before it.
std::vector<int> numbers(const std::string& release) {
  std::vector<int> out;
  for (const char *at = release.data(), *end = at + release.size(); at < end;) {
    int n = 0;
    const auto [next, error] = std::from_chars(at, end, n);
    if (error == std::errc{})
      out.push_back(n);
    else if (std::isalpha(static_cast<unsigned char>(*at)))
      out.push_back(-1);
    at = std::max(next, at + 1);
  }
  out.push_back(0);
  return out;
}

}  // namespace

std::string own_program(const std::string& name) {
  const std::string folder = name.substr(name.find('-') + 1);  // plumb-local is built in adapters/local
  for (const fs::path& p : above())
    for (const fs::path& file :
         {p / name, p / "bin" / name, p / "libexec" / "plumbline" / name, p / "adapters" / folder / name})
      if (executable(file)) return file.string();
  return "";
}

std::string own_file(const std::string& path) {
  std::error_code none;
  for (const fs::path& root : roots())
    if (fs::exists(root / path, none)) return (root / path).string();
  return "";
}

std::vector<std::string> own_files(const std::string& folder, const std::string& name) {
  std::vector<std::string> out;
  std::error_code none;
  for (const fs::path& root : roots()) {
    for (const auto& entry : fs::directory_iterator(root / folder, none))
      if (fs::exists(entry.path() / name, none)) out.push_back((entry.path() / name).string());
    if (!out.empty()) break;
  }
  std::ranges::sort(out);
  return out;
}

std::string called(const std::string& script) {
  const std::string whole = own_file(script);
  return in_build() || whole.empty() ? script : whole;
}

std::string python_here() {
  const fs::path beside = running_program().parent_path() / "python3";
  return executable(beside) ? beside.string() : find_program("python3");
}

std::string environment_python(const std::string& framework, const std::string& release) {
  const fs::path place = environments() / (framework + "@" + release);
  std::error_code none;
  // The set-up script writes this file last.
  if (!fs::exists(place / "plumbline", none) || !executable(place / "bin" / "python")) return "";
  return (place / "bin" / "python").string();
}

std::vector<std::string> environment_releases(const std::string& framework) {
  std::vector<std::string> out;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(environments(), none)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(framework + "@")) continue;
    const std::string release = name.substr(framework.size() + 1);
    if (!environment_python(framework, release).empty()) out.push_back(release);
  }
  std::sort(out.begin(), out.end(), [](auto& a, auto& b) { return numbers(a) > numbers(b); });
  return out;
}

}  // namespace plumb

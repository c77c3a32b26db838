// What programs leave behind on this machine, for tests.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "harness/backend/testing/alive.h"

namespace plumb {

// A variable of the environment, for as long as it lives.
struct Variable {
  std::string name, before;
  bool was;
  Variable(const char* n, const std::string& value) : name(n), was(std::getenv(n) != nullptr) {
    if (was) before = std::getenv(n);
    ::setenv(n, value.c_str(), 1);
  }
  ~Variable() { was ? ::setenv(name.c_str(), before.c_str(), 1) : ::unsetenv(name.c_str()); }
};

// While it lives whoever is started has a mark in the environment, and a folder of this test's as TMPDIR.
// What is left of them: processes with the mark, files in the folder, and what MPI libraries share in memory
// that was not there before, and that nobody has who lives: others on the machine may start programs of MPI.
class Remains {
 public:
  std::vector<std::string> now() const {
    namespace fs = std::filesystem;
    std::vector<std::string> all;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      const pid_t pid = std::atoi(entry.path().filename().c_str());
      if (pid > 0 && pid != ::getpid() && alive(pid) &&
          read(entry.path() / "environ").find(mark_) != std::string::npos)
        all.push_back("process " + std::to_string(pid) + " " + read(entry.path() / "cmdline"));
    }
    for (const auto& entry : fs::recursive_directory_iterator(folder_))
      all.push_back("file " + entry.path().string());
    for (const std::string& segment : shared())
      if (!before_.contains(segment) && !in_use(segment) && stays(segment))
        all.push_back("shared memory " + segment);
    return all;
  }
  ~Remains() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

 private:
  static std::string read(const std::filesystem::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::set<std::string> shared() const {
    std::set<std::string> all;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator("/dev/shm", none)) {
      const std::string name = entry.path().filename();
      if (name.starts_with("mpich_") || name.starts_with("vader_") || name.starts_with("sm_") ||
          name.starts_with("osc") || name.starts_with(folder_.substr(folder_.rfind('/') + 1) + "."))
        all.insert(name);
    }
    return all;
  }
  static bool in_use(const std::string& segment) {
    for (const auto& entry : std::filesystem::directory_iterator("/proc"))
      if (std::atoi(entry.path().filename().c_str()) > 0 &&
          read(entry.path() / "maps").find("/dev/shm/" + segment) != std::string::npos)
        return true;
    return false;
  }
  // Of a job that is being ended by another it goes once all its processes have.
  static bool stays(const std::string& segment) {
    return !soon([&] { return !std::filesystem::exists("/dev/shm/" + segment); });
  }
  static std::string new_folder() {
    static int number = 0;
    const std::string folder =
        "/tmp/plumb-remains." + std::to_string(::getpid()) + "." + std::to_string(++number);
    std::filesystem::create_directories(folder);
    return folder;
  }

  std::string folder_ = new_folder(), mark_ = "PLUMB_REMAINS=" + folder_;
  std::set<std::string> before_ = shared();
  Variable tmpdir_{"TMPDIR", folder_}, marked_{"PLUMB_REMAINS", folder_};
};

}  // namespace plumb

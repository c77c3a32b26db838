// Which processes there are, for tests.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace plumb {

inline bool alive(pid_t pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string number, name, state;
  return stat >> number >> name >> state && state != "Z";
}

inline bool soon(const std::function<bool()>& true_at_last) {
  for (int i = 0; i < 3000; ++i) {
    if (true_at_last()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

// The processes whose command line contains `word`.
inline std::vector<pid_t> running(const std::string& word) {
  std::vector<pid_t> out;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "cmdline");
    std::string command;  // by lines, for an iterator would throw where the process ends meanwhile
    for (std::string line; std::getline(file, line);) command += line;
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    if (pid > 0 && command.find(word) != std::string::npos && pid != ::getpid() && alive(pid))
      out.push_back(pid);
  }
  return out;
}

}  // namespace plumb

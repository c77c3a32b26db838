// Cases that the tests of plumb bench time: two ranks of the backend of testing/fake.cc, whose clocks are planted.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "adapters/protocol/json.h"
#include "harness/command/testing/tool.h"

namespace plumb {

const std::string line = "'on x=2: reshard f32[8@x] -> f32[8]'";

inline std::string fake(const std::string& faults) { return "bench --backend '" PLUMB_FAKE " " + faults + "' "; }

// The records of a file, without the lines that say which run they are of.
inline std::vector<nlohmann::json> lines_of(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::vector<nlohmann::json> all;
  for (std::string one; std::getline(in, one);) all.push_back(parse_json(one));
  std::erase_if(all, [](const nlohmann::json& j) { return j.contains("started") || j.contains("ended"); });
  return all;
}

// One that a terminal interrupts: a shell's own background job would not hear of it.
inline pid_t started(const Folder& folder, const std::string& arguments) {
  const std::string command =
      "cd '" + folder.path.string() + "' && exec '" PLUMB_TOOL "' " + arguments + " > out 2> err";
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGINT, SIG_DFL);
    ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    ::_exit(9);
  }
  return child;
}

// Ctrl-C, once that many messages of a type went to and fro: the tool says so, with 130.
inline void interrupt_after(int messages, const std::string& type, const Folder& folder,
                     const std::string& command) {
  const std::string transcript = (folder.path / "transcript").string();
  ::setenv("PLUMB_TRANSCRIPT", transcript.c_str(), 1);
  const pid_t child = started(folder, command);
  ::unsetenv("PLUMB_TRANSCRIPT");
  const auto seen = [&] {
    const std::string said = contents(transcript), what = "\"type\":\"" + type + "\"";
    int n = 0;
    for (std::size_t at = 0; (at = said.find(what, at)) != said.npos; ++at) ++n;
    return n;
  };
  for (int i = 0; i < 12'000 && seen() < messages; ++i) ::usleep(10'000);
  ::kill(child, SIGINT);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 130) << contents(folder.path / "err");
}

}  // namespace plumb

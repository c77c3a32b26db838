// The built tool, run by its tests as a user runs it.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace plumb {

inline std::string contents(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::stringstream all;
  all << in.rdbuf();
  return all.str();
}

inline void write(const std::filesystem::path& path, const std::string& text) { std::ofstream(path) << text; }

// A folder of its own that goes away with it.
struct Folder {
  std::filesystem::path path;
  Folder() {
    std::string name = std::filesystem::temp_directory_path() / "plumb-test-XXXXXX";
    path = mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  Folder(const Folder&) = delete;
};

struct Ran {
  int code = -1;
  std::string out, err;
};

// `arguments` as a shell reads them; the folder is where the tool runs.
inline Ran run_tool(const Folder& folder, const std::string& arguments, const std::string& input = "") {
  write(folder.path / "stdin", input);
  const std::string command =
      "cd '" + folder.path.string() + "' && '" PLUMB_TOOL "' " + arguments + " <stdin >stdout 2>stderr";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, contents(folder.path / "stdout"),
          contents(folder.path / "stderr")};
}

}  // namespace plumb

// The dumps of scripts/dump-programs, unpacked beside the tests; for tests of the rooms of hlo.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace plumb::hlo {

inline std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// All folders, "jax@0.10.2/transformer.shardy" and the like, in order.
inline std::vector<std::filesystem::path> dump_folders() {
  std::vector<std::filesystem::path> folders;
  for (const auto& release : std::filesystem::directory_iterator(PLUMB_DUMPS))
    if (release.path().filename().string().starts_with("jax@"))
      for (const auto& program : std::filesystem::directory_iterator(release))
        folders.push_back(program.path());
  std::ranges::sort(folders);
  return folders;
}

// The one of a folder whose name holds `part`; an empty path where there is none.
inline std::filesystem::path dump(const std::filesystem::path& folder, const std::string& part) {
  for (const auto& file : std::filesystem::directory_iterator(folder))
    if (file.path().filename().string().find(part) != std::string::npos) return file.path();
  return {};
}

inline std::vector<std::filesystem::path> dumps() {
  std::vector<std::filesystem::path> files;
  for (const auto& folder : dump_folders())
    for (const auto& file : std::filesystem::directory_iterator(folder))
      if (file.path().extension() == ".txt") files.push_back(file.path());
  std::ranges::sort(files);
  return files;
}

}  // namespace plumb::hlo

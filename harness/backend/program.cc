#include "harness/backend/program.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "reference/words/fnv.h"

namespace plumb {

std::string files_hash(const Command& command) {
  const std::string_view name = std::string_view(command.name).substr(0, command.name.find_first_of(", /"));
  if (name.find('@') != name.npos) return "";
  std::uint64_t hash = fnv("");
  bool any = false;
  std::array<char, 1 << 16> buffer{};
  for (const std::string& word : command.argv) {
    std::error_code none;
    if (!std::filesystem::is_regular_file(word, none)) continue;
    std::ifstream in(word, std::ios::binary);
    while (in.read(buffer.data(), buffer.size()) || in.gcount() > 0)
      hash = fnv({buffer.data(), static_cast<std::size_t>(in.gcount())}, hash);
    any = true;
  }
  return any ? fmt::format("{:016x}", hash) : "";
}

}  // namespace plumb

#include "harness/command/files.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "reference/words/text.h"

namespace plumb {

std::string read_text(std::istream& in, const std::string& name) {
  constexpr std::string_view mark = "\xef\xbb\xbf";
  std::string text;
  std::array<char, 64 * 1024> chunk;
  errno = 0;
  do {
    in.read(chunk.data(), chunk.size());
    text.append(chunk.data(), static_cast<std::size_t>(in.gcount()));
    if (text.size() > longest_text)
      throw BadInput(fmt::format("{}: longer than {} MiB, the most that is read", name, longest_text >> 20));
  } while (in);
  if (in.bad()) throw BadInput(fmt::format("{}: {}", name, errno ? std::strerror(errno) : "cannot be read"));
  if (text.starts_with(mark)) text.erase(0, mark.size());
  return text;
}

std::string read_text(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw BadInput(fmt::format("{}: {}", path, std::strerror(errno)));
  return read_text(in, path);
}

}  // namespace plumb

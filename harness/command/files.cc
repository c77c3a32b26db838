#include "harness/command/files.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "harness/backend/lookup.h"
#include "reference/words/text.h"

namespace plumb {

namespace {

BadInput unreadable(const std::string& name, const std::string& expected) {
  const std::string why = errno ? std::strerror(errno) : "cannot be read";
  return BadInput(fmt::format("{}: {}{}{}", name, why, expected.empty() ? "" : "; expected ", expected));
}

}  // namespace

std::string read_text(std::istream& in, const std::string& name, const std::string& expected) {
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
  if (in.bad()) throw unreadable(name, expected);
  if (text.starts_with(mark)) text.erase(0, mark.size());
  return text;
}

std::string read_text(const std::string& path, const std::string& expected) {
  std::ifstream in(path);
  if (!in) throw unreadable(path, expected);
  return read_text(in, path, expected);
}

namespace {

// A waiver of a backend that there is not names nothing. A command is whatever it is.
void check_backend(const Waiver& waiver) {
  if (waiver.backend.find_first_of(" /") != std::string::npos) return;
  try {
    row_named(waiver.backend.substr(0, waiver.backend.find_first_of("@,")));
  } catch (const BadInput& error) {
    const std::size_t at = waiver.row.find(waiver.backend);
    throw BadInput(fmt::format("{}: {}", waiver.origin, bad_input(without_excerpt(error), waiver.row, at).what()));
  }
}

}  // namespace

std::vector<Waiver> waivers_in(const std::string& path) {
  if (path.empty()) return {};
  std::istringstream in(read_text(path, "known findings, a row each (harness/waive/README.md)"));
  std::vector<Waiver> all = read_waivers(in, path);
  for (const Waiver& waiver : all) check_backend(waiver);
  return all;
}

void check_writable(const std::string& path) {
  const bool there = std::filesystem::exists(std::filesystem::symlink_status(path));
  if (!std::ofstream(path, std::ios::app)) throw BadInput(fmt::format("{}: {}", path, std::strerror(errno)));
  if (!there) std::filesystem::remove(path);
}

std::unique_ptr<Journal> journal_of(const std::string& path) {
  if (path.empty()) return nullptr;
  auto journal = std::make_unique<Journal>(path);
  if (journal->before().torn)
    fmt::print(stderr, "plumb: {}: its last line was not whole and is cut off\n", path);
  return journal;
}

}  // namespace plumb

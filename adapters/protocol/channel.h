// The pipes of a program, and the arena that it maps.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace plumb {

struct Channel {
  int requests = -1, replies = -1;
  std::string buffer{};
  std::size_t used = 0;  // bytes of the buffer that were handed out
  std::vector<char> chunk = std::vector<char>(64 * 1024);
};

// That of PLUMB_REQUESTS and PLUMB_REPLIES. All throw std::runtime_error.
Channel open_channel();

// The next line without its end; nothing where the requests end.
std::optional<std::string> read_line(Channel&);
void write_line(const Channel&, std::string line);

// The arena file and as much of it as is mapped.
struct Mapping {
  int file = -1;
  std::span<std::byte> bytes;

  explicit Mapping(const std::string& path);
  Mapping(const Mapping&) = delete;
  ~Mapping();
  void reach(std::size_t size);
};

}  // namespace plumb

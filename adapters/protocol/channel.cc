#include "adapters/protocol/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

namespace plumb {
namespace {

int descriptor(const char* variable) {
  const char* value = std::getenv(variable);
  if (!value)
    throw std::runtime_error(fmt::format("{} is not set: this program is started by plumb", variable));
  return std::atoi(value);
}

}  // namespace

Channel open_channel() { return {descriptor("PLUMB_REQUESTS"), descriptor("PLUMB_REPLIES")}; }

std::optional<std::string> read_line(Channel& channel) {
  channel.buffer.erase(0, channel.used);
  channel.used = 0;
  std::size_t scanned = 0;
  while (true) {
    const std::size_t end = channel.buffer.find('\n', scanned);
    if (end != std::string::npos) {
      channel.used = end + 1;
      return channel.buffer.substr(0, end);
    }
    scanned = channel.buffer.size();
    const ssize_t n = ::read(channel.requests, channel.chunk.data(), channel.chunk.size());
    if (n == 0) return std::nullopt;
    if (n > 0)
      channel.buffer.append(channel.chunk.data(), static_cast<std::size_t>(n));
    else if (errno != EINTR)
      throw std::runtime_error(fmt::format("reading a request: {}", strerror(errno)));
  }
}

void write_line(const Channel& channel, std::string line) {
  line.push_back('\n');
  for (std::size_t at = 0; at < line.size();) {
    const ssize_t n = ::write(channel.replies, line.data() + at, line.size() - at);
    if (n >= 0)
      at += static_cast<std::size_t>(n);
    else if (errno != EINTR)
      throw std::runtime_error(fmt::format("writing a reply: {}", strerror(errno)));
  }
}

Mapping::Mapping(const std::string& path) : file(::open(path.c_str(), O_RDWR | O_CLOEXEC)) {
  if (file < 0) throw std::runtime_error(fmt::format("opening the arena {}: {}", path, strerror(errno)));
}

Mapping::~Mapping() {
  if (!bytes.empty()) ::munmap(bytes.data(), bytes.size());
  ::close(file);
}

void Mapping::reach(std::size_t size) {
  if (size <= bytes.size()) return;
  if (!bytes.empty()) ::munmap(bytes.data(), bytes.size());
  bytes = {};
  void* at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
  if (at == MAP_FAILED)
    throw std::runtime_error(fmt::format("mapping {} bytes of the arena: {}", size, strerror(errno)));
  bytes = {static_cast<std::byte*>(at), size};
}

}  // namespace plumb

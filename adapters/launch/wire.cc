#include "adapters/launch/wire.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <system_error>
#include <utility>

namespace plumb::launch {
namespace {

constexpr std::uint64_t most_at_once = 1 << 16;

bool for_now() { return errno == EAGAIN || errno == EINTR; }

// The next bytes of what is to be sent, some of them.
std::string_view next_part(const Posted& post, std::uint64_t sent, int arena) {
  static std::array<char, most_at_once> chunk;
  if (sent < post.text.size()) return std::string_view(post.text).substr(sent);
  const std::uint64_t done = sent - post.text.size(), left = post.bytes - done;
  const ssize_t n =
      ::pread(arena, chunk.data(), std::min(left, most_at_once), static_cast<off_t>(post.at + done));
  if (n <= 0) fail("reading the arena");
  return {chunk.data(), static_cast<std::size_t>(n)};
}

}  // namespace

void fail(const char* doing) { throw std::system_error(errno, std::generic_category(), doing); }

bool receive(Wire& wire) {
  std::array<char, most_at_once> chunk;
  const ssize_t n = ::recv(wire.socket, chunk.data(), chunk.size(), MSG_DONTWAIT);
  if (n > 0) wire.heard.append(chunk.data(), static_cast<std::size_t>(n));
  return n > 0 || (n < 0 && for_now());
}

std::optional<std::string> next_line(Wire& wire) {
  const std::size_t end = wire.heard.find('\n', wire.scanned);
  wire.scanned = end == wire.heard.npos ? wire.heard.size() : 0;
  if (end == wire.heard.npos) return std::nullopt;
  std::string line = wire.heard.substr(0, end);
  wire.heard.erase(0, end + 1);
  return line;
}

std::uint64_t take_bytes(Wire& wire, int file, std::uint64_t at, std::uint64_t most) {
  const std::uint64_t there = std::min<std::uint64_t>(wire.heard.size(), most);
  for (std::uint64_t done = 0; done < there;) {
    const ssize_t n = ::pwrite(file, wire.heard.data() + done, there - done, static_cast<off_t>(at + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail("writing to the arena");
    done += static_cast<std::uint64_t>(n);
  }
  wire.heard.erase(0, there), wire.scanned = 0;
  return there;
}

void post_first(Wire& wire, Posted post) {
  wire.posts.insert(wire.posts.begin() + (wire.sent > 0 ? 1 : 0), std::move(post));
}

bool send_posts(Wire& wire, int arena) {
  while (!wire.posts.empty()) {
    const Posted& post = wire.posts.front();
    const std::string_view part = next_part(post, wire.sent, arena);
    const ssize_t n = ::send(wire.socket, part.data(), part.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0) return for_now();
    wire.sent += static_cast<std::uint64_t>(n);
    if (wire.sent == post.text.size() + post.bytes) wire.posts.pop_front(), wire.sent = 0;
  }
  return true;
}

}  // namespace plumb::launch

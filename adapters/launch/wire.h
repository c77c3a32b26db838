// One connection to a rank: lines, some with bytes of the arena behind them. Nothing waits for a rank that
// does not listen: what cannot be sent at once is kept.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

namespace plumb::launch {

// Ends the program: what failed, and why the system says it did.
[[noreturn]] void fail(const char* doing);

// What is to be sent: a line, and so many bytes of the arena behind it.
struct Posted {
  std::string text;
  std::uint64_t at = 0, bytes = 0;
};

struct Wire {
  int socket = -1;
  std::string heard{};         // what came and nobody has taken
  std::size_t scanned = 0;     // of it: known to hold no end of a line
  std::deque<Posted> posts{};  // what is still to be sent, the first of them
  std::uint64_t sent = 0;      // but for so much of it
};

// Takes in what is there; false once the connection has ended.
bool receive(Wire&);

// The next whole line that came, without its end.
std::optional<std::string> next_line(Wire&);

// Writes bytes that came to a file; how many it were.
std::uint64_t take_bytes(Wire&, int file, std::uint64_t at, std::uint64_t most);

// Ahead of what is still to be sent, but for what was begun.
void post_first(Wire&, Posted);

// Sends as much as can be sent at once; false once the connection has ended.
bool send_posts(Wire&, int arena);

}  // namespace plumb::launch

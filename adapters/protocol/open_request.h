// Where the only rank of a launch has the descriptors of the protocol itself: what plumb-launch, which only
// watches then, has to know of its request. It lies in memory that both see, so that nobody is woken.
#pragma once

#include <atomic>
#include <cstdint>

namespace plumb {

struct OpenRequest {
  // A rank that is killed while it takes a request or replies leaves it unknown whether one is open.
  // The launcher replies in its place once it is `judged`, and reads requests again once they are
  // `taken_back`.
  enum State : std::int32_t { none, taking, open, replying, given_up, ended, judged, taken_back };
  std::atomic<std::int32_t> state{none};
  std::atomic<std::int64_t> id{-1}, begun{0};  // nanoseconds of the machine's clock that never goes back
  std::atomic<double> seconds{0};
};
static_assert(std::atomic<double>::is_always_lock_free && std::atomic<std::int64_t>::is_always_lock_free);

// The variable with the number of the descriptor of that memory; what a rank that can do so says when it
// joins; and what the launcher says when the rank is to do so.
constexpr const char* open_request_variable = "PLUMB_OPEN_REQUEST";
constexpr const char* can_read = R"({"type":"can read"})";
constexpr const char* read_on = R"({"type":"read on"})";

// Maps the memory behind a descriptor; null where it is none.
OpenRequest* open_request(int descriptor);

}  // namespace plumb

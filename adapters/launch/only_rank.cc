#include "adapters/launch/only_rank.h"

#include <poll.h>

#include <chrono>
#include <optional>
#include <stdexcept>

#include "adapters/launch/carry.h"
#include "adapters/protocol/fields.h"
#include "adapters/protocol/json.h"
#include "adapters/protocol/open_request.h"

namespace plumb::launch {

using nlohmann::json;

bool can_read_on(const Relay& relay) {
  return relay.inherited.request && relay.running && relay.hub.seats[0].reads && relay.buffer.empty();
}

namespace {

bool late(const OpenRequest& r) {
  return r.state == OpenRequest::open &&
         Clock::now() >= before(r.seconds, Clock::time_point(std::chrono::nanoseconds(r.begun)));
}

// Replies in the place of the rank that reads requests itself, where one is open and it has not begun to.
// What is not known is said by the end of this program.
bool judge(OpenRequest& r, Relay& relay, json reply) {
  std::int32_t open = OpenRequest::open;
  if (!r.state.compare_exchange_strong(open, OpenRequest::judged)) return false;
  reply["id"] = r.id.load();
  say_line(relay, dump(reply));
  return true;
}

bool is_over(const OpenRequest& r) {
  return r.state == OpenRequest::ended || r.state == OpenRequest::given_up;
}

// Whether no request is open. Where one waits to be read, the reply to the one before has arrived, though the
// rank may not have come to say so.
bool between_requests(const Relay& relay, std::int32_t state, int milliseconds) {
  pollfd there{relay.requests, POLLIN, 0};
  return state == OpenRequest::none ||
         (state == OpenRequest::replying && ::poll(&there, 1, milliseconds) > 0);
}

// A request for which the rank does not come, as one that is stopped, is asked as those of several ranks are.
struct Patience {
  std::optional<Clock::time_point> since{};
  bool is_over(const Relay& relay) {
    constexpr std::chrono::seconds patience{1};
    pollfd there{relay.requests, POLLIN, 0};
    std::int32_t state = relay.inherited.request->state;
    const bool waits = between_requests(relay, state, 0) && ::poll(&there, 1, 0) > 0;
    if (!waits) since.reset();
    if (waits && !since) since = Clock::now();
    return waits && Clock::now() - *since > patience &&
           relay.inherited.request->state.compare_exchange_strong(state, OpenRequest::taken_back);
  }
};

}  // namespace

bool watch(Relay& relay) {
  OpenRequest& r = *relay.inherited.request;
  Patience patience;
  r.state = OpenRequest::none;
  read_on(relay.hub);
  while (!is_over(r)) {
    bool lost = true;
    try {
      step(relay.hub, Clock::now() + std::chrono::milliseconds(100));
      if (!is_over(r)) look_after(relay);
      lost = false;
      if (patience.is_over(relay)) {
        relay.waits = patience.since;
        return true;
      }
      if (late(r)) hangs(relay);
    } catch (Failure& f) {
      if (judge(r, relay, f.reply)) break;
      constexpr int a_second = 1000;
      if (lost && between_requests(relay, r.state, a_second)) return true;  // the next request will see it
      if (lost && !is_over(r)) throw std::runtime_error(text_or(f.reply, "message"));
    }
  }
  const bool more = r.state != OpenRequest::ended;
  stop(relay, more ? at_once : of_themselves);
  return more;
}

}  // namespace plumb::launch

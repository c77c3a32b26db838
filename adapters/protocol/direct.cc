#include "adapters/protocol/direct.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cstdlib>

#include "adapters/protocol/clocked.h"
#include "adapters/protocol/skim.h"

namespace plumb {

std::optional<Direct> direct_channel() {
  const char* number = std::getenv(open_request_variable);
  OpenRequest* request = number ? open_request(std::atoi(number)) : nullptr;
  if (!request) return std::nullopt;
  return Direct{request, open_channel()};
}

Heard read_line(Direct& direct) {
  OpenRequest& r = *direct.request;
  constexpr int look_again = 1000;  // whether they are taken back
  if (r.state == OpenRequest::given_up) return Heard{};
  pollfd there{direct.channel.requests, POLLIN, 0};
  while (::poll(&there, 1, look_again) <= 0 && r.state == OpenRequest::none) {
  }
  std::int32_t none = OpenRequest::none;
  if (!r.state.compare_exchange_strong(none, OpenRequest::taking)) return Heard{.taken_back = true};
  auto line = read_line(direct.channel);
  if (!line) {
    r.state = OpenRequest::ended;
    return Heard{};
  }
  const Skimmed skimmed = skim(*line);
  r.id = skimmed.id, r.seconds = skimmed.seconds, r.begun = machine_time();
  r.state = OpenRequest::open;
  return {std::move(line)};
}

void write_line(Direct& direct, const std::string& line) {
  OpenRequest& r = *direct.request;
  if (line.starts_with(R"({"type":"alive")")) {
    r.begun = machine_time();
    return write_line(direct.channel, line);
  }
  for (std::int32_t open = OpenRequest::open; !r.state.compare_exchange_strong(open, OpenRequest::replying);)
    ::pause();
  const bool gives_up = line.starts_with(R"({"type":"reneged")");
  write_line(direct.channel, line);
  // They may have been taken back since: whoever has read the reply may ask again at once.
  std::int32_t replying = OpenRequest::replying;
  r.state.compare_exchange_strong(replying, gives_up ? OpenRequest::given_up : OpenRequest::none);
}

}  // namespace plumb

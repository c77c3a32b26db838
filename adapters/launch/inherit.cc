#include "adapters/launch/inherit.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <stdexcept>

namespace plumb::launch {

int descriptor(const char* variable) {
  const char* value = std::getenv(variable);
  if (!value)
    throw std::invalid_argument(fmt::format("{} is not set: plumb-launch is started by plumb", variable));
  int fd = -1;
  const std::string text = value;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), fd);
  if (error != std::errc{} || end != text.data() + text.size() || ::fcntl(fd, F_SETFD, FD_CLOEXEC) != 0)
    throw std::invalid_argument(
        fmt::format("{}={} is no open descriptor: plumb-launch is started by plumb", variable, text));
  return fd;
}

Inherited leave_to(const Asked& asked, int requests, int replies) {
  if (asked.launcher != "own" || asked.ranks != 1) return {};
  const int memory = ::memfd_create("open request", 0);
  if (memory < 0 || ::ftruncate(memory, sizeof(OpenRequest)) != 0) return {};
  for (int fd : {requests, replies}) ::fcntl(fd, F_SETFD, 0);
  return {
      open_request(memory),
      {{open_request_variable, std::to_string(memory)},
                {"PLUMB_REQUESTS", std::to_string(requests)},
                {"PLUMB_REPLIES", std::to_string(replies)}}
  };
}

}  // namespace plumb::launch

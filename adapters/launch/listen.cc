#include "adapters/launch/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <stdexcept>

#include "adapters/launch/wire.h"

namespace plumb::launch {
namespace {

constexpr int most_at_the_door = 1024;

[[noreturn]] void cannot_listen() { fail("listening for ranks"); }

Listener bound(const sockaddr* address, socklen_t size) {
  const int listener = ::socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener < 0 || ::bind(listener, address, size) != 0 || ::listen(listener, most_at_the_door) != 0)
    cannot_listen();
  return {listener, ""};
}

socklen_t size_of(const sockaddr* address) {
  return address->sa_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
}

// The address of an interface of this name, of IPv4 where it has one; or the name itself.
std::string address_of(const std::string& interface) {
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return interface;
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> all(first, ::freeifaddrs);
  std::array<char, NI_MAXHOST> text{};
  for (int family : {AF_INET, AF_INET6})
    for (const ifaddrs* one = first; one; one = one->ifa_next)
      if (one->ifa_name == interface && one->ifa_addr && one->ifa_addr->sa_family == family &&
          ::getnameinfo(one->ifa_addr, size_of(one->ifa_addr), text.data(), text.size(), nullptr, 0,
                        NI_NUMERICHOST) == 0)
        return text.data();
  return interface;
}

}  // namespace

std::string folder_named(const char* variable) {
  const char* folder = std::getenv(variable);
  if (!folder || !*folder) return "";
  if (::access((std::string(folder) + "/.").c_str(), W_OK | X_OK) != 0)
    throw std::invalid_argument(fmt::format("plumb-launch: {}={}: {}", variable, folder, strerror(errno)));
  return folder;
}

std::string new_token() {
  std::array<unsigned char, 16> random{};
  if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size()))
    fail("making a token");
  return fmt::format("{:02x}", fmt::join(random, ""));
}

std::string written(const std::string& text) {
  const std::string shared = folder_named("PLUMB_SHARED"), own = folder_named("TMPDIR");
  std::string path = fmt::format("{}/launch.XXXXXX", !shared.empty() ? shared : !own.empty() ? own : "/tmp");
  const int file = ::mkostemp(path.data(), O_CLOEXEC);  // of mode 0600
  if (file < 0 || ::write(file, text.data(), text.size()) != std::ssize(text))
    fail("writing the address for ranks");
  ::close(file);
  return path;
}

Listener listen_here() {
  const std::string folder = folder_named("TMPDIR");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = fmt::format("{}/ranks.{}", folder.empty() ? "/tmp" : folder, ::getpid());
  if (path.size() >= sizeof address.sun_path)
    throw std::invalid_argument(
        fmt::format("plumb-launch: TMPDIR={}: the path of a socket in it has {} letters, "
                    "and {} are the most",
                    folder, path.size(), sizeof address.sun_path - 1));
  std::memcpy(address.sun_path, path.data(), path.size());
  ::unlink(path.c_str());
  Listener listener = bound(reinterpret_cast<const sockaddr*>(&address), sizeof address);
  listener.address = "unix:" + path;
  return listener;
}

Listener listen_on(const std::string& interface) {
  const std::string host = address_of(interface);
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM, hints.ai_flags = AI_PASSIVE;
  if (const int error = ::getaddrinfo(host.c_str(), "0", &hints, &found); error != 0)
    throw std::invalid_argument(
        fmt::format("plumb-launch: --interface {}: {}", interface, ::gai_strerror(error)));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> kept(found, ::freeaddrinfo);
  Listener listener = bound(found->ai_addr, found->ai_addrlen);
  sockaddr_storage got{};
  socklen_t size = sizeof got;
  std::array<char, 32> port{};
  if (::getsockname(listener.socket, reinterpret_cast<sockaddr*>(&got), &size) != 0 ||
      ::getnameinfo(reinterpret_cast<sockaddr*>(&got), size, nullptr, 0, port.data(), port.size(),
                    NI_NUMERICSERV) != 0)
    cannot_listen();
  listener.address = fmt::format("tcp:{}:{}", host, port.data());
  return listener;
}

}  // namespace plumb::launch

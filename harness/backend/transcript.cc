#include "harness/backend/transcript.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <system_error>

#include "reference/words/text.h"

namespace plumb {

Transcript::Transcript() {
  const char* path = std::getenv("PLUMB_TRANSCRIPT");
  if (!path || !*path) return;
  file_ = ::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file_ < 0) throw BadInput(fmt::format("PLUMB_TRANSCRIPT={}: {}", path, std::strerror(errno)));
}

Transcript::~Transcript() {
  if (file_ >= 0) ::close(file_);
}

void Transcript::add(std::string_view direction, std::string_view line) {
  if (file_ < 0) return;
  const std::string entry = fmt::format("{} {}\n", direction, line);
  if (::write(file_, entry.data(), entry.size()) != std::ssize(entry))
    throw std::system_error(errno, std::generic_category(), "writing the transcript");
}

}  // namespace plumb

#include "harness/backend/arena_file.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstring>
#include <system_error>
#include <vector>

namespace plumb {

namespace {

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

constexpr std::uint64_t smallest = 1 << 20;
constexpr std::uint64_t page = 4096;
constexpr std::uint64_t most_ones = 64 << 20;

}  // namespace

ArenaFile::ArenaFile() : file_(::memfd_create("plumb-arena", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
  if (file_ < 0) fail("making the arena");
  if (::fcntl(file_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL) != 0) fail("sealing the arena");
  reach(smallest);
}

ArenaFile::~ArenaFile() { ::close(file_); }

std::string ArenaFile::path() const { return fmt::format("/proc/{}/fd/{}", ::getpid(), file_); }

// A backend can make the file longer: what it added is part of the arena from then on.
void ArenaFile::measure() {
  struct stat now;
  if (::fstat(file_, &now) != 0) fail("measuring the arena");
  size_ = std::max(size_, static_cast<std::uint64_t>(now.st_size));
}

void ArenaFile::reach(std::uint64_t size) {
  measure();
  if (size <= size_) return;
  const std::uint64_t rounded = size > (std::uint64_t{1} << 62) ? size : std::bit_ceil(size);
  if (::ftruncate(file_, static_cast<off_t>(rounded)) != 0)
    fail(fmt::format("growing the arena to {} bytes", rounded));
  size_ = rounded;
}

void ArenaFile::write(std::uint64_t offset, std::span<const std::byte> from) {
  assert(offset <= size_ && from.size() <= size_ - offset);
  while (!from.empty()) {
    const ssize_t n = ::pwrite(file_, from.data(), from.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail("writing to the arena");
    from = from.subspan(static_cast<std::size_t>(n));
    offset += static_cast<std::uint64_t>(n);
  }
}

void ArenaFile::read(std::uint64_t offset, std::span<std::byte> into) const {
  assert(offset <= size_ && into.size() <= size_ - offset);
  for (std::span<std::byte> left = into; !left.empty();) {
    const ssize_t n =
        ::pread(file_, left.data(), left.size(), static_cast<off_t>(offset + into.size() - left.size()));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail("reading the arena");
    left = left.subspan(static_cast<std::size_t>(n));
  }
  if (offset + into.size() > written_) holes_as_ones(offset, into);
}

std::optional<std::uint64_t> ArenaFile::differs(std::uint64_t offset,
                                                std::span<const std::byte> written) const {
  std::vector<std::byte> now(std::min<std::size_t>(written.size(), 1 << 18));
  for (std::size_t at = 0; at < written.size(); at += now.size()) {
    const std::span<std::byte> chunk = std::span(now).first(std::min(now.size(), written.size() - at));
    read(offset + at, chunk);
    if (std::memcmp(chunk.data(), written.data() + at, chunk.size()) == 0) continue;
    return at + (std::ranges::mismatch(chunk, written.subspan(at, chunk.size())).in1 - chunk.begin());
  }
  return std::nullopt;
}

// The first offset from `at` on that is of a page that was written, or of one that was not.
std::uint64_t ArenaFile::next(int what, std::uint64_t at) const {
  const off_t found = ::lseek(file_, static_cast<off_t>(at), what);
  return found < 0 ? size_ : static_cast<std::uint64_t>(found);
}

void ArenaFile::holes_as_ones(std::uint64_t offset, std::span<std::byte> into) const {
  const std::uint64_t end = offset + into.size();
  for (std::uint64_t hole = next(SEEK_HOLE, std::max(offset, written_)); hole < end;) {
    const std::uint64_t data = std::min(next(SEEK_DATA, hole), end);
    std::ranges::fill(into.subspan(hole - offset, data - hole), std::byte{0xff});
    hole = next(SEEK_HOLE, data);
  }
}

void ArenaFile::poison(std::uint64_t begin, std::uint64_t due) {
  static const auto ones = [] {
    std::array<std::byte, 64 * 1024> bytes;
    bytes.fill(std::byte{0xff});
    return bytes;
  }();
  measure();
  assert(begin <= size_);
  written_ = std::min(size_, (begin + std::min(due, most_ones) + page - 1) / page * page);
  for (std::uint64_t at = begin; at < written_; at += std::min<std::uint64_t>(written_ - at, ones.size()))
    write(at, std::span(ones).first(std::min<std::uint64_t>(written_ - at, ones.size())));
  if (next(SEEK_DATA, written_) == size_) return;
  if (::fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(written_),
                  static_cast<off_t>(size_ - written_)) != 0)
    fail("clearing the arena");
}

}  // namespace plumb

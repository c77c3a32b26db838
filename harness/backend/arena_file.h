// The file in memory through which arrays pass. It has no name, so nothing is left of it; a seal keeps a
// backend from making it shorter; the harness reads and writes it by offset and never maps it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace plumb {

class ArenaFile {
 public:
  ArenaFile();  // throws std::system_error, as the others do
  ~ArenaFile();
  ArenaFile(const ArenaFile&) = delete;

  // A path by which any process of this user opens it while this one lives.
  std::string path() const;
  std::uint64_t size() const { return size_; }
  void reach(std::uint64_t size);  // at least so large; what is never written takes no memory

  void write(std::uint64_t offset, std::span<const std::byte>);
  void read(std::uint64_t offset, std::span<std::byte> into) const;  // within size()

  // The first byte that is another than was written there; nothing where there is none.
  std::optional<std::uint64_t> differs(std::uint64_t offset, std::span<const std::byte> written) const;

  // From `begin` on nothing is left of an earlier case, and what nobody writes reads as ones: `due` bytes
  // are written so, 64 MiB at most; behind them memory is given back, and pages in which nothing was
  // written since read as ones. (In one that was written in part, the rest of it reads as zeros.)
  void poison(std::uint64_t begin, std::uint64_t due);

 private:
  void measure();
  std::uint64_t next(int what, std::uint64_t at) const;
  void holes_as_ones(std::uint64_t offset, std::span<std::byte> into) const;

  int file_ = -1;
  std::uint64_t size_ = 0;
  std::uint64_t written_ = UINT64_MAX;  // the end of the ones that were written
};

}  // namespace plumb

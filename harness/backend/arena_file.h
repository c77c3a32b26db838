// The file in memory through which arrays pass. It has no name, so nothing is left of it; a seal keeps a
// backend from making it shorter; the harness reads and writes it by offset and never maps it.
#pragma once

#include <cstddef>
#include <cstdint>
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

  // Overwrites [begin, end), so that what an earlier case left there cannot pass for an answer: with
  // ones, or with zeros where it is so long that its memory is better given back.
  void poison(std::uint64_t begin, std::uint64_t end);

 private:
  int file_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace plumb

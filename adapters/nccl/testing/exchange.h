// How the ranks of the stub of NCCL exchange bytes.
#pragma once

#include <fcntl.h>
#include <nccl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace stub {

// Where memory of the stub of CUDA is reached.
constexpr std::uintptr_t kFar = std::uintptr_t{1} << 62;
inline const std::byte* here(const void* at) {
  return reinterpret_cast<const std::byte*>(reinterpret_cast<std::uintptr_t>(at) ^ kFar);
}
inline std::byte* here(void* at) { return const_cast<std::byte*>(here(static_cast<const void*>(at))); }

// Bytes from one rank to another.
struct Ring {
  static constexpr std::size_t size = 1 << 15;
  std::atomic<std::size_t> put, got;
  std::byte bytes[size];

  std::size_t write(const std::byte* from, std::size_t n) {
    const std::size_t at = put.load(), room = size - (at - got.load()), some = std::min(n, room);
    for (std::size_t i = 0; i < some; ++i) bytes[(at + i) % size] = from[i];
    put.store(at + some);
    return some;
  }
  std::size_t read(std::byte* to, std::size_t n) {
    const std::size_t at = got.load(), some = std::min(n, put.load() - at);
    for (std::size_t i = 0; i < some; ++i) to[i] = bytes[(at + i) % size];
    got.store(at + some);
    return some;
  }
};

// What a rank says when it splits a communicator, for the n-th time; twice, for it may be one ahead.
struct Said {
  std::atomic<int> times;
  int colour[2], key[2];
};

constexpr int kMost = 64;
struct Shared {
  Said said[kMost];
  Ring rings[];
};

template <class Done>
bool wait_for(const std::atomic<bool>& aborted, Done&& done) {
  for (int idle = 0; !done(); ++idle) {
    if (aborted) return false;
    if (idle < 50)
      std::this_thread::yield();
    else
      ::usleep(50);
  }
  return true;
}

}  // namespace stub

// A communicator: a file of such rings, which its ranks map.
struct ncclComm {
  std::string file;
  int rank = 0, size = 0, splits = 0, channels = 2;
  void* profiled = nullptr;  // what a profiler wants to be told with its calls
  bool watched = false, called = false;
  stub::Shared* shared = nullptr;
  std::atomic<ncclResult_t> state{ncclInProgress};
  std::atomic<bool> aborted{false};
  std::atomic<int> in_graphs{0};  // its calls
  std::vector<std::unique_ptr<std::vector<struct Op>>> issued;  // graphs may repeat them

  stub::Ring& ring(int from, int to) const { return shared->rings[from * size + to]; }
  bool map() {
    const std::size_t bytes = sizeof(stub::Shared) + sizeof(stub::Ring) * size * size;
    const int fd = ::open(file.c_str(), O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ::ftruncate(fd, static_cast<off_t>(bytes)) != 0) return false;
    void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ::close(fd);
    shared = static_cast<stub::Shared*>(at);
    return at != MAP_FAILED;
  }
};

namespace stub {

struct Part {
  int peer;
  std::byte* at;
  std::size_t bytes;
};

// All of them at once.
inline void exchange(ncclComm& c, std::vector<Part> out, std::vector<Part> in) {
  const auto over = [](const Part& p) { return p.bytes == 0; };
  wait_for(c.aborted, [&] {
    bool full[kMost] = {}, empty[kMost] = {};
    for (Part& p : out)
      if (!full[p.peer]) {
        const std::size_t some = c.ring(c.rank, p.peer).write(p.at, p.bytes);
        p.at += some, p.bytes -= some, full[p.peer] = p.bytes > 0;
      }
    for (Part& p : in)
      if (!empty[p.peer]) {
        const std::size_t some = c.ring(p.peer, c.rank).read(p.at, p.bytes);
        p.at += some, p.bytes -= some, empty[p.peer] = p.bytes > 0;
      }
    std::erase_if(out, over), std::erase_if(in, over);
    return out.empty() && in.empty();
  });
}

}  // namespace stub

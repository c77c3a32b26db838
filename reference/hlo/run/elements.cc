#include "reference/hlo/run/elements.h"

#include <malloc.h>
#include <sys/mman.h>

#include <cstdint>
#include <map>
#include <mutex>

namespace plumb::hlo {
namespace {

constexpr std::size_t kPage = 2 << 20;

std::size_t in_pages(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

// From the system, at a multiple of a page.
void* mapped(std::size_t bytes) {
  void* const all = mmap(nullptr, bytes + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED) throw std::bad_alloc();
  char* const begin = static_cast<char*>(all);
  char* const block = begin + (kPage - reinterpret_cast<std::uintptr_t>(all) % kPage) % kPage;
  if (block != begin) munmap(begin, static_cast<std::size_t>(block - begin));
  munmap(block + bytes, static_cast<std::size_t>(begin + kPage - block));
  madvise(block, bytes, MADV_HUGEPAGE);  // a wish
  return block;
}

std::mutex access;
std::multimap<std::size_t, void*> unused;  // by size

// Gives at least so many bytes back, or all that there are.
void give_back(std::size_t bytes) {
  for (std::size_t given = 0; given < bytes && !unused.empty();) {
    const auto largest = std::prev(unused.end());
    munmap(largest->second, largest->first);
    given += largest->first;
    unused.erase(largest);
  }
}

}  // namespace

void keep_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the most that it takes
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
#endif
}

void* take_block(std::size_t bytes) {
  const std::scoped_lock lock(access);
  if (const auto kept = unused.find(in_pages(bytes)); kept != unused.end())
    return unused.extract(kept).mapped();
  give_back(in_pages(bytes));
  return mapped(in_pages(bytes));
}

void leave_block(void* block, std::size_t bytes) {
  const std::scoped_lock lock(access);
  unused.emplace(in_pages(bytes), block);
}

}  // namespace plumb::hlo

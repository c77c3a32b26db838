// Lists of elements that come into being unset: who makes one writes each of them.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace plumb::hlo {

// Memory in large pages, and its way back. What comes back is kept for who next asks for as much, since the
// system clears what it gives; but never are more blocks held than were in use at one time. Any thread may
// call.
void* take_block(std::size_t bytes);
void leave_block(void* block, std::size_t bytes);

// What smaller ones leave is kept by the process from here on, for the same reason. No thread may run beside.
void keep_memory();

constexpr std::size_t kBlock = 4 << 20;  // from so many bytes on

template <typename T>
struct Unset : std::allocator<T> {
  template <typename U>
  struct rebind {
    using other = Unset<U>;
  };
  T* allocate(std::size_t n) {
    return n * sizeof(T) < kBlock ? std::allocator<T>::allocate(n)
                                  : static_cast<T*>(take_block(n * sizeof(T)));
  }
  void deallocate(T* memory, std::size_t n) {
    n * sizeof(T) < kBlock ? std::allocator<T>::deallocate(memory, n) : leave_block(memory, n * sizeof(T));
  }
  template <typename U>
  void construct(U*) {}
  template <typename U, typename... Arguments>
  void construct(U* at, Arguments&&... arguments) {
    ::new (static_cast<void*>(at)) U(std::forward<Arguments>(arguments)...);
  }
};
template <typename T>
using Elements = std::vector<T, Unset<T>>;

}  // namespace plumb::hlo

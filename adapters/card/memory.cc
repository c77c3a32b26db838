#include "adapters/card/memory.h"

#include <algorithm>
#include <vector>

#include "adapters/card/driver.h"

namespace plumb::card {
namespace {

CUdeviceptr address(const std::byte* at) { return reinterpret_cast<CUdeviceptr>(at); }

std::byte* allocate_on_card(std::size_t bytes) {
  CUdeviceptr at = 0;
  const CUresult error = the_driver().MemAlloc(&at, std::max<std::size_t>(bytes, 1));
  if (error == CUDA_ERROR_OUT_OF_MEMORY) return nullptr;
  check(error, "cuMemAlloc");
  return reinterpret_cast<std::byte*>(at);
}

void put_on_card(std::byte* at, const std::byte* here, std::size_t bytes) {
  if (bytes > 0) check(the_driver().MemcpyHtoD(address(at), here, bytes), "cuMemcpyHtoD");
}

void get_from_card(std::byte* here, const std::byte* at, std::size_t bytes) {
  if (bytes > 0) check(the_driver().MemcpyDtoH(here, address(at), bytes), "cuMemcpyDtoH");
}

void copy_on_card(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes > 0)
    check(the_driver().MemcpyDtoDAsync(address(to), address(from), bytes, nullptr), "cuMemcpyDtoDAsync");
}

void set_on_card(std::byte* at, int byte, std::size_t bytes) {
  if (bytes > 0)
    check(the_driver().MemsetD8(address(at), static_cast<unsigned char>(byte), bytes), "cuMemsetD8");
}

void recast_by_way_of_here(const Recast& how, const std::byte* from, std::byte* to, std::int64_t count) {
  std::vector<std::byte> before(count * format(how.from).bytes), after(count * format(how.to).bytes);
  get_from_card(before.data(), from, before.size());
  own_hands().recast(how, before.data(), after.data(), count);
  put_on_card(to, after.data(), after.size());
}

}  // namespace

const Hands& card_hands() {
  static const Hands hands{
      {allocate_on_card, [](std::byte* at) { the_driver().MemFree(address(at)); }, set_on_card, put_on_card,
       get_from_card, copy_on_card,
       [] { check(the_driver().StreamSynchronize(nullptr), "cuStreamSynchronize"); }},
      recast_by_way_of_here
  };
  return hands;
}

}  // namespace plumb::card

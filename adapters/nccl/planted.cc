#include "adapters/nccl/planted.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "adapters/card/driver.h"
#include "adapters/nccl/communicators.h"

namespace plumb::nccl {
namespace {

void never_end(void*) {
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

// Before a call: whether it is made.
template <class Call, class Before>
void ask_first(Call& call, const Before& before) {
  call = [made = call, before](const auto&... given) {
    if (before()) made(given...);
  };
}

}  // namespace

void plant(const std::string& fault, int rank, Calls& calls) {
  if (fault.empty()) return;
  std::array<char, 8> text{};
  int whose = 0, number = 0, read = 0;
  const int found = std::sscanf(fault.c_str(), "%7[a-z]:%d:%d%n", text.data(), &whose, &number, &read);
  const std::string_view what = text.data();
  if (found != 3 || fault.size() != static_cast<std::size_t>(read) || number < 1 ||
      (what != "skips" && what != "endless"))
    throw std::invalid_argument(fmt::format("fault={}: expected skips:RANK:CALL or endless:RANK:CALL", fault));
  if (rank != whose) return;
  const auto before = [skips = what == "skips", number, made = std::make_shared<int>(0)] {
    if (++*made != number) return true;
    if (!skips)
      card::check(card::the_driver().LaunchHostFunc(stream(), never_end, nullptr), "cuLaunchHostFunc");
    return !skips;
  };
  ask_first(calls.reduce_scatter, before), ask_first(calls.all_reduce, before);
  ask_first(calls.all_gather, before), ask_first(calls.all_to_all, before);
  ask_first(calls.permute, before);
}

}  // namespace plumb::nccl

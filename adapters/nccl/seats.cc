#include "adapters/nccl/seats.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <stdexcept>

#include "adapters/nccl/functions.h"
#include "adapters/protocol/ranks.h"

namespace plumb::nccl {
namespace {

// What every rank says, by rank.
std::vector<std::string> said_by_all(const std::string& key, int rank, int world, const std::string& own) {
  put_shared(fmt::format("{} {}", key, rank), own);
  std::vector<std::string> all;
  for (int r = 0; r < world; ++r) all.push_back(get_shared(fmt::format("{} {}", key, r)));
  return all;
}

// Of all the same where they say the same; else of the first, and which it is.
std::string why_of_all(const std::vector<std::string>& whys) {
  const auto first = std::ranges::find_if(whys, [](const std::string& why) { return !why.empty(); });
  if (first == whys.end()) return "";
  const bool alike = std::ranges::count(whys, *first) == std::ssize(whys);
  return alike ? *first : fmt::format("rank {}: {}", first - whys.begin(), *first);
}

constexpr int kSharesCards = NCCL_VERSION(2, 30, 3);

// Why the library that is here does not let ranks share a GPU as is asked.
std::string why_not_shared(Share share) {
  std::string why;
  const Functions* f = functions(why);
  if (share != Share::multi || !f || f->version >= kSharesCards) return why;
  return fmt::format("share=multi: {} is NCCL {}, and 2.30.3 is the first that has it; share=hostid", f->file,
                     version_in_words(f->version));
}

// Only what the launcher's store takes.
std::string plain(std::string text) {
  std::erase_if(text, [](char c) { return c == '"' || c == '\\' || c < ' ' || c > '~'; });
  return text;
}

}  // namespace

std::string why_none_here() {
  std::string why;
  if (card::driver(why)) static_cast<void>(functions(why));
  return why;
}

int number_of_card(const std::vector<Seen>& all, int rank, Share share, std::string& why) {
  const Seen& own = all[rank];
  int before = 0, here = 0;
  for (std::size_t r = 0; r < all.size(); ++r)
    if (all[r].machine == own.machine) ++here, before += r < static_cast<std::size_t>(rank);
  if (own.cards == 1) return 0;
  if (share != Share::none && own.cards > 0) return own.cards < here ? before % own.cards : 0;
  if (own.cards >= here) return before;
  why =
      fmt::format("{} GPUs for {} ranks on one machine: np={}, or share=hostid", own.cards, here, own.cards);
  return -1;
}

std::string shared_by_accident(const std::vector<Place>& all) {
  for (std::size_t b = 0; b < all.size(); ++b)
    for (std::size_t a = 0; a < b; ++a)
      if (all[a].machine == all[b].machine && all[a].bus == all[b].bus)
        return fmt::format(
            "ranks {} and {} have the same GPU, {}: fewer ranks, another CUDA_VISIBLE_DEVICES "
            "for each, or share=hostid",
            a, b, all[a].bus);
  return "";
}

Seated take_card_of_rank(int rank, int world, Share share, const std::string& clock) {
  Seated seat;
  std::string why = why_none_here();
  if (why.empty()) why = why_not_shared(share);
  const Seen own{this_machine(), why.empty() ? card::cards() : 0};
  const auto whys = said_by_all("why", rank, world, plain(why));
  if (seat.why = why_of_all(whys); !seat.why.empty()) return seat;
  const auto machines = said_by_all("machine", rank, world, own.machine);
  const auto counts = said_by_all("cards", rank, world, std::to_string(own.cards));
  std::vector<Seen> all;
  for (int r = 0; r < world; ++r) all.push_back({machines[r], std::stoi(counts[r])});
  const auto clocks = said_by_all("clock", rank, world, clock);
  seat.several_clocks = std::ranges::count(clocks, clock) != std::ssize(clocks);
  const int number = number_of_card(all, rank, share, why);
  const auto all_go_on = [&](const std::string& key, const std::function<void()>& act) {
    try {
      if (why.empty()) act();
    } catch (const std::runtime_error& e) {
      why = e.what();
    }
    seat.why = why_of_all(said_by_all(key, rank, world, plain(why)));
    return seat.why.empty();
  };
  if (!all_go_on("no card", [&] { seat.card = card::find_card(number); })) return seat;
  // Before anything is taken of a card, which may not have it for so many.
  const auto buses = said_by_all("bus", rank, world, seat.card.bus);
  std::vector<Place> places;
  for (int r = 0; r < world; ++r) places.push_back({machines[r], buses[r]});
  if (share == Share::none) seat.why = shared_by_accident(places);
  if (seat.why.empty()) all_go_on("no context", [&] { card::take(seat.card); });
  return seat;
}

}  // namespace plumb::nccl

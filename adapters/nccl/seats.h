// Which rank has which GPU.
#pragma once

#include <string>
#include <vector>

#include "adapters/card/driver.h"

namespace plumb::nccl {

// Why no rank can run on this machine: no driver, no GPU, no library. Empty where one can.
std::string why_none_here();

// Whether several ranks may have one GPU: each with a host's name of its own, by which NCCL takes them for
// ranks of several hosts, or as NCCL 2.30 lets them.
enum class Share : std::uint8_t { none, hostid, multi };

// What a rank says of itself: its machine, and how many GPUs it sees there.
struct Seen {
  std::string machine;
  int cards = 0;
};

// The number of this rank's GPU among those that it sees: of the ranks of a machine each the next one; where
// a rank sees but one it is that; of ranks that share, of which each could have one, all have the first. -1, with why in one phrase, where no number is right.
int number_of_card(const std::vector<Seen>& all, int rank, Share, std::string& why);

// Why it cannot be: ranks that have the same GPU, by machine and place. Empty where it can.
struct Place {
  std::string machine, bus;
};
std::string shared_by_accident(const std::vector<Place>& all);

// The GPU of this rank, taken; all ranks ask together, and are told the same `why` where one of them has
// none. Clocks are several where ranks name different ones.
struct Seated {
  card::Card card;
  bool several_clocks = false;
  std::string why;
};
Seated take_card_of_rank(int rank, int world, Share, const std::string& clock);

}  // namespace plumb::nccl

// What the library says of its calls: it tells whoever profiles it, and here that is this program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "adapters/rank/added.h"

namespace plumb::nccl {

// Has to be asked for before the library is opened; from NCCL 2.26 on there are answers.
void ask_what_is_used();

// A communicator as the library sees it: a number that all its ranks know it by, of how many machines and
// ranks it is, and which of them this is. Before 2.27 the number and the rank alone are said; 0 is not known.
struct Circle {
  std::uint64_t number = 0;
  int machines = 0, ranks = 0, rank = -1;
};

// A call, as the library was given it and carries it out.
struct Told {
  std::string call;  // AllReduce, Reduce, ReduceScatter, AllGather, Send, Recv
  std::string type, algorithm, protocol;
  std::int64_t bytes = 0;  // of so many elements as it was given
  int peer = -1;           // of a send or a receive; of a reduction to one its root
  int channels = 0;
  Circle circle;
};

// Those since this was asked last, in their order; none while nobody listens, as under a clock.
std::vector<Told> told_since_asked();
void listen(bool);

// Whether the library has begun to tell.
bool tells();

// "used: AllReduce RING SIMPLE, 4 channels"; nothing of a send or a receive.
std::string in_words(const Told&);

// What was asked for; nothing where the library chooses. An algorithm is of all-reduces, `pat` of gathers and
// scattered sums.
struct Asked {
  std::string algorithm, protocol;
  int channels = 0;
};

// "algorithm=tree, protocol=ll"; empty where nothing was.
std::string in_words(const Asked&);

// "algorithm=tree: AllReduce used RING"; empty where the call was made as it was asked for. Fewer channels are
// what a call of few elements takes: words of their own, and no fault.
std::string not_as_asked(const Asked&, const Told&);
std::string fewer_channels(const Asked&, const Told&);

// How often a part of n was added and rounded, of floats that were added up so; 0 and 0 where the library's
// way is not known to the last rounding:
//   RING          one after the other, also TREE on one machine, which is a chain there
//   TREE          of machines with a rank each two additions on each level; of more the chains within besides
//   NVLS          by the switch of one machine, in f32, of f16, bf16 and f32
//   others        not known: in-network sums, trees of both, PAT, eight bits in NVLS
Added how_added(const Told&, std::int64_t n);

}  // namespace plumb::nccl

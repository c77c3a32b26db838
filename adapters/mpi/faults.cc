#include "adapters/mpi/faults.h"

#include <mpi.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>

namespace plumb::mpi {
namespace {

using Breaks = std::function<void(const World&, Calls&)>;

std::int64_t width(const Combination& r) { return format(r.combine.wire).bytes; }

// Each gathers all parts and adds them up for itself, from its own place on.
void adds_from_own(const World&, Calls& c) {
  c.all_reduce = [gather = c.all_gather](const Team& g, Combination& r) {
    const auto size = std::ssize(r.in), n = std::ssize(g.ids);
    Gathering all{std::vector<std::int64_t>(n, size), r.in, std::vector<std::byte>(size * n)};
    gather(g, all);
    for (std::int64_t i = 0; i < n; ++i) {
      const std::byte* part = all.out.data() + (g.mine + i) % n * size;
      if (i == 0)
        std::memcpy(r.out.data(), part, size);
      else
        combine_travelling(r.combine, r.out.data(), part, size / width(r));
    }
  };
}

// A call of the same size brings what the one before brought.
void stale_buffer(const World&, Calls& c) {
  auto kept = std::make_shared<std::map<std::size_t, std::vector<std::byte>>>();
  c.all_gather = [honest = c.all_gather, kept](const Team& g, Gathering& x) {
    honest(g, x);
    const auto [at, first] = kept->try_emplace(x.out.size(), x.out);
    if (!first) std::swap(at->second, x.out);
  };
}

void rotated_counts(const World&, Calls& c) {
  c.all_gather = [honest = c.all_gather](const Team& g, Gathering& x) {
    honest(g, x);
    std::rotate(x.out.begin(), x.out.begin() + x.counts[0], x.out.end());
  };
}

// The last member's part is zeros.
void drops_rank(const World&, Calls& c) {
  c.reduce_scatter = [honest = c.reduce_scatter](const Team& g, Combination& r) {
    if (g.mine + 1 == g.ids.size()) std::ranges::fill(r.in, std::byte{0});
    honest(g, r);
  };
}

void keeps_own_part(const World&, Calls& c) {
  c.reduce_scatter = [honest = c.reduce_scatter](const Team& g, Combination& r) {
    honest(g, r);
    std::int64_t before = 0;
    for (std::size_t i = 0; i < g.mine; ++i) before += r.counts[i] * width(r);
    std::copy_n(r.in.begin() + before, r.out.size(), r.out.begin());
  };
}

void reduces_twice(const World&, Calls& c) {
  c.all_reduce = [honest = c.all_reduce](const Team& g, Combination& r) {
    honest(g, r);
    r.in = r.out;
    honest(g, r);
  };
}

// One replica's sum ends in another bit.
void changes_replica(const World& world, Calls& c) {
  c.all_reduce = [honest = c.all_reduce, last = world.rank == 1](const Team& g, Combination& r) {
    honest(g, r);
    if (last && !r.out.empty()) r.out[0] ^= std::byte{1};
  };
}

// What came from two others stands in each other's place.
void swaps_senders(const World&, Calls& c) {
  c.all_to_all = [honest = c.all_to_all](const Team& g, std::vector<Parcel>& parcels) {
    honest(g, parcels);
    if (parcels.size() > 1 && parcels[0].in.size() == parcels[1].in.size()) std::swap(parcels[0].in, parcels[1].in);
  };
}

// What leaves comes back.
void returns_own(const World&, Calls& c) {
  c.permute = [honest = c.permute](std::vector<Parcel>& parcels) {
    honest(parcels);
    std::vector<std::byte>* out = nullptr;
    for (Parcel& p : parcels)
      if (!p.out.empty()) out = &p.out;
    for (Parcel& p : parcels)
      if (out && p.in.size() == out->size()) p.in = *out;
  };
}

// A call that nobody was told of.
void calls_in_secret(const World&, Calls& c) {
  c.all_gather = [honest = c.all_gather](const Team& g, Gathering& x) {
    honest(g, x);
    int one = 1, sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
  };
}

// Before its second call the third rank does this.
Breaks at_a_call(void (*act)()) {
  return [act](const World& world, Calls& c) {
    if (world.rank != 2) return;
    c.entering = [honest = c.entering, act, n = 0](const std::string& what) mutable {
      if (++n == 2) act();
      honest(what);
    };
  };
}

// The third rank does it once it waits.
Breaks in_a_call(void (*act)()) {
  return [act](const World& world, Calls& c) {
    if (world.rank != 2) return;
    c.entering = [honest = c.entering, act, n = 0](const std::string& what) mutable {
      honest(what);
      if (++n == 2) act();
    };
  };
}

const std::map<std::string, Breaks>& table() {
  static const std::map<std::string, Breaks> rows{
      {"adds-from-own",   adds_from_own                             },
      {"stale-buffer",    stale_buffer                              },
      {"rotated-counts",  rotated_counts                            },
      {"drops-rank",      drops_rank                                },
      {"keeps-own-part",  keeps_own_part                            },
      {"reduces-twice",   reduces_twice                             },
      {"changes-replica", changes_replica                           },
      {"swaps-senders",   swaps_senders                             },
      {"returns-own",     returns_own                               },
      {"calls-in-secret", calls_in_secret                           },
      {"sleeps",          at_a_call([] { ::sleep(600); })           },
      {"stops",           in_a_call([] { ::raise(SIGSTOP); })       },
      {"dies",            in_a_call([] { ::raise(SIGKILL); })       },
      {"exits",           at_a_call([] { std::_Exit(0); })          },
      {"forgets-to-say",  [](const World&, Calls&) {}               },
  };
  return rows;
}

}  // namespace

Calls broken(const std::string& fault, const World& world, Calls honest) {
  const auto at = table().find(fault);
  if (at == table().end()) throw std::invalid_argument("no fault " + fault);
  at->second(world, honest);
  return honest;
}

void break_trace(const std::string& fault, Trace& trace) {
  if (fault == "forgets-to-say" && !trace.empty()) trace.erase(trace.begin());
}

}  // namespace plumb::mpi

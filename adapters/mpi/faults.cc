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
#include <numeric>
#include <stdexcept>

#include "adapters/protocol/fault_lines.h"

namespace plumb::mpi {
namespace {

std::int64_t width(const Combination& r) { return format(r.combine.wire).bytes; }

std::int64_t bytes_in(const Combination& r) {
  return std::accumulate(r.counts.begin(), r.counts.end(), std::int64_t{0}) * width(r);
}

// Each gathers all parts, unseen, and adds them up for itself, from its own place on.
void adds_from_own(const World&, Calls& c) {
  c.all_reduce = [honest = c.all_reduce](const Team& g, const Combination& r) {
    honest(g, r);
    const auto size = bytes_in(r), n = std::ssize(g.ids);
    std::vector<std::byte> parts(size * n);
    PMPI_Allgather(r.in, static_cast<int>(size), MPI_BYTE, parts.data(), static_cast<int>(size), MPI_BYTE,
                   communicator(g));
    std::copy_n(parts.begin() + g.mine * size, size, r.out);
    for (std::int64_t i = 1; i < n; ++i)
      combine_travelling(r.combine, r.out, parts.data() + (g.mine + i) % n * size, size / width(r));
  };
}

// A call of the same size brings what the one before brought.
void stale_buffer(const World&, Calls& c) {
  auto kept = std::make_shared<std::map<std::int64_t, std::vector<std::byte>>>();
  c.all_gather = [honest = c.all_gather, kept](const Team& g, const Gathering& x) {
    honest(g, x);
    const Lots& out = x.out;
    for (std::size_t i = 0; i < g.ids.size(); ++i) {
      std::byte* at = out.at + out.starts[i];
      const auto [before, first] = kept->try_emplace(static_cast<std::int64_t>(i), at, at + out.counts[i]);
      if (!first && std::ssize(before->second) == out.counts[i])
        std::swap_ranges(before->second.begin(), before->second.end(), at);
    }
  };
}

// What each has stands one place further on.
void rotated_counts(const World&, Calls& c) {
  c.all_gather = [honest = c.all_gather](const Team& g, const Gathering& x) {
    honest(g, x);
    for (std::size_t i = 0; i + 1 < g.ids.size(); ++i)
      std::swap_ranges(x.out.at + x.out.starts[i],
                       x.out.at + x.out.starts[i] + std::min(x.out.counts[i], x.out.counts[i + 1]),
                       x.out.at + x.out.starts[i + 1]);
  };
}

// The last member's part is zeros.
void drops_rank(const World&, Calls& c) {
  c.reduce_scatter = [honest = c.reduce_scatter](const Team& g, Combination r) {
    const std::vector<std::byte> nothing(bytes_in(r));
    if (g.mine + 1 == g.ids.size()) r.in = nothing.data();
    honest(g, r);
  };
}

void keeps_own_part(const World&, Calls& c) {
  c.reduce_scatter = [honest = c.reduce_scatter](const Team& g, const Combination& r) {
    honest(g, r);
    std::int64_t before = 0;
    for (std::size_t i = 0; i < g.mine; ++i) before += r.counts[i] * width(r);
    std::copy_n(r.in + before, r.counts[g.mine] * width(r), r.out);
  };
}

void reduces_twice(const World&, Calls& c) {
  c.all_reduce = [honest = c.all_reduce](const Team& g, const Combination& r) {
    honest(g, r);
    const std::vector<std::byte> once(r.out, r.out + bytes_in(r));
    combine_travelling(r.combine, r.out, once.data(), bytes_in(r) / width(r));
  };
}

// One replica's sum ends in another bit.
void changes_replica(const World& world, Calls& c) {
  c.all_reduce = [honest = c.all_reduce, last = world.rank == 1](const Team& g, const Combination& r) {
    honest(g, r);
    if (last && bytes_in(r) > 0) r.out[0] ^= std::byte{1};
  };
}

// What came from two others stands in each other's place.
void swaps_senders(const World&, Calls& c) {
  c.all_to_all = [honest = c.all_to_all](const Team& g, const Swap& x) {
    honest(g, x);
    std::byte* first = nullptr;
    for (std::size_t i = 0; i < g.ids.size(); ++i) {
      std::byte* at = x.in.at + x.in.starts[i];
      if (i == g.mine || x.in.counts[i] == 0) continue;
      if (first) return void(std::swap_ranges(first, first + x.in.counts[i], at));
      first = at;
    }
  };
}

// What leaves comes back.
void returns_own(const World&, Calls& c) {
  c.permute = [honest = c.permute](const Passing& p) {
    honest(p);
    if (p.out.size() == p.in.size()) std::ranges::copy(p.out, p.in.begin());
  };
}

// A call that nobody was told of.
void calls_in_secret(const World&, Calls& c) {
  c.all_gather = [honest = c.all_gather](const Team& g, const Gathering& x) {
    honest(g, x);
    int one = 1, sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
  };
}

// The same of a kind that no plan has.
void broadcasts_in_secret(const World&, Calls& c) {
  c.all_gather = [honest = c.all_gather](const Team& g, const Gathering& x) {
    honest(g, x);
    int one = 1;
    MPI_Bcast(&one, 1, MPI_INT, 0, MPI_COMM_SELF);
  };
}

// Of its second call the third rank does this before it says that it waits, or once it does.
enum class When : std::uint8_t { before, within };
Breaks at_a_call(When when, void (*act)()) {
  return [=](const World& world, Calls& c) {
    if (world.rank != 2) return;
    c.entering = [=, honest = c.entering, n = 0](int known) mutable {
      ++n;
      if (n == 2 && when == When::before) act();
      honest(known);
      if (n == 2 && when == When::within) act();
    };
  };
}

void say_less(Trace& trace) {
  trace[0].in /= 2, trace[0].out /= 2;
  trace[0].moved.reset();
}
void leave_out(Trace& trace) { trace.erase(trace.begin()); }

constexpr const char* gather = "on x=4: reshard f32[8@x] -> f32[8]";
constexpr const char* again = "on x=4: reshard f32[8@x] -> f32[8] seed=7";
constexpr const char* scatter = "on x=4: reshard f32[8]+x -> f32[8@x]";
constexpr const char* reduce = "on x=4: reshard f32[8]+x -> f32[8]";
constexpr const char* rounded = "on x=4: reshard f32[64]+x -> f32[64] fill=normal";
constexpr const char* swap = "on x=4: reshard f32[8@x,8] -> f32[8,8@x]";
constexpr const char* across = "on x=2,y=2: reshard f32[8@x.y] -> f32[8@y.x]";
constexpr const char* two_axes = "on x=2,y=2: reshard f32[8@x] -> f32[8]";

// clang-format off
const std::vector<Fault>& table() {
  static const std::vector<Fault> rows{
    // name, what it does, the verdict, plan, flags, cases, what is broken: calls, the trace, or what is said of it
    {"adds-from-own", "adds up an all-reduce for itself, from its own part on", "diverged", "calls", "", {rounded}, adds_from_own},
    {"stale-buffer", "a gather brings what the one before brought", "wrong", "direct", "", {gather, again}, stale_buffer},
    {"rotated-counts", "a gather puts each part in the next one's place", "wrong", "direct", "", {gather}, rotated_counts},
    {"drops-rank", "a reduce-scatter takes zeros for the last rank's part", "wrong", "direct", "", {scatter}, drops_rank},
    {"keeps-own-part", "a reduce-scatter leaves each its own part", "wrong", "direct", "", {scatter}, keeps_own_part},
    {"reduces-twice", "an all-reduce adds its sum to itself", "wrong", "calls", "", {reduce}, reduces_twice},
    {"changes-replica", "one rank's sum ends in another bit", "diverged", "calls", "", {rounded}, changes_replica},
    {"swaps-senders", "an all-to-all confuses two senders", "wrong", "direct", "", {swap}, swaps_senders},
    {"returns-own", "a permute brings back what was sent", "wrong", "direct", "", {across}, returns_own},
    {"calls-in-secret", "calls what the trace does not say", "reneged", "direct", "", {gather}, calls_in_secret},
    {"broadcasts-in-secret", "calls what no plan does", "reneged", "direct", "", {gather}, broadcasts_in_secret},
    {"says-less", "says half of a call's bytes", "reneged", "direct", "", {gather}, {}, say_less},
    {"says-another-kind", "says an all-to-all of a gather", "reneged", "direct", "", {gather}, {}, [](Trace& t) { t[0].kind = "all-to-all"; }},
    {"says-another-group", "says a call of the other axis", "reneged", "direct", "", {two_axes}, {}, [](Trace& t) { t[0].axes = {"y"}; }},
    {"says-nothing", "leaves a call out of the trace that it compares", "reneged", "direct", "", {gather}, {}, leave_out},
    {"forgets-to-say", "leaves a call out of the trace that it reports", "mistrusted", "direct", "", {gather}, {}, {}, leave_out},
    {"sleeps", "one rank does not enter a call", "hung", "direct", "--timeout 8", {reduce}, at_a_call(When::before, [] { ::sleep(600); })},
    {"stops", "one rank is stopped in a call", "hung", "direct", "--timeout 8", {reduce}, at_a_call(When::within, [] { ::raise(SIGSTOP); })},
    {"dies", "one rank is killed in a call", "crashed", "direct", "", {reduce}, at_a_call(When::within, [] { ::raise(SIGKILL); })},
    {"leaves", "one rank ends before a call, as if all were well", "crashed", "direct", "", {reduce}, at_a_call(When::before, [] { std::_Exit(0); })},
  };
  return rows;
}
// clang-format on

}  // namespace

const Fault& fault_named(const std::string& name) {
  const auto at = std::ranges::find(table(), name, &Fault::name);
  if (at == table().end()) throw std::invalid_argument("no fault " + name);
  return *at;
}

std::string list_faults() { return fault_lines("mpi", table()); }

}  // namespace plumb::mpi

#include "adapters/mpi/plain.h"

#include <mpi.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <vector>

#include "adapters/mpi/counted.h"
#include "adapters/rank/at_best.h"

namespace plumb::mpi {
namespace {

// This rank's group of a collective, as a team that was made ready.
Team team_of(const Mesh& mesh, const Collective& c, std::int64_t rank) {
  const std::vector<std::int64_t> ids = fibre_of(mesh, c, rank);
  return {ids, static_cast<std::size_t>(std::ranges::find(ids, rank) - ids.begin())};
}

std::vector<int> shares(std::size_t n, std::int64_t each) {
  return std::vector<int>(n, static_cast<int>(each));
}

std::vector<int> starts(std::size_t n, std::int64_t each) {
  std::vector<int> all(n);
  for (std::size_t i = 0; i < n; ++i) all[i] = static_cast<int>(static_cast<std::int64_t>(i) * each);
  return all;
}

// What a call takes and gives.
struct Ends {
  SharedMemory in, out;
};

// The block of a device where it is so large, and is not to be freed; else other memory.
SharedMemory block_or_other(const std::vector<Blocks*>& all, std::int64_t device, std::int64_t bytes) {
  if (all.size() == 1 && all[0]->elements(device) * format(all[0]->stored).bytes == bytes)
    return {all[0]->block(device), [](std::byte*) {}};
  return drawn_like_blocks(bytes);
}

std::function<void()> call_of(const Collective& c, MPI_Comm comm, std::size_t n, const Ends& ends) {
  const MPI_Datatype type = c.dtype == "f64" ? MPI_DOUBLE : MPI_FLOAT;
  const std::int64_t width = c.dtype == "f64" ? 8 : 4;
  const auto& [in, out] = ends;
  const std::int64_t gives = c.in / width, gets = c.out / width, members = static_cast<std::int64_t>(n);
  if (c.kind == "all-reduce")
    return [=, in = in, out = out] {
      PMPI_Allreduce(in.get(), out.get(), static_cast<int>(gives), type, MPI_SUM, comm);
    };
  if (c.kind == "reduce-scatter" && gives == gets * members)
    return [=, in = in, out = out, each = shares(n, gets)] {
      PMPI_Reduce_scatter(in.get(), out.get(), each.data(), type, MPI_SUM, comm);
    };
  if (c.kind == "all-gather" && gets == gives * members)
    return [=, in = in, out = out, each = shares(n, c.in), at = starts(n, c.in)] {
      PMPI_Allgatherv(in.get(), each[0], MPI_BYTE, out.get(), each.data(), at.data(), MPI_BYTE, comm);
    };
  return nullptr;
}

std::int64_t nanoseconds(double seconds) { return static_cast<std::int64_t>(seconds * 1e9); }

// As many bytes to one rank as come from another.
struct Exchange {
  SharedMemory out, in;
  int bytes = 0;
  Neighbours meets;
  MPI_Comm comm = MPI_COMM_NULL;
};

std::function<void()> at_once(const Exchange& e) {
  return [e] {
    PMPI_Sendrecv(e.out.get(), e.bytes, MPI_BYTE, e.meets.to, 0, e.in.get(), e.bytes, MPI_BYTE, e.meets.from, 0,
                  e.comm, MPI_STATUS_IGNORE);
  };
}

std::function<void()> in_pieces(const Exchange& e, int pieces) {
  return [e, pieces, all = std::vector<MPI_Request>(2 * pieces)]() mutable {
    for (int i = 0; i < pieces; ++i) {
      const std::int64_t begin = std::int64_t{e.bytes} * i / pieces, end = std::int64_t{e.bytes} * (i + 1) / pieces;
      const int count = static_cast<int>(end - begin);
      PMPI_Irecv(e.in.get() + begin, count, MPI_BYTE, e.meets.from, 0, e.comm, &all[2 * i]);
      PMPI_Isend(e.out.get() + begin, count, MPI_BYTE, e.meets.to, 0, e.comm, &all[2 * i + 1]);
    }
    PMPI_Waitall(2 * pieces, all.data(), MPI_STATUSES_IGNORE);
  };
}

std::function<void()> sum_of(std::size_t bytes, MPI_Comm comm) {
  return [in = drawn_like_blocks(bytes), out = drawn_like_blocks(bytes), n = static_cast<int>(bytes / sizeof(float)), comm] {
    PMPI_Allreduce(in.get(), out.get(), n, MPI_FLOAT, MPI_SUM, comm);
  };
}

// That which the slowest rank did quickest in a few turns, the same of all ranks.
std::function<void()> quickest(const std::vector<std::function<void()>>& ways, MPI_Comm comm) {
  constexpr int turns = 5;
  std::vector<double> took(ways.size(), HUGE_VAL);
  for (int turn = 0; turn < turns; ++turn)
    for (std::size_t w = 0; w < ways.size(); ++w) {
      PMPI_Barrier(comm);
      const double begin = MPI_Wtime();
      ways[w]();
      took[w] = std::min(took[w], MPI_Wtime() - begin);
    }
  PMPI_Allreduce(MPI_IN_PLACE, took.data(), static_cast<int>(took.size()), MPI_DOUBLE, MPI_MAX, comm);
  return ways[std::ranges::min_element(took) - took.begin()];
}

}  // namespace

std::function<std::int64_t()> plain_call(const Mesh& mesh, const Ready& ready, const Team& all) {
  const Trace& trace = ready.trace;
  if (trace.size() != 1 || trace[0].axes.empty() || std::max(trace[0].in, trace[0].out) > INT_MAX) return {};
  if (trace[0].kind != "all-gather" && trace[0].dtype != "f32" && trace[0].dtype != "f64") return {};
  const std::int64_t device = all.ids[all.mine];
  const Team team = team_of(mesh, trace[0], device);
  const Ends ends{block_or_other(ready.operands, device, trace[0].in),
                  block_or_other(ready.results, device, trace[0].out)};
  const auto call = call_of(trace[0], communicator(team), team.ids.size(), ends);
  if (!call) return {};
  return [call, comm = communicator(all)]() -> std::int64_t {
    PMPI_Barrier(comm);
    const double enter = MPI_Wtime();
    call();
    return nanoseconds(MPI_Wtime() - enter);
  };
}

// Who is on no link has no part in it. Libraries send what is short at once and ask before what is longer: just beyond
// that border pieces are quicker than the whole, and what they would beat is no limit. Beyond 64 KiB none are tried.
std::function<void()> bare(const std::string& what, std::size_t bytes, const Team& all) {
  constexpr std::size_t short_enough = 1 << 16;
  if (what == "sum") return bytes > INT_MAX || all.ids.size() < 2 ? nullptr : sum_of(bytes, communicator(all));
  const auto meets = neighbours(what, all);
  if (!meets || all.ids.size() < 2 || bytes > INT_MAX) return nullptr;
  if (meets->to == static_cast<int>(all.mine)) return [] {};
  const Exchange e{drawn_like_blocks(bytes), drawn_like_blocks(bytes), static_cast<int>(bytes), *meets, communicator(all)};
  if (what != "send" || bytes > short_enough) return at_once(e);
  return quickest({at_once(e), in_pieces(e, 2), in_pieces(e, 4)}, e.comm);
}

Mail mail_among(const Team& all) {
  constexpr int tag = 1;
  const MPI_Comm comm = communicator(all);
  return {[comm](std::size_t to, std::int64_t number) {
            PMPI_Send(&number, 1, MPI_INT64_T, static_cast<int>(to), tag, comm);
          },
          [comm](std::size_t from) {
            std::int64_t number = 0;
            PMPI_Recv(&number, 1, MPI_INT64_T, static_cast<int>(from), tag, comm, MPI_STATUS_IGNORE);
            return number;
          }};
}

std::function<void()> packing_among(const Team& all, std::function<void()> mine) {
  int packs = mine ? 1 : 0, somebody = 0;
  PMPI_Allreduce(&packs, &somebody, 1, MPI_INT, MPI_MAX, communicator(all));
  if (somebody == 0 || mine) return mine;
  return [] {};
}

bool several(std::int64_t number) {
  std::int64_t both[] = {number, -number}, largest[2];
  PMPI_Allreduce(both, largest, 2, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
  return largest[0] != -largest[1];
}

}  // namespace plumb::mpi

// A layer between our calls and the library: it counts what passes, by MPI's profiling interface.
#include "adapters/mpi/counted.h"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace plumb::mpi {
namespace {

// A call as it passed: what this process gave to it, and what it got.
struct Counted {
  std::string kind;
  std::vector<int> members;  // ranks of the world; of a permute, to whom and from whom
  std::int64_t in = 0, out = 0;
};
std::vector<Counted> all_counted;  // since they were compared last
bool counting = true;

int place_in(MPI_Comm comm) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = 0;
  PMPI_Comm_size(comm, &size);
  return size;
}

// The members of a communicator as ranks of the world.
std::vector<int> members(MPI_Comm comm) {
  std::vector<int> own(size_of(comm)), all(own.size());
  std::iota(own.begin(), own.end(), 0);
  MPI_Group group, world;
  PMPI_Comm_group(comm, &group), PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Group_translate_ranks(group, static_cast<int>(own.size()), own.data(), world, all.data());
  PMPI_Group_free(&group), PMPI_Group_free(&world);
  return all;
}

std::int64_t bytes(std::int64_t count, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  return count * size;
}

std::int64_t sum(const int* counts, MPI_Comm comm) {
  return std::accumulate(counts, counts + size_of(comm), std::int64_t{0});
}

// Those with whom this rank is in the call that the trace says: of a permute, to whom and from whom.
std::vector<int> said_members(const Mesh& mesh, const Collective& c, int rank) {
  if (c.kind == "collective-permute") {
    std::vector<int> ends{MPI_PROC_NULL, MPI_PROC_NULL};
    for (const auto& [from, to] : c.pairs) {
      if (from == rank) ends[0] = static_cast<int>(to);
      if (to == rank) ends[1] = static_cast<int>(from);
    }
    return ends;
  }
  const std::vector<std::int64_t> fibre = fibre_of(mesh, c, rank);
  return {fibre.begin(), fibre.end()};
}

std::string in_words(const std::string& kind, const std::vector<int>& members) {
  if (kind.empty()) return "nothing";
  return fmt::format("{} {} {}", kind, kind == "collective-permute" ? "to and from" : "among",
                     fmt::join(members, ", "));
}

// This rank's calls, one by one.
std::string other_call(const Mesh& mesh, const Trace& trace, const std::vector<Counted>& mine, int rank) {
  for (std::size_t i = 0; i < std::max(trace.size(), mine.size()); ++i) {
    Counted said, was;
    if (i < trace.size()) said = {trace[i].kind, said_members(mesh, trace[i], rank)};
    if (i < mine.size()) was = mine[i];
    if (said.kind != was.kind || said.members != was.members)
      return fmt::format("call {} was {}, and the trace says {}", i + 1, in_words(was.kind, was.members),
                         in_words(said.kind, said.members));
  }
  return "";
}

// A share of a sum takes a part from every other member at least.
std::int64_t brought(const Counted& call, const Amount& of) {
  if (call.kind == "reduce-scatter") return of.out * (std::ssize(call.members) - 1);
  return of.out - (call.kind == "all-gather" ? of.in : 0);
}

// Every rank looks at its own; where all find what was made ready, it is known what they gave and got
// together.
std::string other_bytes(const Collective& said, const Counted& mine, const std::vector<Amount>& all,
                        int rank) {
  if (mine.in != all[rank].in || mine.out != all[rank].out)
    return fmt::format("took {} bytes of rank {} and made {}, and was made ready to take {} and make {}",
                       mine.in, rank, mine.out, all[rank].in, all[rank].out);
  std::int64_t in = 0, out = 0, moved = 0;
  for (const Amount& one : all)
    in = std::max(in, one.in), out = std::max(out, one.out), moved += brought(mine, one);
  if (said.in == in && said.out == out && said.moved.value_or(moved) == moved) return "";
  return fmt::format("took {} bytes, made {} and moved {}, and the trace says {}, {} and {}", in, out, moved,
                     said.in, said.out, said.moved.value_or(moved));
}

}  // namespace

std::vector<std::int64_t> fibre_of(const Mesh& mesh, const Collective& c, std::int64_t rank) {
  for (const auto& fibre : fibres(mesh, axes_named(mesh, c.axes)))
    if (std::ranges::count(fibre, rank) > 0) return fibre;
  return {};
}

std::string untrue(const Mesh& mesh, const Trace& trace, const std::vector<std::vector<Amount>>& amounts,
                   int rank) {
  const std::vector<Counted> mine = std::exchange(all_counted, {});
  if (std::string other = other_call(mesh, trace, mine, rank); !other.empty()) return other;
  for (std::size_t i = 0; i < trace.size(); ++i)
    if (const std::string other = other_bytes(trace[i], mine[i], amounts.at(i), rank); !other.empty())
      return fmt::format("call {}, {}, {}", i + 1, trace[i].kind, other);
  return "";
}

void count_calls(bool on) { counting = on; }

}  // namespace plumb::mpi

using namespace plumb::mpi;

namespace {

void count(const char* kind, MPI_Comm comm, std::int64_t in, std::int64_t out) {
  all_counted.push_back({kind, members(comm), in, out});
}

}  // namespace

extern "C" {

int MPI_Reduce_scatter(const void* in, void* out, const int counts[], MPI_Datatype type, MPI_Op op,
                       MPI_Comm comm) {
  if (counting)
    count("reduce-scatter", comm, bytes(sum(counts, comm), type), bytes(counts[place_in(comm)], type));
  return PMPI_Reduce_scatter(in, out, counts, type, op, comm);
}

int MPI_Allreduce(const void* in, void* out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  if (counting) count("all-reduce", comm, bytes(n, type), bytes(n, type));
  return PMPI_Allreduce(in, out, n, type, op, comm);
}

int MPI_Allgatherv(const void* in, int n, MPI_Datatype type, void* out, const int counts[], const int at[],
                   MPI_Datatype to, MPI_Comm comm) {
  if (counting)
    count("all-gather", comm, in == MPI_IN_PLACE ? bytes(counts[place_in(comm)], to) : bytes(n, type),
          bytes(sum(counts, comm), to));
  return PMPI_Allgatherv(in, n, type, out, counts, at, to, comm);
}

int MPI_Alltoallv(const void* out, const int to[], const int to_at[], MPI_Datatype type, void* in,
                  const int from[], const int from_at[], MPI_Datatype of, MPI_Comm comm) {
  if (counting) count("all-to-all", comm, bytes(sum(to, comm), type), bytes(sum(from, comm), of));
  return PMPI_Alltoallv(out, to, to_at, type, in, from, from_at, of, comm);
}

int MPI_Sendrecv(const void* out, int n, MPI_Datatype type, int to, int tag, void* in, int m, MPI_Datatype of,
                 int from, int of_tag, MPI_Comm comm, MPI_Status* status) {
  if (counting)
    all_counted.push_back({
        "collective-permute", {to, from},
         bytes(n, type), bytes(m, of)
    });
  return PMPI_Sendrecv(out, n, type, to, tag, in, m, of, from, of_tag, comm, status);
}

// No plan calls these: who does has to say so.
int MPI_Bcast(void* at, int n, MPI_Datatype type, int root, MPI_Comm comm) {
  if (counting) count("broadcast", comm, bytes(n, type), bytes(n, type));
  return PMPI_Bcast(at, n, type, root, comm);
}

int MPI_Reduce(const void* in, void* out, int n, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  if (counting) count("reduce", comm, bytes(n, type), bytes(n, type));
  return PMPI_Reduce(in, out, n, type, op, root, comm);
}

int MPI_Allgather(const void* in, int n, MPI_Datatype type, void* out, int m, MPI_Datatype to,
                  MPI_Comm comm) {
  if (counting) count("all-gather", comm, bytes(n, type), bytes(m, to) * size_of(comm));
  return PMPI_Allgather(in, n, type, out, m, to, comm);
}

int MPI_Alltoall(const void* out, int n, MPI_Datatype type, void* in, int m, MPI_Datatype of, MPI_Comm comm) {
  if (counting) count("all-to-all", comm, bytes(n, type) * size_of(comm), bytes(m, of) * size_of(comm));
  return PMPI_Alltoall(out, n, type, in, m, of, comm);
}

int MPI_Send(const void* out, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  if (counting) all_counted.push_back({"send", {to}, bytes(n, type), 0});
  return PMPI_Send(out, n, type, to, tag, comm);
}

int MPI_Isend(const void* out, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  if (counting) all_counted.push_back({"send", {to}, bytes(n, type), 0});
  return PMPI_Isend(out, n, type, to, tag, comm, request);
}
}

// A layer between our calls and the library: it counts what passes, by MPI's profiling interface.
#include <mpi.h>

#include <numeric>

#include "adapters/mpi/library.h"

namespace plumb::mpi {
namespace {

// The members of a communicator as ranks of the world.
std::vector<int> members(MPI_Comm comm) {
  int size = 0;
  PMPI_Comm_size(comm, &size);
  std::vector<int> own(size), all(size);
  std::iota(own.begin(), own.end(), 0);
  MPI_Group group, world;
  PMPI_Comm_group(comm, &group), PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Group_translate_ranks(group, size, own.data(), world, all.data());
  PMPI_Group_free(&group), PMPI_Group_free(&world);
  return all;
}

std::int64_t bytes(std::int64_t count, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  return count * size;
}

std::int64_t sum(const int* counts, MPI_Comm comm) {
  int size = 0;
  PMPI_Comm_size(comm, &size);
  return std::accumulate(counts, counts + size, std::int64_t{0});
}

}  // namespace
}  // namespace plumb::mpi

using namespace plumb::mpi;

extern "C" {

int MPI_Reduce_scatter(const void* in, void* out, const int counts[], MPI_Datatype type, MPI_Op op,
                       MPI_Comm comm) {
  count({"reduce-scatter", members(comm), bytes(sum(counts, comm), type)});
  return PMPI_Reduce_scatter(in, out, counts, type, op, comm);
}

int MPI_Allreduce(const void* in, void* out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  count({"all-reduce", members(comm), bytes(n, type)});
  return PMPI_Allreduce(in, out, n, type, op, comm);
}

int MPI_Allgatherv(const void* in, int n, MPI_Datatype type, void* out, const int counts[], const int at[],
                   MPI_Datatype to, MPI_Comm comm) {
  count({"all-gather", members(comm), bytes(sum(counts, comm), to)});
  return PMPI_Allgatherv(in, n, type, out, counts, at, to, comm);
}

int MPI_Alltoallv(const void* out, const int to[], const int to_at[], MPI_Datatype type, void* in,
                  const int from[], const int from_at[], MPI_Datatype of, MPI_Comm comm) {
  count({"all-to-all", members(comm), bytes(sum(to, comm), type)});
  return PMPI_Alltoallv(out, to, to_at, type, in, from, from_at, of, comm);
}

int MPI_Sendrecv(const void* out, int n, MPI_Datatype type, int to, int tag, void* in, int m, MPI_Datatype of,
                 int from, int of_tag, MPI_Comm comm, MPI_Status* status) {
  count({
      "collective-permute", {to, from},
       bytes(n, type)
  });
  return PMPI_Sendrecv(out, n, type, to, tag, in, m, of, from, of_tag, comm, status);
}
}

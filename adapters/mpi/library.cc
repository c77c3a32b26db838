#include "adapters/mpi/library.h"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <climits>
#include <initializer_list>
#include <map>
#include <numeric>
#include <span>
#include <stdexcept>

#include "adapters/mpi/transports.h"
#include "adapters/protocol/ranks.h"

namespace plumb::mpi {
namespace {

struct Library {
  std::map<std::vector<std::int64_t>, int> numbers;  // of teams, by their members
  std::vector<MPI_Comm> comms;                       // by these numbers
  std::map<std::int64_t, MPI_Datatype> types;        // of so many bytes, which only user operations add up
  MPI_Op op = MPI_OP_NULL;
  Combine combine;        // of the reduction that is under way,
  std::int64_t each = 1;  // and how many elements its type has
  std::int64_t most = INT_MAX;
  std::array<std::vector<int>, 4> numbers_of_calls;  // kept: under the clock nothing is made
};
Library library;

void check(int error, const char* call) {
  if (error == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(error, text, &length);
  throw std::runtime_error(fmt::format("{}: {}", call, text));
}

void join(Team& team) {
  const auto [at, made] = library.numbers.try_emplace(team.ids, static_cast<int>(library.comms.size()));
  team.number = at->second;
  if (!made) return;
  MPI_Comm& comm = library.comms.emplace_back(MPI_COMM_NULL);
  MPI_Group world, group;
  const std::vector<int> ranks(team.ids.begin(), team.ids.end());
  entering(fmt::format("making a communicator of {} ranks", ranks.size()));
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, static_cast<int>(ranks.size()), ranks.data(), &group);
  check(MPI_Comm_create_group(MPI_COMM_WORLD, group, 0, &comm), "MPI_Comm_create_group");
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Group_free(&group), MPI_Group_free(&world);
  leaving();
}

void combine_now(void* in, void* inout, int* count, MPI_Datatype*) {
  combine_travelling(library.combine, static_cast<std::byte*>(inout), static_cast<const std::byte*>(in),
                     *count * library.each);
}

MPI_Datatype type_of(std::int64_t bytes) {
  if (bytes == 1) return MPI_BYTE;
  const auto [at, made] = library.types.try_emplace(bytes, MPI_DATATYPE_NULL);
  if (made) MPI_Type_contiguous(static_cast<int>(bytes), MPI_BYTE, &at->second), MPI_Type_commit(&at->second);
  return at->second;
}

// MPI 3.1 counts in int: where there is more, in units of which all counts are multiples.
struct Units {
  std::int64_t size = 1;
  int of(std::int64_t count) const { return static_cast<int>(count / size); }
  // The n-th of a call's.
  const int* of(std::span<const std::int64_t> counts, std::size_t n) const {
    std::vector<int>& all = library.numbers_of_calls[n];
    all.clear();
    for (std::int64_t count : counts) all.push_back(of(count));
    return all.data();
  }
};

using Numbers = std::initializer_list<std::span<const std::int64_t>>;  // no copies: this is under the clock
Units units_of(Numbers counts, Numbers starts) {
  std::int64_t most = 0, common = 0;
  for (const auto& all : counts)
    most = std::max(most, std::accumulate(all.begin(), all.end(), std::int64_t{0}));
  for (const auto& all : starts)
    for (std::int64_t at : all) most = std::max(most, at);
  for (const Numbers* all : {&counts, &starts})
    for (const auto& one : *all)
      for (std::int64_t n : one) common = std::gcd(common, n);
  Units units;
  constexpr std::int64_t largest = 1 << 20;
  for (std::int64_t n = 2; n <= std::min(common, largest) && most / units.size > library.most; ++n)
    if (common % n == 0) units.size = n;
  if (most / units.size > library.most)
    throw std::runtime_error(fmt::format(
        "{} bytes or elements in one call of MPI, which counts in int, and no unit is common to all "
        "shares",
        most));
  return units;
}

struct Summed {
  MPI_Datatype type;
  MPI_Op op;
};

// Sums of the library's own types are its own; all else goes by a user operation.
Summed summed(const Combine& combine, const Units& units) {
  const bool adds = combine.run == adding(combine.acc, combine.wire).run && combine.acc == combine.wire;
  if (adds && units.size == 1) {
    if (combine.wire == DType::f32) return {MPI_FLOAT, MPI_SUM};
    if (combine.wire == DType::f64) return {MPI_DOUBLE, MPI_SUM};
    if (combine.wire == DType::s32) return {MPI_UINT32_T, MPI_SUM};
  }
  library.combine = combine, library.each = units.size;
  if (library.op == MPI_OP_NULL) check(MPI_Op_create(combine_now, 1, &library.op), "MPI_Op_create");
  return {type_of(format(combine.wire).bytes * units.size), library.op};
}

void reduce_scatter(const Team& g, const Combination& r) {
  const Units units = units_of({r.counts}, {});
  const auto [type, op] = summed(r.combine, units);
  check(MPI_Reduce_scatter(r.in, r.out, units.of(r.counts, 0), type, op, communicator(g)),
        "MPI_Reduce_scatter");
}

void all_reduce(const Team& g, const Combination& r) {
  const Units units = units_of({r.counts}, {});
  const auto [type, op] = summed(r.combine, units);
  check(MPI_Allreduce(r.in, r.out, units.of(r.counts[0]), type, op, communicator(g)), "MPI_Allreduce");
}

void all_gather(const Team& g, const Gathering& x) {
  const Units units = units_of({x.out.counts}, {x.out.starts});
  const int *counts = units.of(x.out.counts, 0), *at = units.of(x.out.starts, 1);
  const MPI_Datatype type = type_of(units.size);
  check(MPI_Allgatherv(x.in, counts[g.mine], type, x.out.at, counts, at, type, communicator(g)),
        "MPI_Allgatherv");
}

void all_to_all(const Team& g, const Swap& x) {
  const Units units = units_of({x.out.counts, x.in.counts}, {x.out.starts, x.in.starts});
  const int *to = units.of(x.out.counts, 0), *to_at = units.of(x.out.starts, 1),
            *from = units.of(x.in.counts, 2), *from_at = units.of(x.in.starts, 3);
  const MPI_Datatype type = type_of(units.size);
  check(MPI_Alltoallv(x.out.at, to, to_at, type, x.in.at, from, from_at, type, communicator(g)),
        "MPI_Alltoallv");
}

void permute(const Passing& p) {
  const auto rank = [](std::int64_t id) { return id < 0 ? MPI_PROC_NULL : static_cast<int>(id); };
  const std::int64_t bytes[] = {std::ssize(p.out), std::ssize(p.in)};
  const Units units = units_of(
      {
          {bytes,     1},
          {bytes + 1, 1}
  },
      {});
  const MPI_Datatype type = type_of(units.size);
  check(MPI_Sendrecv(p.out.data(), units.of(bytes[0]), type, rank(p.to), 0, p.in.data(), units.of(bytes[1]),
                     type, rank(p.from), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
        "MPI_Sendrecv");
}

// As integers: magnitudes are not negative, and a NaN is larger than all of them.
void largest(const Team& g, std::span<float> numbers) {
  check(MPI_Allreduce(MPI_IN_PLACE, numbers.data(), static_cast<int>(numbers.size()), MPI_INT32_T, MPI_MAX,
                      communicator(g)),
        "MPI_Allreduce");
}

}  // namespace

World start() {
  entering("MPI_Init");
  int level = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level);
  leaving();
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  World world;
  MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world.size);
  return world;
}

void finish() {
  send_at_once();
  MPI_Finalize();
}

Calls calls() {
  return {.reduce_scatter = reduce_scatter,
          .all_reduce = all_reduce,
          .all_gather = all_gather,
          .all_to_all = all_to_all,
          .permute = permute,
          .largest = largest,
          .join = join,
          .known = known,
          .entering = [](int known) { entering(known); },
          .leaving = leaving};
}

MPI_Comm communicator(const Team& team) {
  return library.comms[team.number < 0 ? library.numbers.at(team.ids) : team.number];
}

void count_at_most(std::int64_t most) { library.most = most; }

void begin_case(bool anew) {
  forget_known();
  if (!anew) return;
  for (MPI_Comm& comm : library.comms) MPI_Comm_free(&comm);
  library.comms.clear(), library.numbers.clear();
}

}  // namespace plumb::mpi

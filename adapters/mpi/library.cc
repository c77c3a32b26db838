#include "adapters/mpi/library.h"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "adapters/protocol/ranks.h"

namespace plumb::mpi {
namespace {

struct Library {
  std::map<std::vector<std::int64_t>, MPI_Comm> comms;
  std::map<int, MPI_Datatype> elements;  // of so many bytes, which only user operations add up
  MPI_Op op = MPI_OP_NULL;
  Combine combine;  // of the reduction that is under way
  int calls = 0;    // of this case
  std::vector<Made> meant, counted;
};
Library library;

void check(int error, const char* call) {
  if (error == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(error, text, &length);
  throw std::runtime_error(fmt::format("{}: {}", call, text));
}

// The members' own; they make it together, in the first call for which they need it.
MPI_Comm comm_of(const std::vector<std::int64_t>& members) {
  const auto [at, made] = library.comms.try_emplace(members, MPI_COMM_NULL);
  if (!made) return at->second;
  MPI_Group world, group;
  const std::vector<int> ranks(members.begin(), members.end());
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, static_cast<int>(ranks.size()), ranks.data(), &group);
  check(MPI_Comm_create_group(MPI_COMM_WORLD, group, 0, &at->second), "MPI_Comm_create_group");
  MPI_Comm_set_errhandler(at->second, MPI_ERRORS_RETURN);
  MPI_Group_free(&group), MPI_Group_free(&world);
  return at->second;
}

void combine_now(void* in, void* inout, int* count, MPI_Datatype*) {
  combine_travelling(library.combine, static_cast<std::byte*>(inout), static_cast<const std::byte*>(in),
                     *count);
}

struct Summed {
  MPI_Datatype type;
  MPI_Op op;
};

// Sums of the library's own types are its own; all else goes by a user operation.
Summed summed(const Combine& combine) {
  const bool adds = combine.run == adding(combine.acc, combine.wire).run && combine.acc == combine.wire;
  if (adds && combine.wire == DType::f32) return {MPI_FLOAT, MPI_SUM};
  if (adds && combine.wire == DType::f64) return {MPI_DOUBLE, MPI_SUM};
  if (adds && combine.wire == DType::s32) return {MPI_UINT32_T, MPI_SUM};
  library.combine = combine;
  if (library.op == MPI_OP_NULL) check(MPI_Op_create(combine_now, 1, &library.op), "MPI_Op_create");
  const int width = format(combine.wire).bytes;
  const auto [at, made] = library.elements.try_emplace(width, MPI_DATATYPE_NULL);
  if (made) MPI_Type_contiguous(width, MPI_BYTE, &at->second), MPI_Type_commit(&at->second);
  return {at->second, library.op};
}

// MPI 3.1 counts in int.
std::vector<int> ints(const std::vector<std::int64_t>& counts) {
  std::int64_t sum = 0;
  for (std::int64_t n : counts) sum += n;
  if (sum > INT_MAX)
    throw std::runtime_error(fmt::format("{} elements in one call of MPI, which counts in int", sum));
  return {counts.begin(), counts.end()};
}

std::vector<int> starts(const std::vector<int>& counts) {
  std::vector<int> at(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), at.begin(), 0);
  return at;
}

void mean(const char* kind, const std::vector<std::int64_t>& members, std::size_t bytes) {
  library.meant.push_back({
      kind, {members.begin(), members.end()},
       static_cast<std::int64_t>(bytes)
  });
}

void reduce_scatter(const Team& g, Combination& r) {
  const MPI_Comm comm = comm_of(g.ids);
  const auto [type, op] = summed(r.combine);
  mean("reduce-scatter", g.ids, r.in.size());
  check(MPI_Reduce_scatter(r.in.data(), r.out.data(), ints(r.counts).data(), type, op, comm),
        "MPI_Reduce_scatter");
}

void all_reduce(const Team& g, Combination& r) {
  const MPI_Comm comm = comm_of(g.ids);
  const auto [type, op] = summed(r.combine);
  mean("all-reduce", g.ids, r.in.size());
  check(MPI_Allreduce(r.in.data(), r.out.data(), ints(r.counts)[0], type, op, comm), "MPI_Allreduce");
}

void all_gather(const Team& g, Gathering& x) {
  const MPI_Comm comm = comm_of(g.ids);
  const std::vector<int> counts = ints(x.counts), at = starts(counts);
  mean("all-gather", g.ids, x.out.size());
  check(MPI_Allgatherv(x.in.data(), counts[g.mine], MPI_BYTE, x.out.data(), counts.data(), at.data(),
                       MPI_BYTE, comm),
        "MPI_Allgatherv");
}

// What goes to, or comes from, each member of a group: bytes one after another.
struct Lined {
  std::vector<std::int64_t> counts;
  std::vector<std::byte> bytes;
};

Lined lined(const Team& g, const std::vector<Parcel>& parcels, std::vector<std::byte> Parcel::*side) {
  Lined l;
  for (std::int64_t member : g.ids) {
    const auto at = std::ranges::find(parcels, member, &Parcel::process);
    const std::vector<std::byte> none, &one = at == parcels.end() ? none : (*at).*side;
    l.counts.push_back(std::ssize(one));
    l.bytes.insert(l.bytes.end(), one.begin(), one.end());
  }
  return l;
}

void all_to_all(const Team& g, std::vector<Parcel>& parcels) {
  const MPI_Comm comm = comm_of(g.ids);
  const Lined out = lined(g, parcels, &Parcel::out);
  Lined in = lined(g, parcels, &Parcel::in);
  const std::vector<int> to = ints(out.counts), from = ints(in.counts), to_at = starts(to),
                         from_at = starts(from);
  mean("all-to-all", g.ids, out.bytes.size());
  check(MPI_Alltoallv(out.bytes.data(), to.data(), to_at.data(), MPI_BYTE, in.bytes.data(), from.data(),
                      from_at.data(), MPI_BYTE, comm),
        "MPI_Alltoallv");
  for (Parcel& parcel : parcels) {
    const auto member = std::ranges::find(g.ids, parcel.process) - g.ids.begin();
    if (!parcel.in.empty())
      std::memcpy(parcel.in.data(), in.bytes.data() + from_at[member], parcel.in.size());
  }
}

void permute(std::vector<Parcel>& parcels) {
  int to = MPI_PROC_NULL, from = MPI_PROC_NULL;
  std::vector<std::byte> nothing, *out = &nothing, *in = &nothing;
  for (Parcel& parcel : parcels) {
    if (!parcel.sent.empty()) to = static_cast<int>(parcel.process), out = &parcel.out;
    if (!parcel.received.empty()) from = static_cast<int>(parcel.process), in = &parcel.in;
  }
  mean("collective-permute", {to, from}, out->size());
  check(MPI_Sendrecv(out->data(), ints({std::ssize(*out)})[0], MPI_BYTE, to, 0, in->data(),
                     ints({std::ssize(*in)})[0], MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
        "MPI_Sendrecv");
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

void finish() { MPI_Finalize(); }

Calls calls() {
  return {
      .reduce_scatter = reduce_scatter,
      .all_reduce = all_reduce,
      .all_gather = all_gather,
      .all_to_all = all_to_all,
      .permute = permute,
      .entering = [](const std::string& what) { entering(fmt::format(fmt::runtime(what), ++library.calls)); },
      .leaving = leaving};
}

void take_largest(Magnitudes& m, std::int64_t devices) {
  std::vector<std::int64_t> members(devices);
  std::iota(members.begin(), members.end(), 0);
  const MPI_Comm comm = comm_of(members);
  entering(fmt::format("all-reduce {} of largest magnitudes", ++library.calls));
  for (std::vector<float>& most : m.most) {
    std::vector<float> largest(most.size());
    mean("all-reduce", members, most.size() * sizeof(float));
    // As integers: magnitudes are not negative, and a NaN is larger than all of them.
    check(MPI_Allreduce(most.data(), largest.data(), ints({std::ssize(most)})[0], MPI_INT32_T, MPI_MAX, comm),
          "MPI_Allreduce");
    most = std::move(largest);
  }
  leaving();
}

std::vector<Made> meant() {
  library.calls = 0;
  return std::exchange(library.meant, {});
}
std::vector<Made> counted() { return std::exchange(library.counted, {}); }
void count(Made made) { library.counted.push_back(std::move(made)); }

}  // namespace plumb::mpi

// A rank of MPI as the process of one device. README.md says what it is.
#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "adapters/mpi/faults.h"
#include "adapters/mpi/library.h"
#include "adapters/plan/plan.h"
#include "adapters/protocol/json.h"
#include "adapters/protocol/ranks.h"
#include "adapters/protocol/serve.h"
#include "adapters/rank/can.h"
#include "adapters/rank/execute.h"
#include "adapters/rank/hand_over.h"

namespace plumb::mpi {
namespace {

constexpr double most_sends = 2e8;

std::string library_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  return std::string(text, text + length).substr(0, std::string(text).find_first_of(",\n"));
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct Mpi : Backend {
  Style style = Style::direct;
  World world;
  Calls library = calls();
  std::string fault;  // empty: none

  // The next case.
  Plan prepared;
  std::optional<Unsupported> refusal;
  double planned = 0;  // seconds

  nlohmann::json hello(const Mesh&) override {
    nlohmann::json all = {
        {"name",         "mpi"                                                     },
        {"versions",     {{"plumbline", PLUMB_VERSION}, {"mpi", library_version()}}},
        {"devices",      {{"count", world.size}, {"kind", "rank"}}                 },
        {"alone",        true                                                      },
        {"capabilities", what_ranks_can()                                          }
    };
    all["capabilities"]["max_devices"] = world.size;
    return all;
  }

  void prepare(const Request& request) override {
    refusal.reset();
    const auto start = std::chrono::steady_clock::now();
    try {
      if (world.rank < devices(request.c.mesh)) prepared = plan(request.c, style, most_sends);
    } catch (const std::length_error& e) {
      refusal = Unsupported{e.what(), "the memory of one rank"};
    }
    planned = seconds_since(start);
  }

  Reply run(const Request& request, Arena& arena) override {
    const Case& c = request.c;
    if (world.rank >= devices(c.mesh)) return Outcome{};
    if (refusal) return *refusal;
    const Plan& p = prepared;
    const auto began = std::chrono::steady_clock::now();
    const Holder own{
        &p.mesh, p.rule, {world.rank, world.rank + 1}
    };
    const Rank rank{own, through(library, own), [&](Magnitudes& m) { take_largest(m, devices(p.mesh)); }, {}};
    const Done done =
        is_quantize(c) ? quantize(p, c.op.chain, request.operands, rank) : execute(p, request.operands, rank);
    if (meant() != counted())
      throw std::runtime_error("the library was called otherwise than the trace says");
    Outcome o = hand_over(own, done, arena);
    o.received.reset();
    for (Collective& one : o.trace)  // the library's way is its own
      if (one.kind == "all-reduce") one.moved.reset();
    break_trace(fault, o.trace);
    o.compile_seconds = planned;
    o.run_seconds = {seconds_since(began)};
    return o;
  }
};

// Open MPI's numbers of the algorithms of an all-reduce, which it takes from the environment.
constexpr const char* algorithms[] = {"default", "linear",         "nonoverlapping", "recursive-doubling",
                                      "ring",    "segmented-ring", "rabenseifner"};

void force(const std::string& algorithm) {
  for (std::size_t i = 1; i < std::size(algorithms); ++i)
    if (algorithm == algorithms[i]) {
      ::setenv("OMPI_MCA_coll_tuned_use_dynamic_rules", "1", 1);
      ::setenv("OMPI_MCA_coll_tuned_allreduce_algorithm", std::to_string(i).c_str(), 1);
    }
}

bool take(Mpi& mpi, const std::string& key, const std::string& value) {
  if (key == "algorithm")
    force(value);
  else if (key == "plan" && value == "ring")
    mpi.style = Style::ring;
  else if (key == "plan" && value == "calls")
    mpi.style = Style::calls;
  else if (key == "fault")
    mpi.fault = value;
  else
    return (key == "plan" && value == "direct") || key == "np" || key == "launcher";
  return true;
}

int serve_all(const std::vector<std::string>& arguments) {
  Mpi mpi;
  auto all = options();
  for (std::size_t i = 0; i + 1 < arguments.size(); i += 2)
    all.emplace_back(arguments[i].substr(std::min<std::size_t>(2, arguments[i].size())), arguments[i + 1]);
  for (const auto& [key, value] : all)
    if (!take(mpi, key, value)) {
      std::fprintf(stderr, "plumb-mpi: unknown option %s=%s\n", key.c_str(), value.c_str());
      return 2;
    }
  const std::optional<Seat> seat = take_seat();
  if (!seat) {
    std::fprintf(stderr, "plumb-mpi is started by plumb-launch\n");
    return 2;
  }
  mpi.world = start();
  say_world(mpi.world.size);
  if (!mpi.fault.empty()) mpi.library = broken(mpi.fault, mpi.world, mpi.library);
  const int code = serve_as_rank(mpi, *seat);
  finish();
  return code;
}

}  // namespace
}  // namespace plumb::mpi

// Options come from PLUMB_OPTIONS, and as --NAME VALUE.
int main(int argc, char** argv) try {
  return plumb::mpi::serve_all({argv + 1, argv + argc});
} catch (const std::exception& e) {
  std::fprintf(stderr, "plumb-mpi: %s\n", e.what());
  return 1;
}

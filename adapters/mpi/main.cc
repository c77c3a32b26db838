// A rank of MPI as the process of one device. README.md says what it is.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "adapters/mpi/counted.h"
#include "adapters/mpi/faults.h"
#include "adapters/mpi/library.h"
#include "adapters/mpi/plain.h"
#include "adapters/mpi/planted.h"
#include "adapters/mpi/transports.h"
#include "adapters/plan/plan.h"
#include "adapters/protocol/clocked.h"
#include "adapters/protocol/json.h"
#include "adapters/protocol/options.h"
#include "adapters/protocol/ranks.h"
#include "adapters/protocol/serve.h"
#include "adapters/rank/capabilities.h"
#include "adapters/rank/clocks.h"
#include "adapters/rank/hand_over.h"
#include "adapters/rank/staged.h"
#include "adapters/rank/steps.h"

namespace plumb::mpi {
namespace {

constexpr double most_sends = 2e8;

std::string library_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  return std::string(text, text + length).substr(0, std::string(text).find_first_of(",\n"));
}

struct Mpi : Backend {
  Style style = Style::direct;
  World world;
  std::map<std::string, std::string> chosen;  // variables of the library, where nobody else has
  Calls library = calls();
  Fault fault;            // none that does anything
  bool anew = false;      // communicators, for each case
  std::string algorithm;  // of all-reduces, where one was chosen
  Planted planted;

  Now another{};  // clock
  bool several_clocks = false;

  // The next case.
  Plan plan;
  Ready ready;
  Team everyone;

  nlohmann::json hello(const Mesh&) override {
    nlohmann::json all = {
        {"name",         "mpi"                                                     },
        {"versions",     {{"plumbline", PLUMB_VERSION}, {"mpi", library_version()}}},
        {"devices",      {{"count", world.size}, {"kind", "rank"}}                 },
        {"alone",        true                                                      },
        {"fills",        true                                                      },
        {"times",        true                                                      },
        {"capabilities", what_ranks_can()                                          }
    };
    all["versions"].update(chosen);
    all["capabilities"]["max_devices"] = world.size;
    return all;
  }

  Holder own() const {
    return {
        &plan.mesh, plan.rule, {world.rank, world.rank + 1}
    };
  }

  std::optional<Unsupported> prepare(const Request& request) override {
    const std::int64_t n = devices(request.c.mesh);
    begin_case(anew);
    count_calls(true);
    if (world.rank >= n) return {};
    try {
      plan = plumb::plan(request.c, style, most_sends);
    } catch (const std::length_error& e) {
      return Unsupported{e.what(), "the memory of one rank"};
    }
    everyone = {std::vector<std::int64_t>(n), static_cast<std::size_t>(world.rank)};
    std::iota(everyone.ids.begin(), everyone.ids.end(), 0);
    library.join(everyone);
    ready =
        make_ready(request.c, plan, {own(), through(library, own()), largest_through(library, own()), {}});
    return {};
  }

  // Where one run was counted since this was asked last, its calls have to be those of the trace.
  Outcome given(Arena* arena, bool counted) {
    Outcome o = hand_over(own(), ready, arena);
    o.received.reset();
    if (fault.trace && !o.trace.empty()) fault.trace(o.trace);
    const std::string other = counted ? untrue(plan.mesh, o.trace, ready.amounts, world.rank) : "";
    if (!other.empty())
      throw std::runtime_error("the library was called otherwise than the trace says: " + other);
    if (fault.said && !o.trace.empty()) fault.said(o.trace);
    note_unused(algorithm, o);
    return o;
  }

  // The first run is counted, a warm-up where there is one; in the others the layer beneath only looks away.
  std::optional<Stages> stages(const Request& request) override {
    const std::int64_t n = devices(request.c.mesh);
    if (world.rank >= n) return Stages{};
    Stages s = staged(plan, ready, own(), request.write);
    s.once = [once = s.once] { once(), count_calls(false); };
    s.once = planted_run(planted, request.c, s.once, [this] { *ready.results[0]->block(1) ^= std::byte{1}; });
    s.give = [this, first = true]() mutable {
      Outcome o = given(nullptr, std::exchange(first, false));
      for (const std::string& call : ready.passage.packed) o.notes.push_back("packed: " + call);
      return o;
    };
    s.meet = [this] { PMPI_Barrier(communicator(everyone)); };
    s.limit = [this, alone = s.limit](const std::string& what, std::size_t bytes) {
      if (auto call = bare(what, bytes, everyone)) return planted_limit(planted, what, std::move(call));
      return what == "pack" ? packing_among(everyone, alone(what, bytes)) : alone(what, bytes);
    };
    s.collectives = [once = s.once] { return turns_in(once); };
    s.call = [this] { return plain_call(plan.mesh, ready, everyone); };
    s.rank = world.rank, s.ranks = static_cast<int>(n);
    s.now = another;
    if (several_clocks)
      s.ask_clock = [this](const auto& now) { return ask_first(everyone, now, mail_among(everyone)); };
    return s;
  }

  Reply run(const Request& request, Arena& arena) override {
    if (world.rank >= devices(request.c.mesh)) return Outcome{};
    load_operands(ready, own(), request.write);
    const double seconds = carry_out(ready);
    Outcome o = given(request.in_place ? nullptr : &arena, true);
    o.run_seconds = {seconds};
    return o;
  }
};

// Open MPI's numbers of the algorithms of an all-reduce, which it takes from the environment before it
// starts.
constexpr const char* algorithms[] = {"default", "linear",         "nonoverlapping", "recursive-doubling",
                                      "ring",    "segmented-ring", "rabenseifner"};

bool force(Mpi& mpi, const std::string& algorithm) {
  const auto* found = std::ranges::find(algorithms, algorithm);
  if (found == std::end(algorithms)) return false;
  mpi.algorithm = found == algorithms ? "" : algorithm;
  if (found == algorithms) return true;
  ::setenv("OMPI_MCA_coll_tuned_use_dynamic_rules", "1", 1);
  ::setenv("OMPI_MCA_coll_tuned_allreduce_algorithm", std::to_string(found - algorithms).c_str(), 1);
  return true;
}

// An algorithm that nobody would use is refused.
void check_algorithm(const Mpi& mpi) {
  if (mpi.algorithm.empty()) return;
  if (const std::string version = library_version(); !version.starts_with("Open MPI"))
    throw std::invalid_argument(fmt::format("algorithm={} is a way of Open MPI's all-reduce, and this is {}",
                                            mpi.algorithm, version));
  if (mpi.style != Style::calls)
    throw std::invalid_argument(fmt::format(
        "algorithm={} is a way of the library's all-reduce, which plan=calls alone calls", mpi.algorithm));
}

// False where there is no such option or value.
bool take(Mpi& mpi, const std::string& key, const std::string& value) {
  if (key == "algorithm") return force(mpi, value);
  if (key == "groups") {
    mpi.anew = value == "anew";
    return mpi.anew || value == "kept";
  }
  if (key == "plan") {
    const auto style = style_named(value);
    if (style) mpi.style = *style;
    return style.has_value();
  }
  if (key == "most-count")
    count_at_most(option_number<std::int64_t>(key, value));
  else if (key == "fault")
    mpi.fault = fault_named(value);
  else
    return plant(mpi.planted, key, value) || key == "np" || key == "launcher";
  return true;
}

int serve_all(const std::vector<std::string>& arguments) {
  Mpi mpi;
  for (const auto& [key, value] : options_and(arguments, "mpi"))
    if (!take(mpi, key, value))
      throw std::invalid_argument(
          fmt::format("unknown option {}={}; `plumb backends mpi` lists them", key, value));
  check_algorithm(mpi);
  const std::optional<Seat> seat = take_seat();
  if (!seat) throw std::invalid_argument("it is started by plumb-launch");
  mpi.chosen = transports(surroundings(library_version()));
  for (const auto& [name, value] : mpi.chosen) ::setenv(name.c_str(), value.c_str(), 1);
  mpi.world = start();
  mpi.planted.rank = mpi.world.rank;
  say_world(mpi.world.size);
  if (mpi.fault.calls) mpi.fault.calls(mpi.world, mpi.library);
  mpi.another = planted_clock(mpi.planted.clock, mpi.world.rank);
  mpi.several_clocks = several(mpi.another ? 1 : 0) || several(this_clock());
  const int code = serve_as_rank(mpi, *seat);
  finish();
  return code;
}

}  // namespace
}  // namespace plumb::mpi

// Options come from PLUMB_OPTIONS, and as --NAME VALUE. `--list` prints the table of faults as JSON lines.
int main(int argc, char** argv) try {
  if (argc == 2 && std::string(argv[1]) == "--list") {
    std::fputs(plumb::mpi::list_faults().c_str(), stdout);
    return 0;
  }
  return plumb::mpi::serve_all({argv + 1, argv + argc});
} catch (const std::invalid_argument& e) {
  return plumb::cannot_use(std::string("plumb-mpi: ") + e.what());
} catch (const std::exception& e) {
  std::fprintf(stderr, "plumb-mpi: %s\n", e.what());
  return 1;
}

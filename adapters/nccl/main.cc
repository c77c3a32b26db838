// A rank of NCCL as the process of one GPU. README.md says what it is.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "adapters/cuda/cublaslt_products.h"
#include "adapters/nccl/forms.h"
#include "adapters/nccl/kernels.h"
#include "adapters/nccl/library.h"
#include "adapters/nccl/plain.h"
#include "adapters/nccl/planted.h"
#include "adapters/nccl/seats.h"
#include "adapters/nccl/used.h"
#include "adapters/plan/plan.h"
#include "adapters/protocol/clocked.h"
#include "adapters/protocol/json.h"
#include "adapters/protocol/options.h"
#include "adapters/protocol/ranks.h"
#include "adapters/protocol/serve.h"
#include "adapters/rank/capabilities.h"
#include "adapters/rank/clocks.h"
#include "adapters/rank/hand_over.h"
#include "adapters/rank/multiply.h"
#include "adapters/rank/staged.h"
#include "adapters/rank/steps.h"

namespace plumb::nccl {
namespace {

constexpr double kMostSends = 2e8;

// As the options have them, in the order of Form, Average and Share.
constexpr std::array<std::string_view, 7> kForms{"plain",      "in-place", "misaligned", "graph",
                                                 "registered", "two",      "grouped"};
constexpr std::array<std::string_view, 3> kAverages{"divided", "library", "premultiplied"};
constexpr std::array<std::string_view, 3> kShares{"none", "hostid", "multi"};
constexpr std::array<std::string_view, 8> kAlgorithms{"default",  "ring",          "tree",         "nvls",
                                                      "nvlstree", "collnetdirect", "collnetchain", "pat"};
constexpr std::array<std::string_view, 4> kProtocols{"default", "simple", "ll", "ll128"};

std::string_view name_of(Form form) { return kForms[static_cast<std::size_t>(form)]; }

struct Nccl : Backend {
  Style style = Style::direct;
  World world;
  Share share = Share::none;
  Asked asked;
  bool by_cublaslt = false, grouped_call = false;
  const cuda::CublasLtProducts* products = nullptr;  // null: by this processor
  Seated seat;
  std::string another_clock;  // RANK:AHEAD:DRIFT: whether it is noticed
  std::string fault;          // WHAT:RANK:CALL: what is said of it
  Now another{};
  Calls library = calls();

  // The next case.
  Plan plan;
  Ready ready;
  Team everyone;
  std::vector<std::vector<std::byte>> brought;  // results that somebody looks at
  std::vector<Added> added;                     // of each call, as the library told it; none: it did not
  std::vector<std::string> used;                // in words
  std::shared_ptr<cuda::MadeBy> made_by;        // the products

  nlohmann::json hello(const Mesh&) override {
    std::string why;
    const Functions* f = functions(why);
    const bool shared = share != Share::none;
    nlohmann::json all = {
        {"name",         "nccl"                                                                             },
        {"versions",     {{"plumbline", PLUMB_VERSION}, {"nccl", f ? version_in_words(f->version) : "none"}}},
        {"devices",      {{"count", world.size}, {"kind", seat.why.empty() ? seat.card.name : "no GPU"}}    },
        {"alone",        true                                                                               },
        {"fills",        true                                                                               },
        {"times",        !shared                                                                            },
        {"capabilities", what_ranks_can()                                                                   }
    };
    all["capabilities"]["max_devices"] = world.size;
    if (products) all["capabilities"]["engine"] = "matrix", all["versions"]["cublaslt"] = products->version;
    return all;
  }

  Multiply multiplying() const { return products ? products->by(hands_on_card(), multiply, made_by) : multiply; }

  Holder own() const {
    return {
        &plan.mesh, plan.rule, {world.rank, world.rank + 1},
          &hands_on_card()
    };
  }

  // What no card of this kind adds up, or not by this library.
  std::string not_added() const {
    const auto sums = [](const std::vector<Leg>& legs) {
      return std::ranges::any_of(legs, [](const Leg& leg) {
        return std::ranges::any_of(leg.rounds, [](const Round& r) { return r.add && !r.sends.empty(); });
      });
    };
    const bool any = sums(plan.legs) || std::ranges::any_of(plan.inputs, sums);
    return any ? why_not_added(plan.wire, seat.card.sm) : "";
  }

  // In which no call of the case can be made.
  std::string not_in_form() const {
    const auto has = [&](const Collective& c) { return has_form(world.form, c.kind); };
    if (world.form == Form::plain || std::ranges::any_of(ready.trace, has)) return "";
    std::string kinds;
    for (const Collective& c : ready.trace) kinds += (kinds.empty() ? ": " : ", ") + c.kind;
    return fmt::format("form={}: no call of the case is made so{}", name_of(world.form), kinds);
  }

  void give_up_in(double seconds) override { nccl::give_up_in(seconds); }

  std::optional<Unsupported> prepare(const Request& request) override {
    if (!seat.why.empty()) return Unsupported{seat.why, "what the driver and the library say"};
    begin_case(request.c.mesh);
    ready = {}, brought.clear(), added.clear(), used.clear();
    made_by = std::make_shared<cuda::MadeBy>();
    const std::int64_t n = devices(request.c.mesh);
    try {
      plan = plumb::plan(request.c, style, kMostSends);
    } catch (const std::length_error& e) {
      return Unsupported{e.what(), "the memory of one rank"};
    }
    if (const std::string why = not_added(); !why.empty()) return Unsupported{why, "NCCL's src/enqueue.cc"};
    if (world.rank >= n) return {};
    everyone = {std::vector<std::int64_t>(n), static_cast<std::size_t>(world.rank)};
    std::iota(everyone.ids.begin(), everyone.ids.end(), 0);
    library.join(everyone);
    try {
      ready = make_ready(request.c, plan,
                         {own(),
                          through(library, own()),
                          largest_through(library, own()),
                          {},
                          multiplying(),
                          world.average != Average::divided});
    } catch (const std::bad_alloc&) {
      throw std::runtime_error("the memory of the GPU is exhausted: " + seat.card.name);
    }
    ready.passage.acts.emplace_back(hands_on_card().memory.wait);  // so that every clock sees the end of the work
    if (const std::string why = not_in_form(); !why.empty()) return Unsupported{why, "adapters/nccl/README.md"};
    return {};
  }

  // Operands are written here, and put on the card.
  Write onto_card(const Write& here) const {
    return [this, here](std::size_t operand, std::int64_t part, const Slice& slice, std::byte* to) {
      std::vector<std::byte> bytes(elements(slice) * format(ready.operands[operand]->stored).bytes);
      here(operand, part, slice, bytes.data());
      hands_on_card().memory.put(to, bytes.data(), bytes.size());
    };
  }

  void not_compared(const char* why) {
    used.assign(1, std::string("not counted: ") + why);
    if (const std::string words = in_words(asked); !words.empty())
      used.push_back("not known whether it was used: " + words);
  }

  void note_what_chose_nothing(Outcome& o) const {
    if (asked.algorithm != "pat") return note_unused(asked.algorithm, o);
    const auto is = [](const Collective& c) { return c.kind == "all-gather" || c.kind == "reduce-scatter"; };
    if (std::ranges::none_of(o.trace, is))
      o.notes.emplace_back("algorithm=pat chose nothing: there was no gather and no scattered sum");
  }

  // What the library tells of one run's calls has to be what the trace says, and what was asked for.
  void compare() {
    const std::vector<std::vector<Told>> calls = calls_told();
    if (!tells()) return not_compared("NCCL tells no profiler what passes");
    if (world.form == Form::graph) return not_compared("calls of a captured graph");
    if (calls.size() != ready.trace.size())
      throw std::runtime_error(fmt::format("the library was called otherwise than the trace says: {} of {} calls",
                                           calls.size(), ready.trace.size()));
    std::vector<Counted> own;
    for (const auto& call : calls) own.push_back(count(call));
    if (own.empty()) return;
    const auto all = of_all(everyone.ids.size(), own);
    if (const std::string other = untrue(plan.mesh, ready.trace, all); !other.empty())
      throw std::runtime_error("the library was called otherwise than the trace says: " + other);
    for (std::size_t i = 0; i < own.size(); ++i) added.push_back(added_in(i, all));
    for (const auto& call : calls)
      for (const Told& one : call) {
        if (const std::string other = not_as_asked(asked, one); !other.empty()) throw std::runtime_error(other);
        for (const std::string& words : {in_words(one), fewer_channels(asked, one)})
          if (!words.empty() && std::ranges::count(used, words) == 0) used.push_back(words);
      }
    used.push_back(fmt::format("counted by NCCL: {} {}", own.size(), own.size() == 1 ? "call" : "calls"));
  }

  // Results in the arena, or brought here and said where they lie.
  Outcome given(Arena* arena, bool counted) {
    if (counted) compare();
    Outcome o = hand_over(own(), ready, arena);
    o.received.reset();
    if (!added.empty())
      say_how_added(plan.mesh, o.trace,
                    [&](const Collective& c, std::int64_t) { return added[&c - o.trace.data()]; });
    for (std::span<const std::byte>& lies : o.lying) {
      if (lies.data() == nullptr) continue;
      std::vector<std::byte>& here = brought.emplace_back(std::max<std::size_t>(lies.size(), 1));
      hands_on_card().memory.get(here.data(), lies.data(), lies.size());
      lies = {here.data(), lies.size()};
    }
    o.notes = used;
    if (world.form != Form::plain) o.notes.push_back(in_which_form(name_of(world.form)));
    for (const std::string& call : ready.passage.packed)
      o.notes.push_back((hands_on_card().pack ? "packed on the GPU: " : "packed by this processor: ") + call);
    if (!made_by->words.empty()) o.notes.push_back(made_by->words);
    note_what_chose_nothing(o);
    return o;
  }

  std::optional<Stages> stages(const Request& request) override {
    const std::int64_t n = devices(request.c.mesh);
    if (world.rank >= n) return Stages{};
    Stages s = staged(plan, ready, own(), onto_card(request.write));
    s.once = [once = s.once] { once(), tell_of_calls(false); };
    s.give = [this, first = true]() mutable { return given(nullptr, std::exchange(first, false)); };
    s.meet = [this] { meet(everyone); };
    s.limit = [this, alone = s.limit](const std::string& what, std::size_t bytes) {
      const bool by_itself = what == "copy" || (what == "gemm" && !products);
      return by_itself ? alone(what, bytes) : at_best(what, bytes, everyone);
    };
    s.collectives = [once = s.once] { return turns_in(once); };
    s.call = [this] { return plain_call(plan.mesh, ready, everyone); };
    s.rank = world.rank, s.ranks = static_cast<int>(n);
    s.now = another;
    if (seat.several_clocks)
      s.ask_clock = [this](const auto& now) { return ask_first(everyone, now, mail_among(everyone)); };
    return s;
  }

  Reply run(const Request& request, Arena& arena) override {
    if (world.rank >= devices(request.c.mesh)) return Outcome{};
    load_operands(ready, own(), onto_card(request.write));
    const double seconds = carry_out(ready);
    Outcome o = given(request.in_place ? nullptr : &arena, true);
    o.run_seconds = {seconds};
    return o;
  }
};

// The place of a value among the names of an option; -1: it is none.
template <std::size_t n>
int place_of(const std::array<std::string_view, n>& names, const std::string& value) {
  const auto at = std::ranges::find(names, value);
  return at == names.end() ? -1 : static_cast<int>(at - names.begin());
}

int channels(const std::string& value) {
  int n = 0;
  const auto [at, error] = std::from_chars(value.data(), value.data() + value.size(), n);
  if (error != std::errc{} || at != value.data() + value.size() || n < 0 || n > 64)
    throw std::invalid_argument(fmt::format("channels={}: expected a number up to 64", value));
  return n;
}

// False where there is no such option or value.
bool take(Nccl& nccl, const std::string& key, const std::string& value) {
  if (key == "plan") {
    const auto style = style_named(value);
    if (style) nccl.style = *style;
    return style.has_value();
  }
  int at = 0;
  if (key == "form")
    nccl.world.form = static_cast<Form>(std::max(0, at = place_of(kForms, value)));
  else if (key == "average")
    nccl.world.average = static_cast<Average>(std::max(0, at = place_of(kAverages, value)));
  else if (key == "share")
    nccl.share = static_cast<Share>(std::max(0, at = place_of(kShares, value)));
  else if (key == "algorithm")
    at = place_of(kAlgorithms, value), nccl.asked.algorithm = at > 0 ? value : "";
  else if (key == "protocol")
    at = place_of(kProtocols, value), nccl.asked.protocol = at > 0 ? value : "";
  else if (key == "clock")
    nccl.another_clock = value;
  else if (key == "fault")
    nccl.fault = value;
  else if (key == "channels")
    nccl.world.channels = nccl.asked.channels = channels(value);
  else if (key == "products")
    at = value == "processor" || value == "cublaslt" ? 0 : -1, nccl.by_cublaslt = value == "cublaslt";
  else if (key == "grouped")
    at = value == "loop" || value == "call" ? 0 : -1, nccl.grouped_call = value == "call";
  else if (key == "groups")
    at = value == "kept" || value == "anew" ? 0 : -1, nccl.world.anew = value == "anew";
  else
    return key == "np" || key == "launcher";
  return at >= 0;
}

// What the library reads of its environment before it makes a communicator. With 2.24 or later an algorithm
// that it cannot use is an error, and no other one is taken.
void tell_library(const Nccl& nccl, int rank) {
  ask_what_is_used();
  const auto& [algorithm, protocol, channels] = nccl.asked;
  if (!algorithm.empty())
    ::setenv("NCCL_ALGO",
             algorithm == "pat" ? "allgather:pat;reducescatter:pat" : ("allreduce:" + algorithm).c_str(), 1);
  if (!protocol.empty()) ::setenv("NCCL_PROTO", protocol.c_str(), 1);
  if (nccl.share == Share::hostid) ::setenv("NCCL_HOSTID", fmt::format("plumb-rank-{}", rank).c_str(), 1);
  if (nccl.share == Share::multi) ::setenv("NCCL_MULTI_RANK_GPU_ENABLE", "1", 1);
}

// Why the library that is here makes no call in that form, or by that algorithm: before 2.24 it knows no
// algorithm of one collective alone, and takes no notice of it.
std::string not_made(Form form, const std::string& algorithm) {
  std::string why;
  const Functions* f = functions(why);
  if (f && !algorithm.empty() && f->version < NCCL_VERSION(2, 24, 0))
    return fmt::format("algorithm={}: {} is NCCL {}, and 2.24 is the first that takes one of one collective",
                       algorithm, f->file, version_in_words(f->version));
  if (form != Form::registered || !f || f->CommRegister) return why;
  return fmt::format("form=registered: {} is NCCL {}, which has no ncclCommRegister", f->file,
                     version_in_words(f->version));
}

int serve_all(const std::vector<std::string>& arguments) {
  Nccl nccl;
  for (const auto& [key, value] : options_and(arguments, "nccl"))
    if (!take(nccl, key, value))
      throw std::invalid_argument(
          fmt::format("unknown option {}={}; `plumb backends nccl` lists them", key, value));
  if (nccl.grouped_call && !nccl.by_cublaslt)
    throw std::invalid_argument("grouped=call is of products=cublaslt");
  const std::optional<plumb::Seat> seat = take_seat();
  if (!seat) throw std::invalid_argument("it is started by plumb-launch");
  nccl.world.rank = seat->rank, nccl.world.size = seat->world;
  say_world(nccl.world.size);
  tell_library(nccl, seat->rank);
  plant(nccl.fault, seat->rank, nccl.library);
  nccl.another = planted_clock(nccl.another_clock, seat->rank);
  nccl.seat = take_card_of_rank(seat->rank, seat->world, nccl.share,
                                fmt::format("{}{}", this_clock(), nccl.another ? " another" : ""));
  if (nccl.seat.why.empty()) nccl.seat.why = not_made(nccl.world.form, nccl.asked.algorithm);
  if (nccl.seat.why.empty() && nccl.by_cublaslt)
    nccl.products = cuda::cublaslt_products(nccl.grouped_call, nccl.seat.why);
  if (nccl.products && nccl.products->stub && !nccl.seat.card.name.starts_with("stub"))
    nccl.seat.why = "the cuBLASLt is a stub, and the GPU is none";
  if (nccl.seat.why.empty()) start(nccl.world);
  when_told_to_end(abort_all);
  return serve_as_rank(nccl, *seat);
}

}  // namespace
}  // namespace plumb::nccl

// Options come from PLUMB_OPTIONS, and as --NAME VALUE. `--check` says what is missing here, in one line.
int main(int argc, char** argv) try {
  if (argc == 2 && std::string(argv[1]) == "--check") {
    const std::string why = plumb::nccl::why_none_here();
    std::fprintf(stderr, "%s", why.empty() ? "" : (why + "\n").c_str());
    return why.empty() ? 0 : 1;
  }
  return plumb::nccl::serve_all({argv + 1, argv + argc});
} catch (const std::invalid_argument& e) {
  return plumb::cannot_use(std::string("plumb-nccl: ") + e.what());
} catch (const std::exception& e) {
  std::fprintf(stderr, "plumb-nccl: %s\n", e.what());
  return 1;
}

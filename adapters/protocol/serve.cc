#include "adapters/protocol/serve.h"

#include <fmt/format.h>
#include <string.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <stdexcept>

#include "adapters/protocol/channel.h"
#include "adapters/protocol/clocked.h"
#include "adapters/protocol/fields.h"
#include "adapters/protocol/json.h"
#include "adapters/protocol/message.h"
#include "adapters/protocol/places.h"
#include "adapters/protocol/prove_here.h"
#include "adapters/protocol/ranks.h"
#include "adapters/protocol/reply_line.h"
#include "adapters/protocol/skim.h"
#include "reference/words/fnv.h"
#include "reference/words/text.h"

namespace plumb {

using nlohmann::json;

namespace {

std::string answer_hello(Backend& backend, const json& request, const std::vector<std::string>& places) {
  json reply = backend.hello(mesh_from_json(field(request, "mesh")));
  if (!places.empty()) reply["places"] = places;
  reply["type"] = "hello";
  reply["version"] = protocol_version;
  return dump(reply);
}

// Not negative, for a field that skim() leaves at -1 where it is absent.
std::size_t present(std::int64_t n, const char* what) {
  if (n < 0) throw Malformed(fmt::format("{} is missing, or negative", what));
  return static_cast<std::size_t>(n);
}

Request request_from(const Skimmed& message, std::span<const std::byte> arena, const DeviceCheck* there) {
  Request r{message.id, parse_case(message.line), {}, message.seconds};
  if (message.fills) {
    r.write = filling(r.c, there), r.in_place = true;
    return r;
  }
  for (const Skimmed::Operand& operand : message.operands) {
    const std::size_t offset = present(operand.offset, "the offset of an operand");
    const std::size_t bytes = present(operand.bytes, "the bytes of an operand");
    if (offset > arena.size() || bytes > arena.size() - offset)
      throw Malformed("an operand lies outside the arena");
    r.operands.push_back({arena.subspan(offset, bytes), operand.shape});
  }
  if (r.operands.size() != r.c.op.operands.size()) throw Malformed("the case has another number of operands");
  r.write = cutting(r.c, r.operands, there);
  return r;
}

// What all ranks say alike of an outcome: blocks, claims and trace.
std::string digest(const Outcome& o) {
  const std::vector<std::int64_t> words = table(o.blocks);
  std::uint64_t hash = fnv({reinterpret_cast<const char*>(words.data()), words.size() * sizeof words[0]});
  for (const auto& claim : o.claims) hash = fnv(";", fnv(claim.value_or(""), hash));
  for (const Collective& c : o.trace) hash = fnv(json_text(c), hash);
  return fmt::format("{:016x}", hash);
}

// Who asks, and how a program answers: alone, or as a rank.
struct Conversation {
  std::function<std::optional<std::string>()> next;
  std::function<void(std::string)> say;
  int rank = 0, world = 1;
};

void due(Backend& backend, double seconds) { backend.give_up_in(seconds > 0 ? until_given_up(seconds) : 0); }

// The run has a deadline of its own, which whoever watches the ranks has to know.
void say_phase(Backend& backend, const Conversation& talk, const Skimmed& message) {
  if (talk.world <= 1) return;
  if (talk.rank == 0) talk.say(fmt::format(R"({{"type":"phase","id":{},"phase":"run"}})", message.id));
  if (message.run_seconds > 0) due(backend, message.run_seconds);
}

// Says between iterations, once in a while, that the deadline may start anew. The others wait for the first
// rank, or it for them: whoever stands still holds it up.
std::function<void()> saying_alive(const Conversation& talk, std::int64_t id, double seconds) {
  using Now = std::chrono::steady_clock;
  constexpr double late = 0.75;
  if (talk.rank > 0 || seconds <= 0) return nullptr;
  return [say = talk.say, id, patience = std::chrono::duration<double>(late * until_asked(seconds)),
          last = Now::now()]() mutable {
    if (Now::now() - last < patience) return;
    last = Now::now();
    say(fmt::format(R"({{"type":"alive","id":{}}})", id));
  };
}

// Between iterations: what the rank waits for has its time anew.
std::function<void()> going_on(Backend& backend, const Conversation& talk, std::int64_t id, double seconds) {
  return [&backend, alive = saying_alive(talk, id, seconds), seconds]() mutable {
    if (seconds > 0) due(backend, seconds);
    if (alive) alive();
  };
}

// A backend that throws could not do what it said it could.
template <class Call>
Reply guarded(const Backend& backend, Call&& call) try {
  return call();
} catch (const GivenUp& e) {
  return e;
} catch (const std::exception& e) {
  if (!backend.lost()) return Reneged{e.what(), ""};
  std::fprintf(stderr, "%s\n", e.what());
  std::_Exit(1);
}

Reply run(Backend& backend, const Request& request, Arena& arena, const std::function<void()>& runs) {
  return guarded(backend, [&]() -> Reply {
    const auto start = std::chrono::steady_clock::now();
    if (auto refusal = backend.prepare(request)) return *refusal;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    runs();
    Reply reply = backend.run(request, arena);
    if (auto* outcome = std::get_if<Outcome>(&reply)) outcome->compile_seconds += took.count();
    return reply;
  });
}

// The arena of a request: the file, or on another machine than the harness a copy.
Arena arena_of(const Skimmed& message, std::optional<Mapping>& mapping) {
  const std::size_t size = present(message.arena, "arena"), free = present(message.free, "free");
  if (mapping) {
    mapping->reach(size);
    return {mapping->bytes.first(size), free};
  }
  const auto copy = copied_arena();
  if (copy.size() < size) throw Malformed("no arena came with the request");
  return {copy.first(size), free};
}

std::string done(const Conversation& talk, std::int64_t id, const std::string& reply) {
  return talk.rank > 0 ? fmt::format(R"({{"type":"done","id":{}}})", id) : reply;
}

// The last case whose results stay in place; of one that was timed the first iteration's results, too.
struct Kept {
  std::optional<Request> request;
  Outcome outcome, first;
  std::vector<std::shared_ptr<std::byte>> apart{};  // the first's blocks
  std::optional<Stages> stages;
  std::optional<Awaiting> awaiting;  // of one that is timed, what is proved of both
};

Outcome& kept_of(Kept& kept, const Skimmed& message) {
  if (!kept.request) throw Malformed(message.type + ", and nothing is kept in place");
  if (message.first && !kept.stages) throw Malformed("no case was timed: there is no first");
  return message.first ? kept.first : kept.outcome;
}

// What every rank says of its reply: the first one all of it.
std::string said_by(const Conversation& talk, std::int64_t id, const Reply& reply, Arena& arena) {
  const auto* outcome = std::get_if<Outcome>(&reply);
  // A rank without a device has none of it.
  const std::string says = talk.world > 1 && outcome && !outcome->claims.empty() ? digest(*outcome) : "";
  std::string text;
  if (talk.rank > 0 && outcome) {
    text = fmt::format(R"({{"type":"done","id":{},"says":"{}"}})", id, says);
  } else {
    text = written(id, reply, arena);
    if (!says.empty()) text.insert(text.size() - 1, fmt::format(R"(,"says":"{}")", says));
  }
  return text;
}

std::string answer_run(Backend& backend, const Skimmed& message, Arena arena, const Conversation& talk,
                       Kept& kept) {
  kept = {};
  Request request = request_from(message, arena.whole, backend.memory());
  Reply reply = run(backend, request, arena, [&] { say_phase(backend, talk, message); });
  std::string text = said_by(talk, message.id, reply, arena);
  auto* outcome = std::get_if<Outcome>(&reply);
  if (outcome && request.in_place) kept.request = std::move(request), kept.outcome = std::move(*outcome);
  return text;
}

// The bytes of results that are about to be made anew.
void set_apart(Kept& kept, const Outcome& made, const DeviceCheck* there) {
  kept.first = made;
  for (auto& lies : kept.first.lying) {
    if (!lies.data()) continue;
    kept.apart.push_back(copied(there, lies));
    lies = {kept.apart.back().get(), lies.size()};
  }
}

// Every rank writes its row; where the first one lies.
std::uint64_t write_row(const Stages& stages, const std::vector<std::int64_t>& row, Arena& arena) {
  const std::size_t bytes = row.size() * sizeof row[0];
  const std::span<std::byte> place = arena.take(bytes * stages.ranks);
  const std::span<std::byte> own = place.subspan(stages.rank * bytes, bytes);
  memcpy(own.data(), row.data(), bytes);
  send_written(arena.offset(own), bytes);
  return arena.offset(place);
}

// What is said of the clocks.
std::string write_clock(const Stages& stages, const Clocked& said, Arena& arena) {
  const std::uint64_t offset = write_row(stages, clock_row(said), arena);
  if (!stages.ask_clock) return fmt::format(R"("clock":{{"offset":{},"ranks":{}}})", offset, stages.ranks);
  return fmt::format(R"("clock":{{"offset":{},"ranks":{},"sights":{}}})", offset, stages.ranks,
                     write_row(stages, sights_row(said), arena));
}

struct Benched {
  Kept& kept;
  Clocked& clock;
};

// The results are kept, of the first iteration and of the last.
Reply bench(Backend& backend, const Skimmed& message, const Conversation& talk, Benched& made) {
  auto& [kept, said] = made;
  const Request& request = *kept.request;
  kept.stages = backend.stages(request);
  auto& stages = kept.stages;
  if (!stages) return Reneged{"it cannot be timed", ""};
  if (!stages->once) return Outcome{};
  // Alone it says no phase, and has one deadline for all.
  stages->goes_on =
      going_on(backend, talk, message.id, talk.world > 1 ? message.run_seconds : message.seconds);
  stages->load();
  stages->goes_on();
  kept.awaiting = awaiting(request.c, backend.memory());
  stages->goes_on();
  said = clocked(*stages, message.timing, message.id,
                 [&] { set_apart(kept, stages->give(), backend.memory()); });
  return kept.outcome = stages->give();
}

std::string answer_bench(Backend& backend, const Skimmed& message, Arena arena, const Conversation& talk,
                         Kept& kept) {
  kept = {};
  if (message.timing.iterations < 1 || message.timing.batch < 1 || message.timing.warmups < 0)
    throw Malformed(
        "a bench has at least one iteration, a batch of at least one and no fewer than 0 warm-ups");
  kept.request = request_from(message, arena.whole, backend.memory());
  kept.request->in_place = true;
  Clocked clock;
  const Reply reply = guarded(backend, [&]() -> Reply {
    if (auto refusal = backend.prepare(*kept.request)) return *refusal;
    say_phase(backend, talk, message);
    Benched made{kept, clock};
    return bench(backend, message, talk, made);
  });
  const bool timed = std::holds_alternative<Outcome>(reply);
  const std::string clocks = timed && kept.stages->once ? write_clock(*kept.stages, clock, arena) : "";
  std::string text = said_by(talk, message.id, reply, arena);
  if (talk.rank == 0 && timed) text.insert(text.size() - 1, "," + clocks);
  if (!timed) kept = {};
  return text;
}

// What the ranks of the case that was timed last could do at best.
std::string answer_limit(Backend& backend, const Skimmed& message, Arena arena, const Conversation& talk,
                         Kept& kept) {
  if (!kept.stages || message.timing.iterations < 1 || message.timing.batch < 1)
    throw Malformed("limit, and no case was timed");
  Stages& stages = *kept.stages;
  stages.goes_on = going_on(backend, talk, message.id, message.seconds);
  const Reply none = Unsupported{"it knows no limit " + message.what, "serve"};
  if (!stages.once) return said_by(talk, message.id, Outcome{}, arena);
  const auto said = clocked_limit(stages, message.what, present(message.bytes, "bytes"), message.timing);
  if (!said) return said_by(talk, message.id, none, arena);
  return done(talk, message.id,
              fmt::format(R"({{"type":"timed","id":{},{}}})", message.id, write_clock(stages, *said, arena)));
}

// Proves the blocks that lie here, and says of each in the arena.
std::string answer_check(Backend& backend, const Skimmed& message, const Arena& arena,
                         const Conversation& talk, Kept& kept) {
  const Outcome& of = kept_of(kept, message);
  const Awaiting awaited = kept.awaiting.value_or(Awaiting{kept.request->c, backend.memory()});
  const std::vector<ProofRow> rows = proofs(awaited, of, message.seed);
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (of.lying[i].data()) {
      const std::size_t at = arena.next + i * sizeof rows[i];
      memcpy(arena.whole.subspan(at).data(), rows[i].data(), sizeof rows[i]);
      send_written(at, sizeof rows[i]);
    }
  return done(talk, message.id, fmt::format(R"({{"type":"checked","id":{}}})", message.id));
}

// The blocks travel after all.
std::string answer_fetch(Backend& backend, const Skimmed& message, Arena arena, const Conversation& talk,
                         Kept& kept) {
  Outcome& o = kept_of(kept, message);
  for (std::size_t i = 0; i < o.blocks.size(); ++i) {
    const std::span<std::byte> place = arena.take(o.blocks[i].bytes);
    o.blocks[i].offset = arena.offset(place);
    if (o.lying[i].empty()) continue;
    bring(backend.memory(), o.lying[i], place.data());
    send_written(arena.offset(place), place.size());
  }
  if (talk.rank > 0) return done(talk, message.id, "");
  return written(message.id, o, arena);
}

void converse(Backend& backend, const Conversation& talk) {
  std::optional<Mapping> mapping;
  Kept kept;
  const auto reached = [&] { return mapping || !copied_arena().empty(); };
  while (const auto line = talk.next()) {
    const Skimmed skimmed = skim(*line);
    due(backend, skimmed.seconds);
    if (skimmed.type == "hello") {
      const json request = parse_message(*line);
      if (copied_arena().empty()) mapping.emplace(text(field(request, "arena"), "arena"));
      const auto places = talk.world > 1 ? places_of_all(talk.rank, talk.world) : std::vector<std::string>{};
      talk.say(done(talk, 0, answer_hello(backend, request, places)));
    } else if (skimmed.type == "run" && reached()) {
      talk.say(answer_run(backend, skimmed, arena_of(skimmed, mapping), talk, kept));
    } else if (skimmed.type == "bench" && reached()) {
      talk.say(answer_bench(backend, skimmed, arena_of(skimmed, mapping), talk, kept));
    } else if (skimmed.type == "limit" && reached()) {
      talk.say(answer_limit(backend, skimmed, arena_of(skimmed, mapping), talk, kept));
    } else if (skimmed.type == "check" && reached()) {
      talk.say(answer_check(backend, skimmed, arena_of(skimmed, mapping), talk, kept));
    } else if (skimmed.type == "fetch" && reached()) {
      talk.say(answer_fetch(backend, skimmed, arena_of(skimmed, mapping), talk, kept));
    } else {
      throw Malformed(fmt::format("unexpected request \"{}\"", skimmed.type));
    }
    due(backend, 0);
  }
}

int serve(Backend& backend, const Conversation& talk) try {
  converse(backend, talk);
  return 0;
} catch (const std::exception& e) {
  fmt::print(stderr, "{}\n", e.what());
  return 2;
}

}  // namespace

int serve(Backend& backend) try {
  if (const auto seat = take_seat()) return serve_as_rank(backend, *seat);
  Channel channel = open_channel();
  return serve(backend, {[&] { return read_line(channel); },
                         [&](std::string line) { write_line(channel, std::move(line)); }});
} catch (const std::exception& e) {
  fmt::print(stderr, "{}\n", e.what());
  return 2;
}

int serve_as_rank(Backend& backend, const Seat& seat) {
  return serve(backend, {next_request, send_reply, seat.rank, seat.world});
}

}  // namespace plumb

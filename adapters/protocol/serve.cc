#include "adapters/protocol/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <stdexcept>

#include "adapters/protocol/fields.h"
#include "adapters/protocol/json.h"
#include "adapters/protocol/message.h"
#include "adapters/protocol/prove_here.h"
#include "adapters/protocol/ranks.h"
#include "adapters/protocol/skim.h"
#include "reference/words/fnv.h"
#include "reference/words/text.h"

namespace plumb {

using nlohmann::json;

namespace {

struct Channel {
  int requests = -1, replies = -1;
  std::string buffer{};
  std::size_t used = 0;  // bytes of the buffer that were handed out
  std::vector<char> chunk = std::vector<char>(64 * 1024);
};

int descriptor(const char* variable) {
  const char* value = std::getenv(variable);
  if (!value)
    throw std::runtime_error(fmt::format("{} is not set: this program is started by plumb", variable));
  return std::atoi(value);
}

// The next line without its end; nullopt where the requests end.
std::optional<std::string> read_line(Channel& channel) {
  channel.buffer.erase(0, channel.used);
  channel.used = 0;
  std::size_t scanned = 0;
  while (true) {
    const std::size_t end = channel.buffer.find('\n', scanned);
    if (end != std::string::npos) {
      channel.used = end + 1;
      return channel.buffer.substr(0, end);
    }
    scanned = channel.buffer.size();
    const ssize_t n = ::read(channel.requests, channel.chunk.data(), channel.chunk.size());
    if (n == 0) return std::nullopt;
    if (n > 0)
      channel.buffer.append(channel.chunk.data(), static_cast<std::size_t>(n));
    else if (errno != EINTR)
      throw std::runtime_error(fmt::format("reading a request: {}", strerror(errno)));
  }
}

void write_line(const Channel& channel, std::string line) {
  line.push_back('\n');
  for (std::size_t at = 0; at < line.size();) {
    const ssize_t n = ::write(channel.replies, line.data() + at, line.size() - at);
    if (n >= 0)
      at += static_cast<std::size_t>(n);
    else if (errno != EINTR)
      throw std::runtime_error(fmt::format("writing a reply: {}", strerror(errno)));
  }
}

// The arena file and as much of it as is mapped.
struct Mapping {
  int file = -1;
  std::span<std::byte> bytes;

  explicit Mapping(const std::string& path) : file(::open(path.c_str(), O_RDWR | O_CLOEXEC)) {
    if (file < 0) throw std::runtime_error(fmt::format("opening the arena {}: {}", path, strerror(errno)));
  }
  Mapping(const Mapping&) = delete;
  ~Mapping() {
    if (!bytes.empty()) ::munmap(bytes.data(), bytes.size());
    ::close(file);
  }
  void reach(std::size_t size) {
    if (size <= bytes.size()) return;
    if (!bytes.empty()) ::munmap(bytes.data(), bytes.size());
    bytes = {};
    void* at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
    if (at == MAP_FAILED)
      throw std::runtime_error(fmt::format("mapping {} bytes of the arena: {}", size, strerror(errno)));
    bytes = {static_cast<std::byte*>(at), size};
  }
};

using Out = std::back_insert_iterator<fmt::memory_buffer>;

void write_reply(fmt::memory_buffer& line, std::int64_t id, const Unsupported& u, Arena&) {
  fmt::format_to(Out(line), R"({{"type":"unsupported","id":{},"reason":{},"source":{}}})", id,
                 json_text(u.reason), json_text(u.source));
}

void write_reply(fmt::memory_buffer& line, std::int64_t id, const Reneged& r, Arena&) {
  fmt::format_to(Out(line), R"({{"type":"reneged","id":{},"message":{},"detail":{}}})", id,
                 json_text(r.message), json_text(r.detail));
}

void write_reply(fmt::memory_buffer& line, std::int64_t id, const Refused& r, Arena&) {
  fmt::format_to(Out(line), R"({{"type":"refused","id":{},"message":{},"detail":{}}})", id,
                 json_text(r.message), json_text(r.detail));
}

void write_reply(fmt::memory_buffer& line, std::int64_t id, const Outcome& o, Arena& arena) {
  const std::vector<std::int64_t> words = table(o.blocks);
  const std::span<std::byte> place = arena.take(words.size() * sizeof words[0]);
  memcpy(place.data(), words.data(), place.size());
  fmt::format_to(Out(line),
                 R"({{"type":"result","id":{},"table":{{"offset":{},"rows":{},"bytes":{}}},"claims":[)", id,
                 arena.offset(place), o.blocks.size(), place.size());
  for (std::size_t i = 0; i < o.claims.size(); ++i)
    fmt::format_to(Out(line), "{}{}", i ? "," : "", o.claims[i] ? json_text(*o.claims[i]) : "null");
  fmt::format_to(Out(line), R"(],"trace":[)");
  for (std::size_t i = 0; i < o.trace.size(); ++i)
    fmt::format_to(Out(line), "{}{}", i ? "," : "", json_text(o.trace[i]));
  fmt::format_to(Out(line), R"(],"times":{{"compile":{},"run":[{}]}})", o.compile_seconds,
                 fmt::join(o.run_seconds, ","));
  if (o.received) fmt::format_to(Out(line), R"(,"received":{})", *o.received);
  if (!o.groups.empty()) fmt::format_to(Out(line), R"(,"groups":{})", dump(o.groups));
  if (!o.plan.result.empty())
    fmt::format_to(Out(line), R"(,"plan":{{"operands":{},"result":{}}})", dump(o.plan.operands),
                   dump(o.plan.result));
  if (!o.notes.empty()) fmt::format_to(Out(line), R"(,"notes":{})", dump(o.notes));
  line.push_back('}');
}

std::string answer_hello(Backend& backend, const json& request) {
  json reply = backend.hello(mesh_from_json(field(request, "mesh")));
  reply["type"] = "hello";
  reply["version"] = protocol_version;
  return dump(reply);
}

// Not negative, for a field that skim() leaves at -1 where it is absent.
std::size_t present(std::int64_t n, const char* what) {
  if (n < 0) throw Malformed(fmt::format("{} is missing, or negative", what));
  return static_cast<std::size_t>(n);
}

Request request_from(const Skimmed& message, std::span<const std::byte> arena) {
  Request r{message.id, parse_case(message.line), {}, message.seconds};
  if (message.fills) {
    r.write = filling(r.c), r.in_place = true;
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
  r.write = cutting(r.c, r.operands);
  return r;
}

// What all ranks say alike of an outcome: blocks, claims and trace.
std::string digest(const Outcome& o) {
  std::string text;
  for (std::int64_t word : table(o.blocks)) text += fmt::format("{} ", word);
  for (const auto& claim : o.claims) text += claim.value_or("") + ";";
  for (const Collective& c : o.trace) text += json_text(c);
  return fmt::format("{:016x}", fnv(text));
}

// Who asks, and how a program answers: alone, or as a rank.
struct Conversation {
  std::function<std::optional<std::string>()> next;
  std::function<void(std::string)> say;
  int rank = 0, world = 1;
};

// The run has a deadline of its own, which whoever watches the ranks has to know.
void say_phase(const Conversation& talk, std::int64_t id) {
  if (talk.world > 1 && talk.rank == 0)
    talk.say(fmt::format(R"({{"type":"phase","id":{},"phase":"run"}})", id));
}

// A backend that throws could not do what it said it could.
Reply run(Backend& backend, const Request& request, Arena& arena, const Conversation& talk) try {
  const auto start = std::chrono::steady_clock::now();
  if (auto refusal = backend.prepare(request)) return *refusal;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  say_phase(talk, request.id);
  Reply reply = backend.run(request, arena);
  if (auto* outcome = std::get_if<Outcome>(&reply)) outcome->compile_seconds += took.count();
  return reply;
} catch (const std::exception& e) {
  return Reneged{e.what(), ""};
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

// The last case whose results stay in place.
struct Kept {
  std::optional<Request> request;
  Outcome outcome;
};

// A reply as a line, and its table in the arena.
template <class One>
std::string written(std::int64_t id, const One& reply, Arena& arena) {
  fmt::memory_buffer line;
  const std::size_t blocks_end = arena.next;
  write_reply(line, id, reply, arena);
  send_written(blocks_end, arena.next - blocks_end);
  return fmt::to_string(line);
}

std::string answer_run(Backend& backend, const Skimmed& message, Arena arena, const Conversation& talk,
                       Kept& kept) {
  kept = {};
  Request request = request_from(message, arena.whole);
  Reply reply = run(backend, request, arena, talk);
  auto* outcome = std::get_if<Outcome>(&reply);
  // A rank without a device has none of it.
  const std::string says = talk.world > 1 && outcome && !outcome->claims.empty() ? digest(*outcome) : "";
  std::string text;
  if (talk.rank > 0 && outcome) {
    text = fmt::format(R"({{"type":"done","id":{},"says":"{}"}})", request.id, says);
  } else {
    text = std::visit([&](const auto& one) { return written(request.id, one, arena); }, reply);
    if (!says.empty()) text.insert(text.size() - 1, fmt::format(R"(,"says":"{}")", says));
  }
  if (outcome && request.in_place) kept = {std::move(request), std::move(*outcome)};
  return text;
}

// Proves the blocks that lie here, and says of each in the arena.
std::string answer_check(const Skimmed& message, const Arena& arena, const Conversation& talk,
                         const Kept& kept) {
  if (!kept.request) throw Malformed("check, and nothing is kept in place");
  const std::vector<ProofRow> rows = proofs(kept.request->c, kept.outcome, message.seed);
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (kept.outcome.lying[i].data()) {
      const std::size_t at = arena.next + i * sizeof rows[i];
      memcpy(arena.whole.subspan(at).data(), rows[i].data(), sizeof rows[i]);
      send_written(at, sizeof rows[i]);
    }
  return done(talk, message.id, fmt::format(R"({{"type":"checked","id":{}}})", message.id));
}

// The blocks travel after all.
std::string answer_fetch(const Skimmed& message, Arena arena, const Conversation& talk, Kept& kept) {
  if (!kept.request) throw Malformed("fetch, and nothing is kept in place");
  Outcome& o = kept.outcome;
  for (std::size_t i = 0; i < o.blocks.size(); ++i) {
    const std::span<std::byte> place = arena.take(o.blocks[i].bytes);
    o.blocks[i].offset = arena.offset(place);
    if (o.lying[i].empty()) continue;
    memcpy(place.data(), o.lying[i].data(), place.size());
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
    if (skimmed.type == "hello") {
      const json request = parse_message(*line);
      if (copied_arena().empty()) mapping.emplace(text(field(request, "arena"), "arena"));
      talk.say(done(talk, 0, answer_hello(backend, request)));
    } else if (skimmed.type == "run" && reached()) {
      talk.say(answer_run(backend, skimmed, arena_of(skimmed, mapping), talk, kept));
    } else if (skimmed.type == "check" && reached()) {
      talk.say(answer_check(skimmed, arena_of(skimmed, mapping), talk, kept));
    } else if (skimmed.type == "fetch" && reached()) {
      talk.say(answer_fetch(skimmed, arena_of(skimmed, mapping), talk, kept));
    } else {
      throw Malformed(fmt::format("unexpected request \"{}\"", skimmed.type));
    }
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
  Channel channel{descriptor("PLUMB_REQUESTS"), descriptor("PLUMB_REPLIES")};
  return serve(backend, {[&] { return read_line(channel); },
                         [&](std::string line) { write_line(channel, std::move(line)); }});
} catch (const std::exception& e) {
  fmt::print(stderr, "{}\n", e.what());
  return 2;
}

int serve_as_rank(Backend& backend, const Seat& seat) {
  return serve(backend, {next_request, send_reply, seat.rank, seat.world});
}

std::vector<std::pair<std::string, std::string>> options() {
  std::vector<std::pair<std::string, std::string>> out;
  const char* value = std::getenv("PLUMB_OPTIONS");
  if (!value || !*value) return out;
  const json parsed = parse_message(value);
  for (const auto& [key, option] : parsed.items()) out.emplace_back(key, text(option, key));
  return out;
}

}  // namespace plumb

#include "harness/backend/process.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <map>
#include <optional>
#include <utility>

#include "adapters/protocol/fields.h"
#include "adapters/protocol/json.h"
#include "harness/backend/arena_file.h"
#include "harness/backend/astray.h"
#include "harness/backend/child.h"
#include "harness/backend/interrupt.h"
#include "harness/backend/reply.h"
#include "harness/backend/request.h"
#include "harness/backend/transcript.h"
#include "harness/backend/waiting.h"
#include "reference/words/text.h"

namespace plumb {

using nlohmann::json;

namespace {

constexpr int most_starts = 3;                     // in a row without a hello: it will not start
constexpr std::chrono::milliseconds to_end{1000};  // once its requests have ended, or its replies
constexpr const char* cannot_use_options = "exited with code 2";  // before its first hello

std::string reply_to(const Waiting& w) { return w.phase == "start" ? "the reply to hello: " : "the reply: "; }

// What is said of the cases after the last start.
Answer given_up(Answer last) {
  const std::string head = fmt::format("did not start {} times in a row: ", most_starts);
  if (const auto* hung = std::get_if<Hung>(&last))
    return Crashed{head + (hung->what.empty() ? "no hello in time" : hung->what), "start", hung->last_words};
  if (auto* crashed = std::get_if<Crashed>(&last)) crashed->what = head + crashed->what;
  if (auto* off = std::get_if<OffPage>(&last)) off->what = head + off->what;
  return last;
}

}  // namespace

struct Process::State {
  Command command;
  Deadlines deadlines;
  Waits waits;
  Greeted greeted;
  ArenaFile arena;
  Transcript transcript;
  std::optional<Child> child;
  std::optional<Hello> hello;
  std::int64_t first_devices = 0;  // of the mesh the child was started with
  std::int64_t id = 0;
  std::string last_phase;    // of the last reply
  std::optional<Case> kept;  // whose results lie with the program
  std::size_t kept_blocks = 0;
  std::map<std::int64_t, std::pair<int, Answer>> failed;  // starts in a row, by number of devices

  void start();
  Child::Wait receive(std::string_view& line, Waiting&);
  Answer died(const Waiting&);
  Answer off_page(std::string what, const std::string& phase);
  Answer hang(const Waiting&);
  Answer failure(Child::Wait, const Waiting&);
  std::optional<Answer> spoiled(std::span<const Tensor> operands, const Layout&);
  Answer failed_start(Answer, const Waiting&);
  std::optional<Answer> say_hello(const Mesh&);
  std::optional<Answer> start_for(const Mesh&);
  Answer wait_for_reply(const Asked&);
  Answer ask(const std::string& request, const Asked&, const Waiting&);
  std::optional<Answer> wait_for(const std::string& type, const Asked&,
                                 const std::function<void(const json&)>& take);
  void rest(const Asked&, Waiting&);
};

void Process::State::start() {
  json options = json::object();
  for (const auto& [key, value] : command.options) options[key] = value;
  child.emplace(Launch{command.argv,
                       {{"PLUMB_OPTIONS", dump(options)}},
                       std::chrono::milliseconds(static_cast<std::int64_t>(command.grace * 1000))});
}

Child::Wait Process::State::receive(std::string_view& line, Waiting& w) {
  while (true) {
    const auto said =
        w.since + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(w.word));
    const Child::Wait got = child->receive(line, waits ? std::min(w.deadline, said) : w.deadline);
    if (got != Child::Wait::late || w.over()) return got;
    waits(w.phase, w.seconds());
    w.word *= 2;
  }
}

// How it ended, and its last words.
Answer Process::State::died(const Waiting& w) {
  std::string end = child->end(to_end);
  if (end == "killed") end = "closed its channel";
  const bool by_choice = end == "closed its channel" || end == "exited with code 0";
  if (const std::string what = by_choice ? astray(*child, false) : ""; !what.empty())
    return off_page(reply_to(w) + what, w.phase);
  if (end == "exited with code 0" && w.phase == "start")
    end += " before its hello; requests come on the descriptor PLUMB_REQUESTS, standard input is empty";
  Crashed crashed{end, w.phase, child->last_words()};
  child.reset();
  return crashed;
}

// It speaks another language, and is ended.
Answer Process::State::off_page(std::string what, const std::string& phase) {
  child->end(std::chrono::milliseconds{0});
  constexpr std::size_t longest = 1000;
  OffPage off{utf8(what.substr(0, longest)), phase, child->last_words()};
  child.reset();
  return off;
}

Answer Process::State::hang(const Waiting& w) {
  if (const std::string what = astray(*child, true); !what.empty())
    return off_page(reply_to(w) + what, w.phase);
  Hung hung{w.phase, w.seconds(), "", child->processes()};
  child->end(std::chrono::milliseconds{0});
  hung.last_words = child->last_words();
  child.reset();
  return hung;
}

Answer Process::State::failure(Child::Wait how, const Waiting& w) {
  if (how == Child::Wait::late) return hang(w);
  if (how == Child::Wait::too_long) return off_page("the reply is longer than 256 MiB", w.phase);
  return died(w);
}

// As the program says of those that it started; it is ended, and they with it.
Answer Process::State::failed_start(Answer answer, const Waiting& w) {
  child->close_requests();
  child->end(to_end);
  const std::string last_words = child->last_words();
  if (auto* hung = std::get_if<Hung>(&answer))
    hung->phase = w.phase, hung->seconds = w.seconds(), hung->last_words = last_words;
  if (auto* crashed = std::get_if<Crashed>(&answer))
    crashed->phase = w.phase, crashed->last_words = last_words;
  child.reset();
  return answer;
}

std::optional<Answer> Process::State::say_hello(const Mesh& mesh) {
  Waiting w("start", deadlines);
  const std::string request = hello_request({arena.path(), w.left()}, mesh);
  transcript.add("->", request);
  if (const auto sent = child->send(request, w.deadline); sent != Child::Wait::ready) return failure(sent, w);
  std::string_view line;
  if (const auto got = receive(line, w); got != Child::Wait::ready) return failure(got, w);
  transcript.add("<-", line);
  try {
    const json reply = parse_message(line);
    if (auto why = parse_failed_start(reply)) return failed_start(std::move(*why), w);
    if (text(field(reply, "type"), "type") != "hello") throw Malformed("it is not a hello");
    const std::int64_t version = integer(field(reply, "version"), "version");
    if (version != protocol_version) throw Malformed(fmt::format("version {} was not offered", version));
    hello = hello_from_json(reply);
    if (greeted) greeted(*hello);
  } catch (const Malformed& e) {
    return off_page(fmt::format("the reply to hello: {}", e.what()), w.phase);
  }
  return std::nullopt;
}

std::optional<Answer> Process::State::start_for(const Mesh& mesh) {
  const std::int64_t n = devices(mesh);
  if (child && hello->capabilities.mesh_fixed && n != first_devices) {
    child->close_requests();
    child->end(to_end);
    child.reset();
  }
  if (child) return std::nullopt;
  auto& [times, last] = failed[n];
  if (times >= most_starts) return last;
  start();
  first_devices = n;
  auto answer = say_hello(mesh);
  if (!answer) {
    failed.erase(n);
    return std::nullopt;
  }
  const auto* crash = std::get_if<Crashed>(&*answer);
  if (crash && crash->what == cannot_use_options && !hello)
    throw BadInput(fmt::format("{}: {}", command.name,
                               crash->last_words.empty()
                                   ? "it exited with code 2, before hello and without a word"
                                   : crash->last_words));
  if (++times == most_starts) last = given_up(*answer);
  return answer;
}

// What came in the same breath as the reply.
void Process::State::rest(const Asked& asked, Waiting& w) {
  std::string_view line;
  while (child->pending()) {
    if (child->receive(line, w.deadline) != Child::Wait::ready) break;
    transcript.add("<-", line);
    if (!w.hear(parse_message(line), id))
      throw Malformed(fmt::format("a second reply to request {}", asked.id));
    if (w.over()) break;
  }
}

Answer Process::State::wait_for_reply(const Asked& asked) {
  Waiting w("compile", deadlines);
  try {
    while (true) {
      std::string_view line;
      const auto got = receive(line, w);
      if (got != Child::Wait::ready) return failure(got, w);
      transcript.add("<-", line);
      const json message = parse_message(line);
      if (w.hear(message, id)) {
        if (w.over()) return hang(w);
        continue;
      }
      Answer answer = parse_reply(message, asked, arena);
      rest(asked, w);
      last_phase = w.phase;
      if (const auto* late = std::get_if<Unsupported>(&answer); late && w.phase == "run")
        answer =
            Reneged{fmt::format("unsupported, said after the phase run: {}", late->reason), late->source};
      if (auto* crashed = std::get_if<Crashed>(&answer))
        crashed->phase = w.phase, crashed->last_words = child->last_words();
      if (auto* hung = std::get_if<Hung>(&answer))
        hung->phase = w.phase, hung->seconds = w.seconds(), hung->last_words = child->last_words();
      return answer;
    }
  } catch (const Malformed& e) {
    return off_page(fmt::format("the reply: {}", e.what()), w.phase);
  }
}

// Operands are lent: whoever writes into them would be judged by other data than the reference has.
std::optional<Answer> Process::State::spoiled(std::span<const Tensor> operands, const Layout& layout) {
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (const auto at = arena.differs(layout.offsets[i], operands[i].bytes))
      return off_page(
          fmt::format("the reply: the program wrote into operand {}, first at byte {} of {}; operands "
                      "are not the program's, which owns the arena from {} on",
                      i, *at, operands[i].bytes.size(), layout.free),
          last_phase);
  return std::nullopt;
}

Process::Process(Command command, Deadlines deadlines, Waits waits, Greeted greeted)
    : state_(std::make_unique<State>()) {
  state_->command = std::move(command);
  state_->deadlines = deadlines;
  state_->waits = std::move(waits);
  state_->greeted = std::move(greeted);
}

Process::~Process() { stop(); }

void Process::stop() {
  if (!state_->child) return;
  state_->child->close_requests();
  state_->child->end(interrupted() ? std::chrono::milliseconds{0} : to_end);
  state_->child.reset();
}

const Hello* Process::hello() const { return state_->hello ? &*state_->hello : nullptr; }
const Command& Process::command() const { return state_->command; }

std::optional<Answer> Process::refuses(const Case& c) {
  State& s = *state_;
  // What is outside what it said before needs no new start.
  if (s.hello)
    if (auto unsupported = outside(s.hello->capabilities, c)) return *unsupported;
  if (auto failed = s.start_for(c.mesh)) return failed;
  if (auto unsupported = outside(s.hello->capabilities, c)) return *unsupported;
  if (auto unsupported = more_than_it_has(*s.hello, c)) return *unsupported;
  return std::nullopt;
}

Answer Process::State::ask(const std::string& request, const Asked& asked, const Waiting& w) {
  transcript.add("->", request);
  if (const auto sent = child->send(request, w.deadline); sent != Child::Wait::ready) return failure(sent, w);
  return wait_for_reply(asked);
}

Answer Process::run(const Case& c, std::span<const Tensor> operands) {
  if (auto refusal = refuses(c)) return *refusal;
  State& s = *state_;
  ++s.id;
  s.kept.reset();
  Layout layout = layout_of(c, operands);
  s.arena.reach(layout.arena);
  layout.arena = s.arena.size();
  for (std::size_t i = 0; i < operands.size(); ++i) s.arena.write(layout.offsets[i], operands[i].bytes);
  s.arena.poison(layout.free, layout.due);
  s.child->forget_words();

  const Waiting w("compile", s.deadlines);
  const std::string request = run_request({s.id, w.left(), s.deadlines.run}, c, operands, layout);
  Answer answer = s.ask(request, {c, s.id, layout.free, s.hello->capabilities}, w);
  if (std::holds_alternative<Outcome>(answer))
    if (auto off = s.spoiled(operands, layout)) return *off;
  return answer;
}

Answer Process::run_in_place(const Case& c) {
  if (auto refusal = refuses(c)) return *refusal;
  State& s = *state_;
  ++s.id;
  s.kept.reset();
  Layout layout = layout_in_place(c);
  s.arena.reach(layout.arena);
  layout.arena = s.arena.size();
  s.arena.poison(layout.free, layout.due);
  s.child->forget_words();
  const Waiting w("compile", s.deadlines);
  const std::string request = run_in_place_request({s.id, w.left(), s.deadlines.run}, c, layout);
  Answer answer = s.ask(request, {c, s.id, layout.free, s.hello->capabilities, true}, w);
  if (const auto* outcome = std::get_if<Outcome>(&answer)) s.kept = c, s.kept_blocks = outcome->blocks.size();
  return answer;
}

// A reply of this type, of which `take` takes in what it says: nothing where it came.
std::optional<Answer> Process::State::wait_for(const std::string& type, const Asked& asked,
                                               const std::function<void(const json&)>& take) {
  Waiting w("run", deadlines);
  try {
    while (true) {
      std::string_view line;
      if (const auto got = receive(line, w); got != Child::Wait::ready) return failure(got, w);
      transcript.add("<-", line);
      const json message = parse_message(line);
      if (w.hear(message, id)) continue;
      if (text(field(message, "type"), "type") != type || integer(field(message, "id"), "id") != id)
        return parse_reply(message, asked, arena);
      take(message);
      return std::nullopt;
    }
  } catch (const Malformed& e) {
    return off_page(fmt::format("the reply: {}", e.what()), w.phase);
  }
}

TimedAnswer Process::bench(const Case& c, const TimingAsked& wanted, std::span<const Tensor> operands) {
  if (auto refusal = refuses(c)) return {*refusal, {}};
  State& s = *state_;
  if (!s.hello->times) return {Unsupported{"it times nothing", "hello"}, {}};
  ++s.id;
  s.kept.reset();
  const auto& [timing, seconds] = wanted;
  Given given{operands, layout_of_bench(c, timing, operands)};
  s.arena.reach(given.layout.arena);
  given.layout.arena = s.arena.size();
  for (std::size_t i = 0; i < operands.size(); ++i)
    s.arena.write(given.layout.offsets[i], operands[i].bytes);
  s.arena.poison(given.layout.free, given.layout.due);
  s.child->forget_words();
  const Deadlines before = std::exchange(s.deadlines, {s.deadlines.start, s.deadlines.compile, seconds});
  const Waiting w("compile", s.deadlines);
  TimedAnswer said;
  const Asked asked{c,    s.id,  given.layout.free, s.hello->capabilities,
                    true, timing.iterations, &said.clocks};
  said.answer = s.ask(bench_request({s.id, w.left(), seconds}, c, timing, given), asked, w);
  s.deadlines = before;
  if (const auto* outcome = std::get_if<Outcome>(&said.answer))
    s.kept = c, s.kept_blocks = outcome->blocks.size();
  return said;
}

std::variant<std::vector<Proven>, Answer> Process::check(std::uint64_t seed, Which which) {
  State& s = *state_;
  assert(s.kept && s.child);
  ++s.id;
  Layout layout = layout_in_place(*s.kept);
  layout.arena = s.arena.size();
  s.arena.poison(layout.free, layout.due);
  const Waiting w("run", s.deadlines);
  const std::string request = check_request({s.id, w.left()}, layout, seed, which == Which::first);
  s.transcript.add("->", request);
  if (const auto sent = s.child->send(request, w.deadline); sent != Child::Wait::ready)
    return s.failure(sent, w);
  const Asked asked{*s.kept, s.id, 0, s.hello->capabilities, true};
  if (auto failed = s.wait_for("checked", asked, [](const json&) {})) return *failed;
  std::vector<ProofRow> rows(s.kept_blocks);
  s.arena.read(layout.free, std::as_writable_bytes(std::span(rows)));
  std::vector<Proven> all;
  for (const ProofRow& r : rows) all.push_back(proven(r));
  return all;
}

std::variant<std::vector<Clocked>, Answer> Process::limit(const std::string& what, std::int64_t bytes,
                                                          std::int64_t iterations) {
  State& s = *state_;
  assert(s.kept && s.child);
  ++s.id;
  Layout layout = layout_of_bench(*s.kept, {.iterations = iterations}, {});
  s.arena.reach(layout.arena);
  layout.arena = s.arena.size();
  s.arena.poison(layout.free, layout.due);
  const Waiting w("run", s.deadlines);
  const std::string request = limit_request({s.id, w.left()}, layout, {what, bytes, iterations});
  s.transcript.add("->", request);
  if (const auto sent = s.child->send(request, w.deadline); sent != Child::Wait::ready)
    return s.failure(sent, w);
  const Asked asked{*s.kept, s.id, layout.free, s.hello->capabilities, true, iterations};
  std::variant<std::vector<Clocked>, Answer> said;
  if (auto failed = s.wait_for("timed", asked, [&](const json& message) {
        said = parse_clocks(field(message, "clock"), asked, s.arena);
      }))
    return *failed;
  return said;
}

Answer Process::fetch(Which which) {
  State& s = *state_;
  assert(s.kept && s.child);
  ++s.id;
  Layout layout = layout_of(*s.kept, {});
  s.arena.reach(layout.arena);
  layout.arena = s.arena.size();
  s.arena.poison(layout.free, layout.due);
  const Waiting w("run", s.deadlines);
  const Case c = *s.kept;
  return s.ask(fetch_request({s.id, w.left()}, layout, which == Which::first),
               {c, s.id, layout.free, s.hello->capabilities}, w);
}

void Process::read(const Block& block, std::span<std::byte> into) const {
  state_->arena.read(block.offset, into.first(block.bytes));
}

std::vector<std::byte> Process::read(const Block& block) const {
  std::vector<std::byte> bytes(block.bytes);
  if (!bytes.empty()) read(block, bytes);
  return bytes;
}

}  // namespace plumb

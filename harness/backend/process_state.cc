#include "harness/backend/process_state.h"

#include <fmt/format.h>

#include <filesystem>

#include "adapters/protocol/fields.h"
#include "adapters/protocol/json.h"
#include "harness/backend/astray.h"
#include "harness/backend/interrupt.h"
#include "reference/words/text.h"

namespace plumb {

using nlohmann::json;

namespace {

constexpr int most_starts = 3;  // in a row without a hello: it will not start
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

// Ranks have ends of their own: where it is their launcher that ended, this is said.
std::string with_subject(const Command& command, const std::string& end) {
  const std::string program = std::filesystem::path(command.argv[0]).filename();
  if (program != "plumb-launch") return end;
  return fmt::format("{} {}{}", program, end.starts_with("killed") ? "was " : "", end);
}

}  // namespace

void ProcessState::start() {
  json options = json::object();
  for (const auto& [key, value] : command.options) options[key] = value;
  child.emplace(Launch{command.argv,
                       {{"PLUMB_OPTIONS", dump(options)}},
                       std::chrono::milliseconds(static_cast<std::int64_t>(command.grace * 1000))});
}

Child::Wait ProcessState::receive(std::string_view& line, Waiting& w) {
  while (true) {
    const auto said =
        w.since + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(w.word));
    const Child::Wait got = child->receive(line, waits ? std::min(w.deadline, said) : w.deadline);
    if (got != Child::Wait::late || w.over()) return got;
    waits(w.phase, w.seconds(), w.most());
    w.word *= 2;
  }
}

// How it ended, and its last words.
Answer ProcessState::died(const Waiting& w) {
  std::string end = child->end(to_end);
  if (end == "killed") end = "closed its channel";
  const bool by_choice = end == "closed its channel" || end == "exited with code 0";
  if (const std::string what = by_choice ? astray(*child, false) : ""; !what.empty())
    return off_page(reply_to(w) + what, w.phase);
  if (end == "exited with code 0" && w.phase == "start")
    end += " before its hello; requests come on the descriptor PLUMB_REQUESTS, standard input is empty";
  Crashed crashed{with_subject(command, end), w.phase, child->last_words()};
  child.reset();
  return crashed;
}

// It speaks another language, and is ended.
Answer ProcessState::off_page(std::string what, const std::string& phase) {
  child->end(std::chrono::milliseconds{0});
  constexpr std::size_t longest = 1000;
  OffPage off{utf8(what.substr(0, longest)), phase, child->last_words()};
  child.reset();
  return off;
}

Answer ProcessState::hang(const Waiting& w) {
  if (const std::string what = astray(*child, true); !what.empty())
    return off_page(reply_to(w) + what, w.phase);
  Hung hung{w.phase, w.seconds(), "", child->processes()};
  child->end(std::chrono::milliseconds{0});
  hung.last_words = child->last_words();
  child.reset();
  return hung;
}

Answer ProcessState::failure(Child::Wait how, const Waiting& w) {
  if (how == Child::Wait::late) return hang(w);
  if (how == Child::Wait::too_long) return off_page("the reply is longer than 256 MiB", w.phase);
  return died(w);
}

// A program that says that it hangs, and maybe not in what its processes wait.
void ProcessState::see(Hung& hung, const Waiting& w) const {
  hung.phase = w.phase, hung.seconds = w.seconds();
  if (hung.processes.empty()) hung.processes = child->processes();
}

// As the program says of those that it started; it is ended, and they with it.
Answer ProcessState::failed_start(Answer answer, const Waiting& w) {
  if (auto* hung = std::get_if<Hung>(&answer)) see(*hung, w);
  child->close_requests();
  child->end(to_end);
  const std::string last_words = child->last_words();
  if (auto* hung = std::get_if<Hung>(&answer)) hung->last_words = last_words;
  if (auto* crashed = std::get_if<Crashed>(&answer))
    crashed->phase = w.phase, crashed->last_words = last_words;
  child.reset();
  return answer;
}

std::optional<Answer> ProcessState::say_hello(const Mesh& mesh) {
  Waiting w("start", deadlines);
  const std::string request = hello_request({arena.path(), w.left()}, mesh);
  if (auto failure = send(request, w)) return failure;
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

std::optional<Answer> ProcessState::start_for(const Mesh& mesh) {
  const std::int64_t n = devices(mesh);
  if (child && hello->capabilities.mesh_fixed && n != first_devices) part();
  if (child) {
    failed.erase(n);
    return std::nullopt;
  }
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
  if (crash && crash->what.ends_with(cannot_use_options) && !hello)
    throw BadInput(fmt::format("{}: {}", command.name,
                               crash->last_words.empty()
                                   ? "it exited with code 2, before hello and without a word"
                                   : crash->last_words));
  if (++times == most_starts) last = given_up(*answer);
  return answer;
}

// What it says until it has ended, though nothing was asked; "" where that is nothing.
std::string ProcessState::last_said(Clock::time_point until) {
  Waiting none("run", deadlines);
  try {
    std::string_view line;
    Child::Wait got = child->receive(line, until);
    for (; got == Child::Wait::ready; got = child->receive(line, until)) {
      transcript.add("<-", line);
      if (!none.hear(parse_message(line), id))
        return fmt::format("a second reply to request {}: {}", id, beginning(line));
    }
    if (got == Child::Wait::too_long) return "a line longer than 256 MiB";
  } catch (const Malformed& e) {
    return e.what();
  } catch (const Interrupted&) {
    return "";
  }
  const std::string_view rest = child->unfinished();
  return rest.empty() ? "" : "what has no newline at its end: " + beginning(rest);
}

// Its requests end.
void ProcessState::part() {
  child->close_requests();
  const auto until = Clock::now() + (interrupted() ? std::chrono::milliseconds{0} : to_part);
  std::string what = last_said(until);
  const Clock::duration left = until - Clock::now(),
                        most = what.empty() ? left : std::min<Clock::duration>(left, to_end);
  const std::string end =
      child->end(std::chrono::ceil<std::chrono::milliseconds>(std::max(Clock::duration::zero(), most)));
  if (what.empty() && end == "killed")
    what = fmt::format("it had not ended {} seconds later, and was killed",
                       std::chrono::duration<double>(to_part).count());
  if (what.empty() && end != "exited with code 0") what = with_subject(command, end);
  child.reset();
  if (parted && !what.empty() && !interrupted()) parted(what);
}

// What came in the same breath as the reply.
void ProcessState::rest(const Asked& asked, Waiting& w) {
  std::string_view line;
  while (child->pending()) {
    if (child->receive(line, w.deadline) != Child::Wait::ready) break;
    transcript.add("<-", line);
    if (!w.hear(parse_message(line), id))
      throw Malformed(fmt::format("a second reply to request {}", asked.id));
    if (w.over()) break;
  }
}

// As the program says of those that it started, who printed their last words here.
Answer ProcessState::with_words(Answer answer, const Waiting& w) {
  if (auto* crashed = std::get_if<Crashed>(&answer))
    crashed->phase = w.phase, crashed->last_words = child->last_words();
  if (auto* hung = std::get_if<Hung>(&answer)) see(*hung, w), hung->last_words = child->last_words();
  return answer;
}

Answer ProcessState::wait_for_reply(const Asked& asked) {
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
      return with_words(std::move(answer), w);
    }
  } catch (const Malformed& e) {
    return off_page(fmt::format("the reply: {}", e.what()), w.phase);
  }
}

// Operands are lent: whoever writes into them would be judged by other data than the reference has.
std::optional<Answer> ProcessState::spoiled(std::span<const Tensor> operands, const Layout& layout) {
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (const auto at = arena.differs(layout.offsets[i], operands[i].bytes))
      return off_page(
          fmt::format("the reply: the program wrote into operand {}, first at byte {} of {}; operands "
                      "are not the program's, which owns the arena from {} on",
                      i, *at, operands[i].bytes.size(), layout.free),
          last_phase);
  return std::nullopt;
}

// The arena of a new request: the operands, and poison where a reply is due.
void ProcessState::lay_out(Layout& layout, std::span<const Tensor> operands) {
  arena.reach(layout.arena);
  layout.arena = arena.size();
  for (std::size_t i = 0; i < operands.size(); ++i) arena.write(layout.offsets[i], operands[i].bytes);
  arena.poison(layout.free, layout.due);
}

// Nothing where it was sent.
std::optional<Answer> ProcessState::send(const std::string& request, const Waiting& w) {
  transcript.add("->", request);
  if (const auto sent = child->send(request, w.deadline); sent != Child::Wait::ready) return failure(sent, w);
  return std::nullopt;
}

Answer ProcessState::ask(const std::string& request, const Asked& asked, const Waiting& w) {
  if (auto failure = send(request, w)) return *failure;
  return wait_for_reply(asked);
}

// A reply of this type, of which `take` takes in what it says: nothing where it came.
std::optional<Answer> ProcessState::wait_for(const std::string& type, const Asked& asked,
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
        return with_words(parse_reply(message, asked, arena), w);
      take(message);
      return std::nullopt;
    }
  } catch (const Malformed& e) {
    return off_page(fmt::format("the reply: {}", e.what()), w.phase);
  }
}

}  // namespace plumb

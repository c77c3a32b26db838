#include "harness/run/attempt.h"

#include <map>

#include "harness/backend/lookup.h"
#include "harness/judge/blocks.h"
#include "harness/judge/claimed.h"
#include "harness/record/environment.h"
#include "harness/run/ask.h"
#include "harness/run/engine.h"
#include "reference/words/text.h"

namespace plumb {

struct Subject::State {
  Settings settings;
  std::string backend;
  Process process;
  std::string files;                                     // files_hash()
  std::string line{};                                    // of the case that is asked
  std::map<DType, std::optional<std::string>> doubts{};  // of its engine

  State(Command command, const Settings& all)
      : settings(all),
        backend(command.name),
        process(command, all.deadlines, waits(), all.greeted),
        files(files_hash(command)) {
    if (settings.parted)
      process.tell_end([this](const std::string& what) { settings.parted(backend, what); });
  }
  State(const State&) = delete;

  Waits waits() {
    if (!settings.waits) return {};
    return [this](const std::string& phase, double seconds, double most) {
      settings.waits({line, backend, phase, seconds, most});
    };
  }
};

namespace {

void say_versions(Record& record, const Hello& hello) {
  for (const auto& [what, version] : hello.versions) record.versions[what] = version;
  record.program = hello.name;
  if (!hello.device_kind.empty()) record.versions["devices"] = hello.device_kind;
}

// The whole result as the last block that holds an element has it.
void show_result(const Attempt& made, const Settings& settings) {
  const auto* outcome = std::get_if<Outcome>(&made.answer);
  if (!settings.results || !outcome || !made.proofs.empty() || results(made.c).size() != 1) return;
  const Case c = as_claimed(made.c, *outcome);
  Tensor whole = zeros(result(c).dtype, shape(result(c)));
  for (const Block& block : outcome->blocks) {
    const Held one = held(c, block, made.read);
    if (elements(one.slice()) * format(whole.dtype).bytes == std::ssize(one.bytes))
      paste(whole.shape, one.slice(), one.bytes.data(), whole.bytes.data(), format(whole.dtype).bytes);
  }
  settings.results(made.c, whole);
}

}  // namespace

Subject::Subject(const std::string& backend, const Settings& settings) {
  Command command = find_backend(backend);
  name = command.name, asked = command.asked;
  state = std::make_unique<State>(std::move(command), settings);
  if (settings.most_bytes == 0) state->settings.most_bytes = machine().memory_bytes;
}
Subject::~Subject() = default;
Subject::Subject(Subject&&) noexcept = default;

Answered answered(const Case& c, Subject& subject, const Limits& limits) {
  Subject::State& state = *subject.state;
  const Settings& settings = state.settings;
  state.line = print(c);
  const bool wanted = settings.in_place && limits.reruns == 0 && !is_resolve(c) && in_place(c, state.process);
  refuse_what_does_not_fit(c, room_of(settings), {limits.reruns, wanted});
  state.process.allow(deadlines_for(c, settings));
  Answered all{ask(c, state.process, {limits.reruns, wanted, fits(c, room_of(settings))}), {}, limits, {}};
  show_result(all.made.first, settings);
  all.declared = declared(state.process);
  say_who(all.who, subject);
  all.apart = limits.reruns == 0 && !probed_dtype(c) && keep_small(all.made.first);
  return all;
}

Record judged_apart(const Answered& all) {
  Record record = examine(all.made, all.declared, all.limits);
  record.backend = all.who.backend, record.program = all.who.program;
  record.versions.update(all.who.versions);
  return record;
}

Record judged_whole(const Case& c, const Answered& all, Subject& subject) {
  Record record = judged_apart(all);
  doubt_engine(record, c, subject);
  return record;
}

void doubt_engine(Record& record, const Case& c, Subject& subject) {
  Subject::State& state = *subject.state;
  const Engine said = declared(state.process).engine;
  const auto dtype = probed_dtype(c);
  if (record.verdict.rounded == 0 || !dtype) return;
  auto at = state.doubts.find(*dtype);
  if (at == state.doubts.end())
    at = state.doubts.emplace(*dtype, doubt_of_engine(state.process, *dtype, said)).first;
  if (!at->second) return;
  record.verdict.facts.push_back(fact(Status::mistrusted, *at->second));
  decide(record.verdict);
}

Record attempt(const Case& c, Subject& subject, const Limits& limits) {
  return judged_whole(c, answered(c, subject, limits), subject);
}

Room room_of(const Settings& settings) { return {settings.most_bytes, settings.cores}; }

Deadlines deadlines_for(const Case& c, const Settings& settings) {
  const double more = settings.cores > 0 ? seconds_of_work(c, settings.cores) : 0;
  return {settings.deadlines.start, settings.deadlines.compile + more, settings.deadlines.run + more};
}

Process& process_of(Subject& subject) { return subject.state->process; }

Process& process_for(const Case& c, Subject& subject) {
  subject.state->line = print(c);
  return subject.state->process;
}

const Settings& settings_of(const Subject& subject) { return subject.state->settings; }

void say_who(Record& record, Subject& subject) {
  record.backend = subject.name;
  if (!subject.state->files.empty()) record.versions["files"] = subject.state->files;
  if (const Hello* hello = subject.state->process.hello()) say_versions(record, *hello);
}

}  // namespace plumb

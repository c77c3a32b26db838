#include "harness/run/soak.h"

#include <fmt/format.h>

#include <chrono>

#include "harness/run/ask.h"
#include "harness/run/pace.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

constexpr Timing alone{.warmups = 0, .iterations = 1};

Corruption corruption(Record record, std::int64_t rank, std::string when) {
  record.notes.push_back(when + " of plumb bench --soak");
  return {std::move(when), rank, std::move(record)};
}

std::int64_t rank_of(const Record& record, std::size_t ranks, std::int64_t devices) {
  for (const Fact& fact : record.verdict.facts)
    if (fact.place && static_cast<std::int64_t>(ranks) == devices) return fact.place->device;
  return -1;
}

}  // namespace

std::optional<Corruption> soak(const Case& c, Subject& subject, double seconds, Soaked& so_far) {
  using Now = std::chrono::steady_clock;
  Process& process = process_for(c, subject);
  const bool proved = in_place(c, process);
  const auto end = Now::now() + std::chrono::duration<double>(seconds);  // its start is no part of the soak
  refuse_what_does_not_fit(c, room_of(settings_of(subject)), {0, proved});
  const double deadline = deadlines_for(c, settings_of(subject)).run;
  const std::int64_t before = so_far.iterations;
  std::size_t ranks = 0;
  while (Now::now() < end && std::ssize(so_far.samples.nanoseconds) < most_samples) {
    const TimedAttempts made = ask_timed(c, process, {alone, deadline}, proved);
    Record record = examine({made.last, {}, {}}, declared(process), {});
    if (record.verdict.status == Status::pass) {
      ++so_far.iterations;
      so_far.seen();
      take_in(so_far.samples, samples(made.clocks, 1)), ranks = made.clocks.size();
      continue;
    }
    say_who(record, subject);
    const std::int64_t rank = rank_of(record, made.clocks.size(), devices(c.mesh));
    return corruption(std::move(record), rank, fmt::format("iteration {}", so_far.iterations + 1));
  }
  if (so_far.iterations == before) return std::nullopt;
  auto other = no_pass_on_other_data(c, subject);
  if (!other) return std::nullopt;
  so_far.samples = {};
  const std::int64_t rank = rank_of(*other, ranks, devices(c.mesh));
  return corruption(std::move(*other), rank, fmt::format("after iteration {}", so_far.iterations));
}

Record take_record(const Case& c, Subject& subject, Soaked& so_far, std::int64_t number) {
  Record record;
  record.line = print(c);
  record.verdict.status = Status::pass;
  record.notes.push_back(fmt::format("{} iterations proved so far by plumb bench --soak", so_far.iterations));
  say_who(record, subject);
  record.bench = Repetition{number, number, alone, "soak", std::exchange(so_far.samples, {})};
  return record;
}

}  // namespace plumb

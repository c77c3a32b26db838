// What a process is between two requests. For process.cc, which asks, and for the test of its end.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "harness/backend/arena_file.h"
#include "harness/backend/child.h"
#include "harness/backend/program.h"
#include "harness/backend/reply.h"
#include "harness/backend/request.h"
#include "harness/backend/transcript.h"
#include "harness/backend/waiting.h"

namespace plumb {

constexpr std::chrono::milliseconds to_end{1000};  // once its replies have ended

struct ProcessState {
  Command command;
  Deadlines deadlines;
  Waits waits;
  Greeted greeted;
  Parted parted;
  ArenaFile arena;
  Transcript transcript;
  std::optional<Child> child;
  std::optional<Hello> hello;
  std::int64_t first_devices = 0;  // of the mesh the child was started with
  std::int64_t id = 0;
  std::string last_phase;    // of the last reply
  std::optional<Case> kept;  // whose results lie with the program
  std::size_t kept_blocks = 0;
  Rates kept_rates;  // of its ranks' clocks
  std::map<std::int64_t, std::pair<int, Answer>> failed;  // starts in a row, by number of devices
  std::optional<std::pair<Case, Answer>> refusal;         // why it does not take a case, not said yet

  // Once its requests have ended. Frameworks take seconds where much else runs.
  std::chrono::milliseconds to_part{30'000};

  void start();
  Child::Wait receive(std::string_view& line, Waiting&);
  Answer died(const Waiting&);
  Answer off_page(std::string what, const std::string& phase);
  Answer hang(const Waiting&);
  Answer failure(Child::Wait, const Waiting&);
  std::optional<Answer> spoiled(std::span<const Tensor> operands, const Layout&);
  void see(Hung&, const Waiting&) const;
  Answer failed_start(Answer, const Waiting&);
  std::optional<Answer> say_hello(const Mesh&);
  std::optional<Answer> start_for(const Mesh&);
  std::string last_said(Clock::time_point until);
  void part();
  Answer with_words(Answer, const Waiting&);
  Answer wait_for_reply(const Asked&);
  void lay_out(Layout&, std::span<const Tensor> operands);
  std::optional<Answer> send(const std::string& request, const Waiting&);
  Answer ask(const std::string& request, const Asked&, const Waiting&);
  std::optional<Answer> wait_for(const std::string& type, const Asked&,
                                 const std::function<void(const nlohmann::json&)>& take);
  void rest(const Asked&, Waiting&);
};

}  // namespace plumb

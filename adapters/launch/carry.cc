#include "adapters/launch/carry.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <utility>

#include "adapters/launch/command.h"
#include "adapters/launch/lost.h"
#include "adapters/protocol/fields.h"
#include "adapters/protocol/json.h"
#include "adapters/protocol/message.h"
#include "adapters/protocol/skim.h"

namespace plumb::launch {

using nlohmann::json;

namespace {

Failure failure(const char* type, const std::string& message) {
  return {
      {{"type", type}, {"message", message}}
  };
}

// What more there is to say of an end before all ranks had joined. Throws std::invalid_argument where they
// cannot use their options.
std::string too_early(const Relay& relay, const std::string& end) {
  if (!relay.hub.lost.empty()) return "";
  if (std::ranges::all_of(relay.hub.seats, [](const Seat& s) { return s.where.joined; }))
    return end.ends_with("exited with code 0") && !relay.hub.told
               ? ", and its ranks are still there: whoever starts them stays until they end"
               : "";
  if (!relay.greeted && end.ends_with("exited with code 2"))
    throw std::invalid_argument(fmt::format("plumb-launch: {}: it cannot use what it was given", end));
  return end.ends_with("exited with code 0") ? ", and not all have joined: a rank joins by plumb_ranks.h"
                                             : "";
}

// Ranks die with whoever started them all: they are not named for it.
bool starter_was_killed(const Relay& relay, const std::string& end) {
  const auto is_rank = [&](const Seat& s) { return !s.elsewhere && s.where.pid == relay.job.pids[0]; };
  return !relay.job.command.empty() && end.find(" was killed by signal ") != end.npos &&
         std::ranges::none_of(relay.hub.seats, is_rank);
}

// Of ranks that are started one by one: who was started may be the rank, or stand for it (ssh).
std::string one_died(const Relay& relay, std::int64_t rank, const std::string& end) {
  const Seat& seat = relay.hub.seats[rank];
  const std::string how = end.substr(fmt::format("rank {} ", rank).size());
  if (!seat.elsewhere && seat.where.pid == relay.job.pids[rank]) return who_died(relay.hub, how);
  return fmt::format("{}; its {} {}", who_died(relay.hub), first_program(relay.asked), how);
}

// Of ranks that are started one by one: the first that has ended and not joined, for which others that have
// joined may have ended. "rank 2 exited with code 3; "
std::string unborn(const Relay& relay) {
  for (std::size_t r = 0; r < relay.hub.seats.size(); ++r)
    if (!relay.hub.seats[r].where.joined)
      if (const std::string end = ended(relay.job, static_cast<std::int64_t>(r)); !end.empty())
        return end + "; ";
  return "";
}

// Whether a rank that gives up says itself of whom it hangs: those of our library say where they are.
bool says_of_whom(const Seat& seat) {
  return gave_up(seat) && !seat.reply->contains("at") && !text_or(*seat.reply, "message").empty();
}

}  // namespace

void look_after(Relay& relay) {
  if (told_to_end) throw Ended{};
  Hub& hub = relay.hub;
  if (!hub.complaint.empty()) throw failure("crashed", hub.complaint);
  std::string end;
  if (a_child_ended) a_child_ended = 0, end = ended(relay.job);
  if (hub.lost.empty() && end.empty()) return;
  // A process and its connection end one after the other; of several ranks mpiexec ends last, or where one
  // calls MPI_Abort under MPICH first.
  const auto seen = Clock::now();
  const auto first = [&] { return hub.lost.empty() ? std::optional<std::int64_t>() : hub.lost[0]; };
  const auto give_up = [&] { return seen + std::chrono::seconds(first() ? 3 : 1); };
  if (first()) end = ended(relay.job, first());
  const auto others_stay = [&] {
    return !relay.job.command.empty() &&
           std::ranges::any_of(hub.seats, [](const Seat& s) { return s.where.joined && !s.gone; });
  };
  for (; (!first() || end.empty() || others_stay()) && Clock::now() < give_up();
       end = ended(relay.job, first()))
    step(hub, std::min(give_up(), Clock::now() + std::chrono::milliseconds(10)));
  // Whoever has joined has, however late this comes to look: a step lets one in.
  for (std::size_t i = 0; some_have_not_joined(hub) && i <= 2 * hub.seats.size(); ++i)
    step(hub, Clock::now());
  end = ended(relay.job, first());
  if (first() && relay.job.command.empty() && !end.empty())
    throw failure("crashed", unborn(relay) + one_died(relay, *first(), end));
  const std::string died = starter_was_killed(relay, end) ? ""
                           : relay.job.command.empty()    ? who_died(hub)
                                                          : who_ended(hub);
  const bool told = hub.told && (died.empty() || hub.lost.empty());
  const std::string what = died + (died.empty() || end.empty() ? "" : "; ") + end +
                           (told ? ", after its ranks were told to end" : "") + too_early(relay, end);
  throw failure("crashed", what);
}

void hangs(Relay& relay) {
  ask_where(relay.hub);
  std::vector<Whereabouts> all;
  for (const Seat& seat : relay.hub.seats) all.push_back(gave_up(seat) ? gave_up_at(seat) : seat.where);
  const Hang hang = hang_of(all);
  Failure hung{
      {{"type", "hung"}, {"message", hang.message}, {"ranks", hang.ranks}}
  };
  if (const auto it = std::ranges::find_if(relay.hub.seats, says_of_whom); it != relay.hub.seats.end()) {
    hung.reply["message"] = text_or(*it->reply, "message");
    hung.reply["ranks"] = it->reply->value("ranks", json::array());
  }
  // An only one may be the first of several that do not join: the harness shows whoever was started.
  if (all.size() > 1) hung.reply["processes"] = hang.processes;
  throw hung;
}

namespace {

template <class Done>
void wait_until(Relay& relay, void (*listen)(Hub&, Clock::time_point), Done&& done) {
  while (!done()) {
    const std::chrono::milliseconds moment{relay.ready ? 100 : 20};
    listen(relay.hub, std::min(relay.deadline, Clock::now() + moment));
    see_new_segments(relay);
    if (done()) return;
    say_unsaid(relay), look_after(relay);
    if (Clock::now() >= relay.deadline) hangs(relay);
  }
}

// What a rank says that failed: of which type, and why.
bool is_failure(const std::string& type) {
  return type == "unsupported" || type == "reneged" || type == "crashed" || type == "hung";
}

// A rank that is not the first is done with this request, and with no other, or says what failed.
void check_reply(const Seat& seat, std::size_t rank, std::int64_t id) {
  constexpr std::size_t most = 200;
  const std::string type = text_or(*seat.reply, "type");
  if (type != "done" && !is_failure(type))
    throw failure("crashed",
                  fmt::format("{} replied {}, and a rank after the first is done, or says what failed",
                              who(seat, rank), dump(json(seat.reply_text.substr(0, most)))));
  if (const std::int64_t said = integer_or(*seat.reply, "id", type == "done" ? -1 : id); said != id)
    throw failure("crashed",
                  fmt::format("{} replied to request {}, and {} was asked", who(seat, rank), said, id));
}

// What a rank says of its own failure.
Failure failure_of(const Seat& seat, std::size_t rank) {
  const std::string type = text_or(*seat.reply, "type");
  return failure(type == "crashed" ? "crashed" : "reneged",
                 fmt::format("{}: {}", who(seat, rank),
                             text_or(*seat.reply, "message", text_or(*seat.reply, "reason", type))));
}

bool gives_up_alone(const Seat& seat) {
  const std::string type = text_or(*seat.reply, "type");
  return type == "reneged" || type == "crashed";
}

// What a rank that is not the first says, where it is no echo of what the first says.
void compare(const Seat& first, const Seat& seat, std::size_t rank) {
  const std::string type = text_or(*seat.reply, "type"), of_first = text_or(*first.reply, "type");
  const std::string plans = text_or(*seat.reply, "says"), of_plans = text_or(*first.reply, "says");
  if (type != "done" && type != of_first) throw failure_of(seat, rank);
  if (!plans.empty() && plans != of_plans)
    throw failure("reneged", who(seat, rank) + " made another plan than rank 0");
}

// Sends a request of this number to all ranks; the reply of the first, once all have replied.
std::string ask(Relay& relay, const std::string& line, std::int64_t id) {
  Hub& hub = relay.hub;
  const Seat& first = hub.seats[0];
  std::vector<bool> seen(hub.seats.size()), agrees(hub.seats.size());
  ask_all(hub, line);
  wait_until(relay, await_replies, [&] {
    if (std::ranges::any_of(hub.seats, gave_up)) hangs(relay);
    bool all = first.reply != nullptr;
    // The others may wait for one that has given up, and the job is over.
    if (all && gives_up_alone(first)) {
      if (hub.seats.size() == 1) return true;
      throw failure_of(first, 0);
    }
    for (std::size_t r = 1; r < hub.seats.size(); ++r) {
      const Seat& seat = hub.seats[r];
      all &= seat.reply != nullptr;
      if (!seat.reply || agrees[r]) continue;
      if (!seen[r]) check_reply(seat, r, id);
      if (first.reply) compare(first, seat, r);
      if (!seen[r] && gives_up_alone(seat)) throw failure_of(seat, r);
      seen[r] = true, agrees[r] = first.reply != nullptr;
    }
    return all;
  });
  const std::string type = text_or(*first.reply, "type");
  relay.over = type == "hung" || type == "crashed" || type == "reneged";
  return hub.seats[0].reply_text;
}

// What the first rank says before its reply is passed on; when its run begins, its time does, and where it is
// alive, anew.
void pass_on(Relay& relay, const std::string& line) {
  relay.unsaid += line + "\n";
  const json message = parse_json(line);
  const bool runs = text_or(message, "phase") == "run" && relay.run_seconds > 0;
  if (runs) relay.seconds = relay.run_seconds, relay.extensions = 0;
  const bool anew = text_or(message, "type") == "alive" && relay.extensions++ < most_extensions;
  if (runs || anew) relay.deadline = before(relay.seconds);
}

void launch(Relay& relay) {
  relay.hub = open_hub(relay.asked.ranks, relay.asked.interface);
  relay.hub.forward = [&relay](const std::string& line) { pass_on(relay, line); };
  relay.running = true, relay.ready = false;
  relay.segments = {::time(nullptr)};
  Variables variables{
      {"PLUMB_LAUNCH", relay.hub.address},
      {"PLUMB_TOKEN",  relay.hub.token  }
  };
  if (relay.inherited.request) new (relay.inherited.request) OpenRequest;
  variables.insert(variables.end(), relay.inherited.variables.begin(), relay.inherited.variables.end());
  relay.job = start(relay.asked, variables, relay.hub.file);
  relay.segments.processes.insert(relay.job.pids.begin(), relay.job.pids.end());
  const char* folder = std::getenv("TMPDIR");
  if (folder && !one_by_one(relay.asked) && !by_open_mpi(relay.asked))
    name_segments(relay.segments, fmt::format("{}/plumb-shared-memory", folder));
  wait_until(relay, step, [&] {
    return std::ranges::all_of(relay.hub.seats, [](const Seat& s) { return s.where.joined; });
  });
  see_segments(relay);
}

}  // namespace

std::string answer(Relay& relay, const std::string& line) {
  const Skimmed request = skim(line);
  const bool hello = request.type == "hello";
  relay.deadline = before(request.seconds, std::exchange(relay.waits, {}).value_or(Clock::now()));
  relay.seconds = request.seconds, relay.run_seconds = request.run_seconds;
  relay.extensions = std::exchange(relay.held_up, 0);
  relay.over = false;
  try {
    if (hello) relay.hello = line, stop(relay, at_once);
    if (!relay.running) {
      launch(relay);
      const std::string said = ask(relay, relay.hello, 0);
      relay.greeted = relay.ready = true;
      see_segments(relay);
      if (hello) return said;
    }
    return ask(relay, line, request.id);
  } catch (Failure& f) {
    relay.over = true;
    if (!hello) f.reply["id"] = request.id;
    return dump(f.reply);
  }
}

}  // namespace plumb::launch

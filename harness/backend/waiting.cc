#include "harness/backend/waiting.h"

#include <fmt/format.h>

#include <algorithm>

#include "adapters/protocol/fields.h"
#include "adapters/protocol/json.h"
#include "adapters/protocol/message.h"

namespace plumb {

namespace {

double limit(const Deadlines& d, const std::string& phase) {
  return phase == "start" ? d.start : phase == "run" ? d.run : d.compile;
}

Clock::time_point after(double seconds) {
  constexpr double year = 365.0 * 86400;
  return Clock::now() +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(std::min(seconds, year)));
}

}  // namespace

Waiting::Waiting(std::string first, const Deadlines& all)
    : phase(std::move(first)), deadlines(all), since(Clock::now()), deadline(after(limit(all, phase))) {}

bool Waiting::hear(const nlohmann::json& message, std::int64_t id) {
  const std::string& type = text(field(message, "type"), "type");
  if (type != "alive" && type != "phase") return false;
  const bool current = integer(field(message, "id"), "id") == id;
  if (type == "alive") {
    if (current && extensions++ < most_extensions) deadline = after(limit(deadlines, phase));
    return true;
  }
  const std::string& next = text(field(message, "phase"), "phase");
  if (next != "run") throw Malformed(fmt::format("unknown phase \"{}\"", next));
  if (current && phase != next) {
    phase = next;
    since = Clock::now(), deadline = after(limit(deadlines, phase));
    extensions = 0, word = 5;
  }
  return true;
}

bool Waiting::over() const { return Clock::now() >= deadline; }

double Waiting::seconds() const { return std::chrono::duration<double>(Clock::now() - since).count(); }

double Waiting::most() const { return std::chrono::duration<double>(deadline - since).count(); }

double Waiting::left() const {
  return std::max(0.0, std::chrono::duration<double>(deadline - Clock::now()).count());
}

}  // namespace plumb

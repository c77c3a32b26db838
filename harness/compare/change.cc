#include "harness/compare/change.h"

#include <array>

namespace plumb {
namespace {

enum class Class : std::uint8_t { pass, doubt, silent, refusal, unsupported, waived };
constexpr int classes = 6;

std::optional<Class> class_of(Status status) {
  switch (status) {
    case Status::unrun:
      return std::nullopt;
    case Status::unsupported:
      return Class::unsupported;
    case Status::hung:
    case Status::crashed:
    case Status::malformed:
    case Status::reneged:
      return Class::refusal;
    case Status::misplaced:
    case Status::leaked:
    case Status::wrong:
    case Status::diverged:
    case Status::unstable:
      return Class::silent;
    case Status::mistrusted:
    case Status::wasteful:
      return Class::doubt;
    case Status::pass:
      return Class::pass;
    case Status::waived:
      return Class::waived;
  }
  return std::nullopt;
}

constexpr Change table[classes][classes] = {
  // clang-format off
    // pass            doubt               silent              refusal             unsupported     waived
    {Change::same,   Change::regression, Change::regression, Change::regression, Change::lost,   Change::waived},
    {Change::fixed,  Change::changed,    Change::worse,      Change::changed,    Change::hidden, Change::waived},
    {Change::fixed,  Change::changed,    Change::changed,    Change::changed,    Change::hidden, Change::waived},
    {Change::fixed,  Change::changed,    Change::worse,      Change::changed,    Change::hidden, Change::waived},
    {Change::gained, Change::exposed,    Change::exposed,    Change::exposed,    Change::same,   Change::waived},
    {Change::fixed,  Change::regression, Change::regression, Change::regression, Change::hidden, Change::same},
  // clang-format on
};

constexpr std::array<std::string_view, change_kinds> names = {
    "same",     "regression", "worse",      "coverage lost",   "hidden",
    "exposed",  "changed",    "fixed",      "coverage gained", "waived",
    "vanished", "new",        "more bytes", "fewer bytes",     "not compared"};

}  // namespace

Change change(Status from, Status to) {
  const auto was = class_of(from), is = class_of(to);
  if (!was || !is) return Change::uncompared;
  return from == to ? Change::same : table[static_cast<int>(*was)][static_cast<int>(*is)];
}

std::string_view name(Change change) { return names[static_cast<int>(change)]; }

std::optional<Change> change_named(std::string_view word) {
  for (int i = 0; i < change_kinds; ++i)
    if (names[i] == word) return static_cast<Change>(i);
  return std::nullopt;
}

std::vector<Change> all_changes() {
  std::vector<Change> all;
  for (int i = 0; i < change_kinds; ++i) all.push_back(static_cast<Change>(i));
  return all;
}

bool is_told(Change change) { return change != Change::same && change != Change::uncompared; }

}  // namespace plumb

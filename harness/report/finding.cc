#include "harness/report/finding.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <sstream>

#include "reference/words/text.h"

namespace plumb {
namespace {

constexpr std::string_view indent = "    ";

// No blank line, and none of a box, into which mpiexec puts what it says.
bool says_something(const std::string& line) {
  return std::ranges::any_of(line, [](unsigned char c) { return std::isalnum(c) || c >= 0x80; });
}

std::vector<std::string> lines_of(const std::string& words) {
  std::vector<std::string> lines;
  std::istringstream in(words.substr(0, words.find_last_not_of("\n ") + 1));
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  const auto first = std::ranges::find_if(lines, says_something);
  if (first != lines.end()) lines.erase(lines.begin(), first);
  return lines;
}

// Of what was said first, in one piece, and last no more than so many lines each.
std::string ends(const std::string& words, std::ptrdiff_t most) {
  std::vector<std::string> lines = lines_of(words);
  const auto piece = std::ranges::find_if_not(lines, says_something);
  const auto head = lines.begin() + std::min(most, piece - lines.begin());
  const auto tail = lines.end() - std::min(most, std::ssize(lines));
  if (head < tail) *head = "...", lines.erase(head + 1, tail);
  return fmt::format("{}", fmt::join(lines, "\n"));
}

// Of very many processes the first ones.
std::vector<std::string> first(std::vector<std::string> lines) {
  constexpr std::size_t most = 20;
  if (lines.size() <= most) return lines;
  const std::size_t left = lines.size() - most;
  lines.resize(most);
  lines.push_back(fmt::format("... and {} more", left));
  return lines;
}

std::string indented(const std::string& text) {
  std::string all(indent);
  for (char c : printable(text)) {
    all += c;
    if (c == '\n') all += indent;
  }
  return all + '\n';
}

// Of the reply, then of each kind of collective once: "all-reduce: moved as f32".
std::vector<std::string> all_notes(const Record& r) {
  std::vector<std::string> notes = r.notes;
  for (const Collective& one : r.trace)
    if (std::string note = one.kind + ": " + one.note;
        !one.note.empty() && std::ranges::count(notes, note) == 0)
      notes.push_back(std::move(note));
  return notes;
}

}  // namespace

std::string last_lines(const std::string& words) { return ends(words, 6); }

std::string said_last(const std::string& words) {
  const std::string last = last_lines(words);
  return last.empty() ? "" : indented("its last words:\n" + last);
}

std::string facts(const Verdict& verdict) {
  std::string text;
  for (const Fact& fact : verdict.facts) {
    const bool decided = &fact == &verdict.facts.front();
    text += decided ? "" : fmt::format("also {}: ", name(fact.status));
    if (fact.seed) text += fmt::format("run again on other data, seed={}: ", *fact.seed);
    text += fact.text + '\n';
    if (!fact.cause.empty()) text += fmt::format("explained by: {}\n", fact.cause);
    if (!fact.bound.empty()) text += fact.bound + (fact.bound.back() == '\n' ? "" : "\n");
  }
  return text;
}

std::string in_detail(const Record& r) {
  std::string text;
  if (std::string said = facts(r.verdict); !said.empty()) {
    said.pop_back();
    text += indented(said);
  }
  if (r.verdict.status == Status::wasteful)
    for (const std::string& note : all_notes(r)) text += indented("the backend says: " + note);
  text += said_last(r.last_words);
  if (!r.processes.empty())
    text += indented(fmt::format("its processes:\n{}", fmt::join(first(r.processes), "\n")));
  return text;
}

std::string describe(const Record& r, const std::string& again, Paint paint) {
  return fmt::format("{}  {}  {}\n{}{}again: {}\n", painted(paint, r.verdict.status, name(r.verdict.status)),
                     r.backend, bold(paint, r.line), in_detail(r), indent, again);
}

std::string shell_quoted(std::string_view text) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";
  if (!text.empty() && text.find_first_not_of(plain) == text.npos) return std::string(text);
  std::string quoted = "'";
  for (char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string repeat(const Record& r, const std::string& backend) {
  const Limits& limits = r.limits;
  const auto found = [&](Status status) {
    return std::ranges::count(r.verdict.facts, status, &Fact::status) > 0;
  };
  std::string flags;
  if (found(Status::wasteful) && limits.max_waste >= 0)
    flags += fmt::format("--max-waste {} ", limits.max_waste);
  if (found(Status::wasteful) && limits.max_collectives >= 0)
    flags += fmt::format("--max-collectives {} ", limits.max_collectives);
  const bool elsewhere =
      std::ranges::any_of(r.verdict.facts, [](const Fact& f) { return f.seed.has_value(); });
  if ((found(Status::unstable) || elsewhere) && limits.reruns > 0)
    flags += fmt::format("--reruns {} ", limits.reruns);
  if (found(Status::hung) && limits.timeout > 0) flags += fmt::format("--timeout {} ", limits.timeout);
  return fmt::format("plumb run --backend {} {}{}", shell_quoted(backend), flags, shell_quoted(r.line));
}

}  // namespace plumb

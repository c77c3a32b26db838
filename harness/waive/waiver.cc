#include "harness/waive/waiver.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>

#include "reference/words/text.h"

namespace plumb {
namespace {

std::string_view take_word(std::string_view line, std::size_t& at) {
  at = std::min(line.find_first_not_of(' ', at), line.size());
  const std::size_t begin = at;
  at = std::min(line.find(' ', at), line.size());
  return line.substr(begin, at - begin);
}

void expect(std::string_view line, std::size_t& at, std::string_view word) {
  const std::string_view have = take_word(line, at);
  if (have != word) throw bad_input(fmt::format("expected '{}'", word), line, at - have.size());
}

// All words before "until": a command has several.
std::string_view take_backend(std::string_view line, std::size_t colon, std::size_t& at) {
  const std::size_t begin = std::min(line.find_first_not_of(' ', at), line.size());
  const std::size_t end = line.find(" until ", begin);
  if (end >= colon) throw bad_input("expected a backend, and 'until' with a date", line, begin);
  at = end;
  return line.substr(begin, end - begin);
}

bool is_date(std::string_view text) {
  int year = 0;
  unsigned month = 0, day = 0;
  char rest = 0;
  if (text.size() != 10 ||
      std::sscanf(std::string(text).c_str(), "%4d-%2u-%2u%c", &year, &month, &day, &rest) != 3)
    return false;
  return std::chrono::year_month_day(std::chrono::year(year), std::chrono::month(month),
                                     std::chrono::day(day))
      .ok();
}

Waiver parse(std::string_view line) {
  Waiver w;
  std::size_t at = 0;
  const std::size_t colon = line.find(": ");
  if (colon == line.npos)
    throw bad_input("expected ': ' and the cases, by the words of --where", line, line.size());
  const std::string_view status = take_word(line.substr(0, colon), at);
  if (const auto named = status_named(status); named && finding(*named))
    w.status = *named;
  else
    throw bad_input("expected a finding, such as wrong", line, 0);
  expect(line, at, "on");
  w.backend = take_backend(line, colon, at);
  expect(line, at, "until");
  w.until = take_word(line, at);
  if (!is_date(w.until)) throw bad_input("expected a date, YYYY-MM-DD", line, at - w.until.size());
  expect(line, at, "for");
  w.issue = take_word(line.substr(0, colon), at);
  if (w.issue.empty()) throw bad_input("expected the upstream issue", line, at);
  if (at != colon) throw bad_input("expected ':'", line, at);
  w.where = parse_where(line, colon + 2);
  if (w.where.terms.empty())
    throw bad_input("expected the cases, by the words of --where", line, line.size());
  if (asks_status(w.where))
    throw bad_input("a waiver names its status first", line, line.find("status", colon));
  return w;
}

// A backend's name, release and options; a command is all name.
//   jax@0.9.1,style=explicit    {"jax", "0.9.1", "style=explicit"}
struct Parts {
  std::string_view name, release, options;
};
Parts parts_of(std::string_view backend) {
  if (backend.find_first_of(" /") != backend.npos) return {backend, {}, {}};
  const std::size_t comma = std::min(backend.find(','), backend.size());
  const std::string_view head = backend.substr(0, comma);
  const std::size_t at = std::min(head.find('@'), head.size());
  return {head.substr(0, at), head.substr(std::min(at + 1, head.size())),
          backend.substr(std::min(comma + 1, backend.size()))};
}

bool names(const Waiver& w, const Case& c, const std::string& backend) {
  const Parts waived = parts_of(w.backend), of = parts_of(backend);
  const bool same = of.name == waived.name && (waived.release.empty() || of.release == waived.release) &&
                    (waived.options.empty() || of.options == waived.options);
  return same && matches(w.where, c);
}

}  // namespace

std::vector<Waiver> read_waivers(std::istream& in, const std::string& name) {
  std::vector<Waiver> waivers;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (line.ends_with('\r')) line.pop_back();
    if (line.find_first_not_of(" \t") == line.npos || line[0] == '#') continue;
    const std::string origin = fmt::format("{}:{}", name, number);
    try {
      waivers.push_back(parse(line));
      waivers.back().row = line, waivers.back().origin = origin;
    } catch (const BadInput& error) {
      throw BadInput(fmt::format("{}: {}", origin, error.what()));
    }
  }
  return waivers;
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[16];
  return std::string(text, std::strftime(text, sizeof text, "%Y-%m-%d", &utc));
}

void waive(std::vector<Waiver>& waivers, const Case& c, Record& record, std::string_view day) {
  const Status status = record.verdict.status;
  if (status == Status::unrun || status == Status::unsupported) return;
  for (Waiver& w : waivers) {
    if (!names(w, c, record.backend)) continue;
    ++w.ran;
    if (status != w.status) continue;
    ++w.needed;
    if (record.verdict.status == Status::waived || w.until < day) continue;
    record.verdict.status = Status::waived;
    record.verdict.facts.insert(
        record.verdict.facts.begin(),
        fact(Status::waived, fmt::format("{} until {}: {}", name(status), w.until, w.issue)));
  }
}

std::string complaint(const Waiver& w, std::string_view day, bool all_ran) {
  if (w.until < day) return fmt::format("{}: this waiver expired on {} ({})", w.origin, w.until, w.issue);
  if (!all_ran || w.ran == 0 || w.needed > 0) return "";
  return fmt::format("{}: {} of its cases ran on {} and none was {}: the waiver is not needed ({})", w.origin,
                     w.ran, w.backend, name(w.status), w.issue);
}

std::vector<std::string> complaints(const std::vector<Waiver>& waivers, std::string_view day, bool all_ran) {
  std::vector<std::string> all;
  for (const Waiver& w : waivers)
    if (std::string said = complaint(w, day, all_ran); !said.empty()) all.push_back(std::move(said));
  return all;
}

}  // namespace plumb

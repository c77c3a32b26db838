// Law: what is said of a result stays what it is. golden/verdicts.txt has drawn lines over the whole grammar
// on honest backends and on liars, each with its status and a digest of all that its record says of it:
// facts, places, causes, bounds, costs, collectives, certificate. Who changes one sees which.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdio.h>

#include <map>
#include <sstream>

#include "adapters/protocol/json.h"
#include "harness/run/attempt.h"
#include "harness/run/testing/said.h"
#include "reference/words/testing/draw_line.h"
#include "reference/words/testing/pins.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

constexpr auto golden = PLUMB_GOLDEN "/verdicts.txt";

struct Row {
  std::uint64_t digest = 0;
  std::string status, backend, line;
};

std::string print(const Row& row) {
  return fmt::format("{:016x} {:<10} {} {}", row.digest, row.status, row.backend, row.line);
}

Row parse_row(const std::string& text) {
  Row row;
  std::istringstream in(text);
  in >> std::hex >> row.digest >> row.status >> row.backend >> std::ws;
  std::getline(in, row.line);
  return row;
}

struct Judges {
  std::map<std::string, Subject> subjects;
  Record record(const std::string& line, const std::string& backend) {
    auto at = subjects.find(backend);
    if (at == subjects.end()) at = subjects.emplace(backend, Subject(backend, Settings{})).first;
    return attempt(parse_case(line), at->second, {.max_waste = 1, .reruns = 1, .max_collectives = 1});
  }
};

// The liars whose results can be read: those that never reply, die, or write what no page allows have tests
// of their own.
std::vector<std::string> liars() {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(PLUMB_LIAR " --list", "r"), pclose);
  std::vector<std::string> found;
  std::string all;
  for (char buffer[4096]; std::size_t n = std::fread(buffer, 1, sizeof buffer, pipe.get());)
    all.append(buffer, n);
  std::istringstream lines(all);
  for (std::string line; std::getline(lines, line);) {
    const nlohmann::json j = parse_json(line);
    const auto status = status_named(j.at("status").get<std::string>());
    if (status && *status > Status::reneged) found.push_back("liar,fault=" + j.at("name").get<std::string>());
  }
  return found;
}

std::vector<std::string> drawn_verdicts() {
  std::vector<std::string> rows;
  Random random{std::mt19937_64(3)};
  Judges judges;
  for (int i = 0; i < 400; ++i)
    rows.push_back(print({0, "?", i % 2 ? "local" : "local,plan=ring", plumb::print(draw_to_run(random))}));
  for (const std::string& liar : liars())  // on most lines a fault changes nothing
    for (int tries = 0, found = 0; tries < 400 && found < 16; ++tries) {
      const std::string line = plumb::print(draw_to_run(random));
      if (judges.record(line, liar).verdict.status == judges.record(line, "local").verdict.status) continue;
      rows.push_back(print({0, "?", liar, line}));
      ++found;
    }
  return rows;
}

TEST(Verdicts, StayWhatTheyAre) {
  Judges judges;
  const auto today = [&](const std::string& text) {
    Row row = parse_row(text);
    const Record r = judges.record(row.line, row.backend);
    row.digest = fnv(said(r)), row.status = name(r.verdict.status);
    return Today{print(row), said(r)};
  };
  ASSERT_NO_FATAL_FAILURE(expect_rows(golden, drawn_verdicts, today));
  EXPECT_GE(pinned_rows(golden).size(), 1000u);
}

// A product whose bits differ may have its engine asked, which the backend has to hear before the next case.
TEST(Verdicts, NothingIsJudgedApartOfWhichMoreMayBeAsked) {
  Subject subject("local", Settings{});
  const auto apart = [&](const char* line) { return answered(parse_case(line), subject, {}).apart; };
  EXPECT_TRUE(apart("on x=2: reshard f32[8@x] -> f32[8]"));
  EXPECT_FALSE(apart("on x=2: einsum mk,kn->mn f32[4,8] f32[8,4@x] -> f32[4,4@x] fill=normal"));
}

}  // namespace
}  // namespace plumb

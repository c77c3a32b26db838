// Law: what is said of a result stays what it is. golden/verdicts.txt has drawn lines over the whole grammar
// on honest backends and on liars, each with its status and a digest of all that its record says of it:
// facts, places, causes, bounds, costs, collectives, certificate. Who changes one sees which.
//
// PLUMB_UPDATE_GOLDEN=1 writes the file anew: the rows that it has, or rows drawn where there is none.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdio.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "adapters/protocol/json.h"
#include "harness/run/attempt.h"
#include "harness/run/testing/said.h"
#include "reference/words/fnv.h"
#include "reference/words/testing/draw_line.h"
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

std::vector<Row> drawn() {
  std::vector<Row> rows;
  Random random{std::mt19937_64(3)};
  Judges judges;
  for (int i = 0; i < 400; ++i)
    rows.push_back({0, "", i % 2 ? "local" : "local,plan=ring", plumb::print(draw_to_run(random))});
  for (const std::string& liar : liars())  // on most lines a fault changes nothing
    for (int tries = 0, found = 0; tries < 400 && found < 16; ++tries) {
      const std::string line = plumb::print(draw_to_run(random));
      if (judges.record(line, liar).verdict.status == judges.record(line, "local").verdict.status) continue;
      rows.push_back({0, "", liar, line});
      ++found;
    }
  return rows;
}

std::vector<Row> rows() {
  std::vector<Row> found;
  std::ifstream in(golden);
  for (std::string text; std::getline(in, text);) found.push_back(parse_row(text));
  return found.empty() && std::getenv("PLUMB_UPDATE_GOLDEN") ? drawn() : found;
}

TEST(Verdicts, StayWhatTheyAre) {
  const std::vector<Row> pinned = rows();
  ASSERT_GE(pinned.size(), 1000u);
  const bool anew = std::getenv("PLUMB_UPDATE_GOLDEN");
  std::string today;
  Judges judges;
  for (const Row& row : pinned) {
    const Record r = judges.record(row.line, row.backend);
    const Row is{fnv(said(r)), std::string(name(r.verdict.status)), row.backend, row.line};
    if (!anew) {
      EXPECT_EQ(print(is), print(row)) << said(r);
    }
    today += print(is) + "\n";
  }
  if (anew) std::ofstream(golden) << today;
}

}  // namespace
}  // namespace plumb

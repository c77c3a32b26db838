// A backend that answers with the data of an earlier case is found out by all of them but the first: no two
// lines of the suites have the same data.
#include <gtest/gtest.h>

#include <set>

#include "adapters/protocol/json.h"
#include "harness/command/testing/tool.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

std::string shapes(const Case& c) {
  std::string text;
  for (const Spec& spec : c.op.operands) {
    (text += ' ') += format(spec.dtype).name;
    for (const Dim& dim : spec.dims) text += "," + std::to_string(dim.size);
    text += "x" + std::to_string(parts(c.mesh, spec));
  }
  return text;
}

class Stale : public testing::TestWithParam<const char*> {};

TEST_P(Stale, PassesNothingButTheFirstCaseOfEachShape) {
  const Folder folder;
  const std::string run =
      std::string("run --quiet --record r.jsonl --backend liar,fault=keeps-operands --suite ");
  EXPECT_EQ(run_tool(folder, run + GetParam()).code, 1);
  std::ifstream in(folder.path / "r.jsonl");
  std::set<std::string> seen;
  std::int64_t found = 0;
  for (std::string line; std::getline(in, line);) {
    const auto record = parse_json(line);
    if (!record.contains("case")) continue;
    const std::string of = record["case"], status = record["status"];
    const std::string process = record.contains("limits") ? dump(record["limits"]) : "";  // one for each
    if (seen.insert(process + shapes(parse_case(of))).second) continue;
    EXPECT_NE(status, "pass") << of;
    ++found;
  }
  EXPECT_GT(found, 10);
}

INSTANTIATE_TEST_SUITE_P(Suites, Stale, testing::Values("smoke", "reshard", "matmul", "grouped", "quantize"),
                         [](const auto& suite) { return std::string(suite.param); });

}  // namespace
}  // namespace plumb

// The backends that the protocol's page shows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>

#include "harness/backend/process.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

Process& in_python() {
  static Process process({
      "example", {"python3",      "-I", PLUMB_EXAMPLE},
       {             }
  });
  return process;
}

Process& in_c() {
  static Process process({"example", {PLUMB_EXAMPLE_IN_C}, {}});
  return process;
}

Answer answer(const char* line, Process& process = in_python()) {
  const Case c = parse_case(line);
  Tensor operand = zeros(c.op.operands[0].dtype, shape(c.op.operands[0]));
  for (std::size_t i = 0; i < operand.bytes.size(); ++i) operand.bytes[i] = static_cast<std::byte>(i % 251);
  Answer got = process.run(c, std::span(&operand, 1));
  const auto* outcome = std::get_if<Outcome>(&got);
  for (const Block& b : outcome ? outcome->blocks : std::vector<Block>{})
    EXPECT_EQ(process.read(b), operand.bytes) << line;
  return got;
}

TEST(Example, GathersWhatItSaysItCan) {
  for (Process* process : {&in_python(), &in_c()}) {
    for (const char* line :
         {"on x=2: reshard f32[8@x] -> f32[8]", "on x=2,y=3: reshard s8[6@y,4@x] -> s8[6,4]",
          "on x=2,y=2: reshard bf16[8,4@y.x] -> bf16[8,4]", "on x=4: reshard f64[] -> f64[]"}) {
      const Answer got = answer(line, *process);
      const auto* outcome = std::get_if<Outcome>(&got);
      ASSERT_TRUE(outcome) << line;
      EXPECT_EQ(std::ssize(outcome->blocks), devices(parse_case(line).mesh));
    }
    const Answer two = answer("on x=2,y=3: reshard s8[6@y,4@x] -> s8[6,4]", *process);
    const Collective gather = std::get<Outcome>(two).trace.at(0);
    EXPECT_THAT(gather.axes, testing::ElementsAre("y", "x"));
    EXPECT_EQ(gather.in, 4);
    EXPECT_EQ(gather.out, 24);
  }
  const Answer uneven = answer("on x=2,y=2: reshard f32[5@x.y,3] -> f32[5,3]", in_c());
  EXPECT_EQ(std::get<Outcome>(uneven).trace.at(0).in, 24);
}

TEST(Example, InCSaysUnsupportedOfTheRest) {
  for (const auto& [line, reason] : std::vector<std::pair<const char*, std::string>>{
           {"on x=2: reshard f32[8]+x -> f32[8]",           "unfinished sum"        },
           {"on x=2: reshard f32[8] -> f32[8@x]",           "a result that is split"},
           {"on x=2: reshard f32[8@x] -> f32[8] -> f32[8]", "a chain"               },
           {"on x=2: reshard f32[8@x] -> f32[8]?",          "a free result"         },
           {"on x=2: einsum i,i-> f32[8] f32[8] -> f32[]",  "einsum"                }
  })
    EXPECT_EQ(std::get<Unsupported>(answer(line, in_c())).reason, reason) << line;
}

TEST(Example, SaysUnsupportedOfTheRest) {
  const struct {
    const char *line, *reason;
  } rows[] = {
      {"on x=2: reshard f32[8]+x -> f32[8]",          "unfinished sums"                           },
      {"on x=2: reshard f32[7@x] -> f32[7]",          "uneven splits"                             },
      {"on x=2: reshard f32[8] -> f32[8@x]",          "a result that is not whole on every device"},
      {"on x=2: einsum i,i-> f32[8] f32[8] -> f32[]", "einsum"                                    },
  };
  for (const auto& row : rows) {
    const Answer got = answer(row.line);
    ASSERT_TRUE(std::holds_alternative<Unsupported>(got)) << row.line;
    EXPECT_EQ(std::get<Unsupported>(got).reason, row.reason);
  }
}

TEST(Example, RefusesOptions) {
  for (Command command : {
           Command{"example", {"python3", "-I", PLUMB_EXAMPLE}, {}},
           Command{"example", {PLUMB_EXAMPLE_IN_C},             {}}
  }) {
    command.options = {
        {"plan", "ring"}
    };
    Process process(command);
    try {
      process.run(parse_case("on x=2: reshard f32[8@x] -> f32[8]"), {});
      FAIL() << command.argv.front();
    } catch (const BadInput& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("it has no options, such as"));
      EXPECT_THAT(error.what(), testing::HasSubstr("plan"));
    }
  }
}

TEST(Example, InCSaysThatPlumbStartsIt) {
  const int ended = std::system("env -u PLUMB_REQUESTS -u PLUMB_REPLIES " PLUMB_EXAMPLE_IN_C " 2>/dev/null");
  ASSERT_TRUE(WIFEXITED(ended));
  EXPECT_EQ(WEXITSTATUS(ended), 2);
}

}  // namespace
}  // namespace plumb

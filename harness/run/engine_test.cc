// How a backend adds up is asked with an operation that it has; who does not live to tell is doubted.
#include "harness/run/engine.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/backend/testing/fake.h"

namespace plumb {
namespace {

// A program of these operations, with a fault.
Command program(const char* ops, Faults faults) {
  faults.insert(faults.end(),
                {"hello", fmt::format(R"([{{"op":"add","path":"/capabilities/ops","value":{}}}])", ops)});
  return fake(faults);
}

// What is said of it; empty where it is not asked.
SaidOfEngine asked(const char* ops, const Faults& faults, const Deadlines& deadlines = {}) {
  Process process(program(ops, faults), deadlines);
  const auto question = question_of_engine(process, DType::f32);
  return question ? said_of_engine(process, *question, Engine::ieee) : SaidOfEngine{};
}
std::string doubt(const char* ops, const Faults& faults, const Deadlines& deadlines = {}) {
  return asked(ops, faults, deadlines).doubt.value_or("");
}

const char* const without_products[] = {R"(["reshard"])", R"(["reshard","quantize"])", "[]"};
const char* const with_products[] = {R"(["einsum"])", R"(["grouped"])", R"(["reshard","grouped"])",
                                     R"(["einsum","grouped"])"};

TEST(Engine, IsAskedOfEveryProgramThatMultiplies) {
  for (const char* ops : with_products)
    EXPECT_THAT(doubt(ops, {"die", "6"}), testing::HasSubstr("killed by signal 6")) << ops;
  for (const char* ops : without_products) EXPECT_EQ(doubt(ops, {"die", "6"}), "") << ops;
}

TEST(Engine, IsDoubtedWhereNothingComesOfIt) {
  for (const char* ops : with_products) {
    EXPECT_THAT(doubt(ops, {"sleep", "60"}, {60, 0.2, 60}), testing::HasSubstr("no reply within 0.2"))
        << ops;
    EXPECT_THAT(doubt(ops, {"say", "no"}), testing::HasSubstr("asked how its engine adds up, by on x=1: "))
        << ops;
  }
}

// What it refuses is said in its words, and then it is asked by the line that it computed: who refuses that is doubted.
TEST(Engine, IsAskedByItsOwnLineWhereItRefusesTheQuestion) {
  const std::pair<const char*, const char*> answers[] = {
      {R"-({"type":"unsupported","id":1,"reason":"no"})-", "unsupported: no"},
      {R"-({"type":"reneged","id":1,"message":"no"})-", "reneged: no"}};
  const Case own = parse_case("on x=2: einsum mk,kn->mn f32[4,8@x] f32[8@x,4] -> f32[4,4]");
  for (const auto& [answer, words] : answers) {
    for (const char* ops : with_products) {
      EXPECT_EQ(asked(ops, {"say", answer}).refused, words) << ops;
      EXPECT_EQ(doubt(ops, {"say", answer}), "") << ops;
    }
    Process process(program(R"(["einsum"])", {"say", answer}));
    EXPECT_THAT(said_by_own_line(process, own, Engine::ieee)->doubt.value_or(""), testing::EndsWith(words));
    const Case parts = parse_case("on x=2: einsum mk,kn->mn f32[4,8@x] f32[8@x,4] -> f32[4,4]+x");
    EXPECT_FALSE(said_by_own_line(process, parts, Engine::ieee)) << "it is not asked";
  }
}

}  // namespace
}  // namespace plumb

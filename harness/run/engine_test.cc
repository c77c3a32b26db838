// How a backend adds up is asked with an operation that it has; who does not live to tell is doubted.
#include "harness/run/engine.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/backend/testing/fake.h"

namespace plumb {
namespace {

// What is said of a program of these operations, with a fault.
std::string said(const char* ops, Faults faults, const Deadlines& deadlines = {}) {
  faults.insert(faults.end(),
                {"hello", fmt::format(R"([{{"op":"add","path":"/capabilities/ops","value":{}}}])", ops)});
  Process process(fake(faults), deadlines);
  return doubt_of_engine(process, DType::f32, Engine::ieee).value_or("");
}

const char* const without_products[] = {R"(["reshard"])", R"(["reshard","quantize"])", "[]"};
const char* const with_products[] = {R"(["einsum"])", R"(["grouped"])", R"(["reshard","grouped"])",
                                     R"(["einsum","grouped"])"};

TEST(Engine, IsAskedOfEveryProgramThatMultiplies) {
  for (const char* ops : with_products)
    EXPECT_THAT(said(ops, {"die", "6"}), testing::HasSubstr("killed by signal 6")) << ops;
  for (const char* ops : without_products) EXPECT_EQ(said(ops, {"die", "6"}), "") << ops;
}

TEST(Engine, IsDoubtedWhereNothingComesOfIt) {
  for (const char* ops : with_products) {
    EXPECT_THAT(said(ops, {"sleep", "60"}, {60, 0.2, 60}), testing::HasSubstr("no reply within 0.2"))
        << ops;
    EXPECT_THAT(said(ops, {"say", "no"}), testing::HasSubstr("asked for sums of few terms, it gave none: "))
        << ops;
  }
}

// An operation of its own, whose answers each say to which request they are.
TEST(Engine, IsNotDoubtedWhereItCannotTell) {
  for (const char* ops : {R"(["einsum"])", R"(["grouped"])", R"(["reshard","grouped"])"})
    for (const char* answer : {R"-({"type":"unsupported","id":1,"reason":"no"})-",
                               R"-({"type":"reneged","id":1,"message":"no"})-"})
      EXPECT_EQ(said(ops, {"say", answer}), "") << ops << answer;
}

}  // namespace
}  // namespace plumb

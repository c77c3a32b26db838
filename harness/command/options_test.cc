#include "harness/command/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/backend/rows.h"

namespace plumb {
namespace {

using testing::HasSubstr;

Count count(const std::string& suite, const std::string& backend,
            std::map<std::string, std::int64_t> reasons) {
  Count one{suite, backend, {}, {}, reasons};
  one.by_status[static_cast<int>(Status::pass)] = 2;
  for (const auto& [reason, n] : reasons) one.by_status[static_cast<int>(Status::unsupported)] += n;
  return one;
}

TEST(Options, WhatIsUnsupportedForWantOfOneSaysWhich) {
  const std::string sum = "an unfinished sum needs explicit axes";
  EXPECT_EQ(wanted_options({
                {count("released", "jax@0.10.2,grad=lhs", {{sum, 5}, {"a batch", 3}})}
  }),
            "released on jax@0.10.2,grad=lhs: 5 of 10 cases want style=explicit (" + sum + ")\n");
  EXPECT_EQ(wanted_options({
                {count("s", "jax@0.9.1", {{sum + " (jax 0.9.1: ValueError: no)", 1}})}
  }),
            "s on jax@0.9.1: 1 of 3 cases wants style=explicit (" + sum + ")\n");
  EXPECT_EQ(wanted_options({
                {count("s", "torch@2.15.0", {{sum, 5}})}
  }),
            "");
  EXPECT_EQ(wanted_options({
                {count("s", "./jax --flag", {{sum, 5}})}
  }),
            "");
  EXPECT_EQ(wanted_options({
                {count("s", "mpi", {{"16 devices", 3}, {"32 devices", 1}, {"no devices", 1}})}
  }),
            "s on mpi: 4 of 7 cases want np=32 (16 devices; 32 devices)\n");
  EXPECT_EQ(wanted_options({
                {count("s", "local", {{"16 devices", 3}})}
  }),
            "");
}

TEST(Options, EachIsListedWithItsValues) {
  const std::string text = options_of_backends();
  for (const BackendRow& row : backend_rows())
    for (const BackendOption& o : row.options) {
      EXPECT_THAT(text, HasSubstr(o.name + "="));
      for (const auto& [value, help] : o.values) EXPECT_THAT(text, HasSubstr(value)) << row.name;
    }
}

}  // namespace
}  // namespace plumb

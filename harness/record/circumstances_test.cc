#include "harness/record/circumstances.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "adapters/protocol/json.h"

namespace plumb {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(Circumstances, VariablesAreThoseOfTheListAlone) {
  EXPECT_THAT(
      telling({"OMPI_MCA_btl=tcp,self", "HOME=/home/me", "AWS_SECRET=x", "OMP_NUM_THREADS=2",
               "NCCL_ALGO=Ring", "OMP_NUM_THREADS_OF_MINE=3", "MY_NCCL_ALGO=Tree", "no equals"}),
      ElementsAre(Pair("NCCL_ALGO", "Ring"), Pair("OMPI_MCA_btl", "tcp,self"), Pair("OMP_NUM_THREADS", "2")));
}

TEST(Circumstances, APathIsSaidToBeOne) {
  EXPECT_THAT(
      telling({"XLA_FLAGS=--xla_dump_to=/home/me/x --xla_cpu_use=1", "OMPI_MCA_plm_rsh_agent=/opt/ssh:rsh"}),
      ElementsAre(Pair("OMPI_MCA_plm_rsh_agent", "PATH:rsh"),
                  Pair("XLA_FLAGS", "--xla_dump_to=PATH --xla_cpu_use=1")));
}

TEST(Circumstances, AreThoseOfTheProcess) {
  ::setenv("UCX_TLS", "shm", 1);
  EXPECT_EQ(circumstances()["variables"]["UCX_TLS"], "shm");
  ::unsetenv("UCX_TLS");
  EXPECT_FALSE(circumstances()["variables"].contains("UCX_TLS"));
  EXPECT_TRUE(circumstances().contains("cpu"));
}

// By which class and how nicely a process has a core changes what its ranks take of one that is shared.
TEST(Circumstances, HowTheProcessIsScheduledIsAmongThem) {
  const int nice = ::getpriority(PRIO_PROCESS, 0);
  const auto kind = ::sched_getscheduler(0);
  if (kind == SCHED_OTHER) EXPECT_EQ(circumstances()["scheduling"], fmt::format("SCHED_OTHER, nice {}", nice));
  const pid_t child = ::fork();
  if (child == 0) {
    ::sched_param none{};
    const bool set = ::sched_setscheduler(0, SCHED_BATCH, &none) == 0 && ::setpriority(PRIO_PROCESS, 0, 19) == 0;
    ::_exit(set && circumstances()["scheduling"] == "SCHED_BATCH, nice 19" ? 0 : 1);
  }
  int status = 1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(Circumstances, AClockGoesOnInSteps) {
  EXPECT_GE(clock_step(), 1);
  EXPECT_LT(clock_step(), 1e9);
}

TEST(Circumstances, WhatDiffersIsNamed) {
  const json then = {
      {"cores",     4                                            },
      {"cpu",       "A"                                          },
      {"revision",  "1"                                          },
      {"versions",  {{"mpi", "4"}, {"files", "224cc"}}           },
      {"variables", {{"OMPI_MCA_btl", "tcp"}, {"UCX_TLS", "shm"}}}
  };
  EXPECT_THAT(differing(then, then), IsEmpty());
  json now = then;
  now["revision"] = "2", now["cores"] = 2, now["versions"]["mpi"] = "5", now["versions"]["files"] = "9f01",
  now["variables"] = {
      {"UCX_TLS", "rc"},
      {"FI_X",    "1" }
  };
  EXPECT_THAT(differing(then, now), ElementsAre("cores 4, now 2", "mpi 4, now 5", "FI_X not set, now 1",
                                                "UCX_TLS shm, now rc", "OMPI_MCA_btl tcp, now not set"));
  EXPECT_THAT(differing(
                  json{
                      {"cpu", "A"}
  },
                  now),
              IsEmpty())
      << "what an older record does not say";
}

}  // namespace
}  // namespace plumb

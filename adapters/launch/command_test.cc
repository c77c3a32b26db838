#include "adapters/launch/command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace plumb::launch {
namespace {

using testing::ElementsAre;

TEST(Command, OfALauncherStartsTheProgram) {
  const auto words = [](const char* launcher) {
    return command(parse({
                       "--ranks", "4", "--launcher", launcher, "--", "./mine", "--flag"
    }),
                   {{"A", "B"}, "/shared/launch.1", 3});
  };
  EXPECT_THAT(words("own"), ElementsAre("./mine", "--flag"));
  EXPECT_THAT(words("srun"),
              ElementsAre("srun", "-n", "4", "--mpi=pmix", "--export=ALL", "--kill-on-bad-exit=1",
                          "--job-name=plumb-launch.1", "./mine", "--flag"));
  EXPECT_THAT(words("flux"), ElementsAre("flux", "run", "-n", "4", "./mine", "--flag"));
  EXPECT_THAT(words("aprun -n {n} {program} -v"), ElementsAre("aprun", "-n", "4", "./mine", "--flag", "-v"));
  EXPECT_THAT(
      words("ssh host{rank} env PLUMB_LAUNCH=file:{file} PLUMB_RANK={rank} PLUMB_WORLD={n} {program}"),
      ElementsAre("ssh", "host3", "env", "PLUMB_LAUNCH=file:/shared/launch.1", "PLUMB_RANK=3",
                  "PLUMB_WORLD=4", "./mine", "--flag"));
}

TEST(Command, BadInputSaysWhatIsMissing) {
  const auto complaint = [](const std::vector<std::string>& arguments) -> std::string {
    try {
      parse(arguments);
    } catch (const std::invalid_argument& e) {
      return std::string(e.what()).substr(0, std::string(e.what()).find('\n'));
    }
    return "";
  };
  EXPECT_EQ(complaint({}), "plumb-launch: how many --ranks?");
  EXPECT_EQ(complaint({"--ranks"}), "plumb-launch: --ranks needs a value");
  for (const char* n : {"0", "-1", "four", "4x", "65537", ""})
    EXPECT_EQ(complaint({"--ranks", n, "--", "p"}),
              "plumb-launch: --ranks: expected a number from 1 to 65536, not '" + std::string(n) + "'");
  EXPECT_EQ(complaint({"--ranks", "4"}), "plumb-launch: which program? It stands after --");
  EXPECT_EQ(complaint({"--ranks", "4", "p"}), "plumb-launch: nothing is called 'p'");
  EXPECT_EQ(complaint({"--ranks", "4", "--launcher", "mpirum", "--", "p"}),
            "plumb-launch: no launcher 'mpirum': own, mpiexec, srun, flux, or a command with {program}");
  const auto of_launcher = [&](const char* launcher) {
    return complaint({"--ranks", "4", "--launcher", launcher, "--", "p"});
  };
  EXPECT_EQ(of_launcher("run --wrap={program} {program}"),
            "plumb-launch: --launcher: {program} is a word of its own, not part of '--wrap={program}'");
  EXPECT_EQ(of_launcher("run -n {N} {program}"),
            "plumb-launch: --launcher: nothing is called '{N}': {n}, {rank}, {file} and {program} are");
  EXPECT_EQ(of_launcher("run -n {n {program}"),
            "plumb-launch: --launcher: nothing is called '{n': {n}, {rank}, {file} and {program} are");
  EXPECT_EQ(of_launcher("sh -c 'run {program}'"),
            "plumb-launch: --launcher: ' at 6 of 'sh -c 'run {program}'': words stand between blanks, and "
            "nothing is quoted; a script can do more");
}

}  // namespace
}  // namespace plumb::launch

#include "adapters/launch/segments.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace plumb::launch {
namespace {

namespace fs = std::filesystem;

// mpich_shm_a90b3d77_0 was made by ranks of MPICH 5.0.2, whose mpiexec was process 10360 of the host vm.
TEST(Segments, OfMpichAreNamedByWhoStartedItsRanks) {
  constexpr time_t second = 1795734258;
  EXPECT_EQ(hash_of_mpich(10360, second, "vm"), "a90b3d77");
  EXPECT_NE(hash_of_mpich(10361, second, "vm"), "a90b3d77");
  EXPECT_NE(hash_of_mpich(10360, second + 1, "vm"), "a90b3d77");
  EXPECT_NE(hash_of_mpich(10360, second, "vm2"), "a90b3d77");
}

TEST(Segments, ThatNobodySawGoWithTheJobAndNobodyElses) {
  std::string made = fs::temp_directory_path() / "segments-XXXXXX";
  ASSERT_TRUE(::mkdtemp(made.data()));
  const fs::path folder = made;
  utsname here{};
  ::uname(&here);
  const time_t since = ::time(nullptr);
  const pid_t starter = 4121, other = 4122;
  const auto hash = [&](pid_t pid, time_t second) { return hash_of_mpich(pid, second, here.nodename); };
  const std::string of_job = hash(starter, since), node = "_0";
  const std::set<std::string> its{"mpich_shm_" + of_job + node, "mpich_vci_" + of_job + "_31"};
  const std::set<std::string> of_others{
      "mpich_shm_" + hash(other, since) + node,                // by another mpiexec
      "mpich_shm_" + hash(starter, since - 1) + node,          // begun before this job
      "mpich_shm_" + hash(starter, since + 1'000'000) + node,  // or after the file was made
      "mpich_shm_" + hash_of_mpich(starter, since, "elsewhere") + node,
      "mpich_shm_" + of_job,
      "mpich_shm_" + of_job + "_",
      "mpich_shm_" + of_job + "_0x",
      "mpich_shar_" + of_job + node,
      of_job + node,
      "ucx_shm_posix_" + of_job,
      "vader_segment.vm.1.1"};
  for (const auto* names : {&its, &of_others})
    for (const std::string& name : *names) std::ofstream(folder / name) << "x";
  Segments job{since, {}, {starter}};
  remove_segments(job, folder);
  std::set<std::string> left;
  for (const auto& entry : fs::directory_iterator(folder)) left.insert(entry.path().filename());
  EXPECT_EQ(left, of_others);
  fs::remove_all(folder);
}

TEST(Segments, AreNamedBeforeTheyAreMade) {
  utsname here{};
  ::uname(&here);
  const std::string file = fs::path(testing::TempDir()) / "segments-named";
  const pid_t starter = 4121;
  constexpr time_t second = 1795734258;
  Segments job{second, {}, {starter}};
  name_segments(job, file);
  std::set<std::string> named;
  std::ifstream in(file);
  for (std::string path; std::getline(in, path);) named.insert(path);
  for (const time_t late : {0, 1, 5})
    for (const char* kind : {"/dev/shm/mpich_shm_", "/dev/shm/mpich_vci_"})
      EXPECT_TRUE(named.contains(kind + hash_of_mpich(starter, second + late, here.nodename) + "_0"));
  EXPECT_FALSE(
      named.contains("/dev/shm/mpich_shm_" + hash_of_mpich(starter, second - 1, here.nodename) + "_0"));
  remove_segments(job, testing::TempDir());
  EXPECT_FALSE(fs::exists(file));
}

}  // namespace
}  // namespace plumb::launch

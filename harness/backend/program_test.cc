#include "harness/backend/program.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace plumb {
namespace {

TEST(Program, BuiltAnewHasAnotherHash) {
  const std::string path =
      std::filesystem::temp_directory_path() / ("plumb-program-" + std::to_string(getpid()));
  const auto written = [&](const std::string& text) {
    std::ofstream(path) << text;
    return files_hash({
        path + " --flag", {path, "--flag"}
    });
  };
  const std::string one = written("one"), two = written("two");
  EXPECT_EQ(one.size(), 16u);
  EXPECT_NE(one, two);
  EXPECT_EQ(written("one"), one);
  EXPECT_EQ(files_hash({"jax@0.10.2,style=explicit", {path}}), "") << "its release says what runs";
  EXPECT_NE(files_hash({"./home@work/echo", {path}}), "") << "no release, but a path";
  EXPECT_EQ(files_hash({
                "sleep 1", {"sleep", "1"}
  }),
            "")
      << "no file is named";
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace plumb

// How programs end, and that nothing of them stays.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "harness/backend/child.h"
#include "harness/backend/folder.h"
#include "harness/backend/interrupt.h"
#include "harness/backend/process.h"
#include "harness/backend/process_state.h"
#include "harness/backend/testing/alive.h"
#include "harness/backend/testing/fake.h"

namespace plumb {
namespace {

TEST(Ending, WhatTheProgramStartedDiesWithIt) {
  {
    Process process(fake({"child", "1", "print", "WhatTheProgramStarted"}));
    expect<Outcome>(process.run(gather(), operands()));
    EXPECT_TRUE(soon([] { return running("WhatTheProgramStarted").size() == 2; }));
  }
  EXPECT_TRUE(soon([] { return running("WhatTheProgramStarted").empty(); }));
}

// A grace long enough for whoever ends at once; nothing is lost by it.
Command with_grace(Command command, double seconds) {
  command.grace = seconds;
  return command;
}

TEST(Ending, AProgramWithAGraceIsToldToEndBeforeItIsKilled) {
  const Deadlines soon_over{.start = 60, .compile = 0.2, .run = 60};
  for (const double grace : {0.0, 20.0}) {
    const std::string file = testing::TempDir() + "tidied." + std::to_string(::getpid());
    Process process(with_grace(fake({"tidy", file, "sleep", "60"}), grace), soon_over);
    const auto start = Clock::now();
    expect<Hung>(process.run(gather(), operands()));
    EXPECT_LT(Clock::now() - start, std::chrono::seconds(15)) << "it ended, and was waited for";
    EXPECT_EQ(std::filesystem::remove(file), grace > 0);
  }
}

TEST(Ending, WhenTheGraceIsOverAllThatTheProgramStartedIsGone) {
  const Deadlines soon_over{.start = 60, .compile = 0.3, .run = 60};
  for (const double grace : {0.0, 0.5}) {
    Process process(with_grace(fake({"deaf", "1", "leaves", "a-deaf-one-that-left", "child", "1", "print",
                                     "a-deaf-program", "sleep", "60"}),
                               grace),
                    soon_over);
    const auto start = Clock::now();
    expect<Hung>(process.run(gather(), operands()));
    EXPECT_GE(Clock::now() - start, std::chrono::duration<double>(0.3 + grace));
    EXPECT_THAT(running("a-deaf-one-that-left"), testing::IsEmpty());
    EXPECT_THAT(running("a-deaf-program"), testing::IsEmpty());
  }
}

// What is told of a program's end.
std::vector<std::string> told_of_the_end(const Faults& faults) {
  std::vector<std::string> all;
  Process process(fake(faults));
  process.tell_end([&](const std::string& what) { all.push_back(what); });
  expect<Outcome>(process.run(gather(), operands()));
  process.stop();
  return all;
}

TEST(Ending, WhatAProgramDoesOnceItsRequestsHaveEndedIsTold) {
  EXPECT_THAT(told_of_the_end({}), testing::IsEmpty());
  EXPECT_THAT(told_of_the_end({"farewell", R"({"type":"alive","id":1})"
                                           "\n"}),
              testing::IsEmpty());
  for (const auto& [faults, what] : std::vector<std::pair<Faults, std::string>>{
           {{"farewell", R"({"type":"result","id":1})"
                         "\n"},
            "a second reply to request 1: "                                           },
           {{"farewell", "junk\n"},         "not JSON: \"junk\""                      },
           {{"farewell", "junk"},           "what has no newline at its end: \"junk\""},
           {{"exits-last", "3"},            "exited with code 3"                      },
           {{"dies-last", "9"},             "killed by signal 9 (Killed)"             }
  }) {
    const std::vector<std::string> all = told_of_the_end(faults);
    ASSERT_EQ(all.size(), 1u) << what;
    EXPECT_THAT(all[0], testing::StartsWith(what));
  }
}

TEST(Ending, AProgramThatStaysOnceItsRequestsHaveEndedIsKilledAndThatIsTold) {
  std::vector<std::string> all;
  ProcessState state;
  state.command = fake({"stays-last", "60", "print", "AProgramThatStays"});
  state.parted = [&](const std::string& what) { all.push_back(what); };
  state.to_part = std::chrono::milliseconds(200);
  ASSERT_FALSE(state.start_for(gather().mesh));
  state.part();
  EXPECT_THAT(all, testing::ElementsAre("it had not ended 0.2 seconds later, and was killed"));
  EXPECT_THAT(running("AProgramThatStays"), testing::IsEmpty());
}

// So too where it ends by itself; the one that left was seen while its parent lived.
TEST(Ending, WhoLeftAProgramThatEndsIsGone) {
  {
    Process process(fake({"leaves", "one-that-left-before-the-end"}));
    expect<Outcome>(process.run(gather(), operands()));
    EXPECT_TRUE(soon([] { return running("one-that-left-before-the-end").size() == 2; }));
  }
  EXPECT_THAT(running("one-that-left-before-the-end"), testing::IsEmpty());
}

std::string temporary_folder_of(pid_t program) {
  std::ifstream file("/proc/" + std::to_string(program) + "/environ");
  for (std::string entry; std::getline(file, entry, '\0');)
    if (entry.starts_with("TMPDIR=")) return entry.substr(7);
  return "";
}

TEST(Ending, EachProgramHasAFolderForTemporaryFilesThatGoesWithIt) {
  std::vector<std::string> folders;
  for (const char* end : {"none", "exit"}) {
    Process process(fake({"litter", "1", "on", "7", end, "3"}));
    const Outcome first = expect<Outcome>(process.run(gather(), operands()));
    folders.push_back(temporary_folder_of(std::stoi(first.notes[0])));
    EXPECT_TRUE(std::filesystem::is_directory(folders.back()));
    process.run(gather(" seed=7"), operands());
    EXPECT_EQ(std::filesystem::exists(folders.back() + "/litter/file"), std::string(end) == "none");
    process.stop();
    EXPECT_FALSE(std::filesystem::exists(folders.back()));
  }
  EXPECT_NE(folders[0], folders[1]);
}

// That of a harness that was killed goes when the next one starts. It had another name until it was locked.
TEST(Ending, AFolderLeftBehindIsRemovedByTheNext) {
  const auto folder = [](const char* name, bool locked, bool old) {
    const std::string path = testing::TempDir() + "plumb-" + name;
    std::filesystem::create_directories(path + "/more");
    const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY);
    if (locked) ::flock(fd, LOCK_EX);
    if (old)
      std::filesystem::last_write_time(path,
                                       std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
    return std::pair{path, fd};
  };
  const auto left = folder("folder-left", false, false), held = folder("folder-held", true, true),
             made = folder("made-left", false, true), held_made = folder("made-held", true, true),
             young = folder("made-young", false, false), other = folder("others", false, true);
  for (const auto& [path, fd] : {left, made, young, other}) ::close(fd);
  remove_left_behind();
  for (const auto& [path, fd] : {left, made}) EXPECT_FALSE(std::filesystem::exists(path)) << path;
  for (const auto& [path, fd] : {held, held_made, young, other})
    EXPECT_TRUE(std::filesystem::remove_all(path) > 0) << path;
  for (const auto& [path, fd] : {held, held_made}) ::close(fd);
}

TEST(Ending, AFolderIsLockedWhileItHasItsName) {
  std::string path;
  {
    const TemporaryFolder folder;
    path = folder.path();
    EXPECT_THAT(path, testing::HasSubstr("/plumb-folder-"));
    remove_left_behind();
    EXPECT_TRUE(std::filesystem::is_directory(path));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(Ending, WithAFolderGoesWhatItNamesOfSharedMemory) {
  const std::string name = fmt::format("plumb-ending-test-{}", ::getpid()), path = "/dev/shm/" + name,
                    file = testing::TempDir() + name;
  const auto make = [](const std::string& one) {
    return std::ofstream(one) << "x", std::ifstream(one).good();
  };
  if (!make(path)) GTEST_SKIP() << "no /dev/shm in which one may write";
  const std::string other = path + "-other", folder = path + "-folder", link = path + "-link";
  std::filesystem::create_directory(folder);
  std::filesystem::create_symlink(file, link);
  for (const std::string& also : {file, other, folder + "/in"}) make(also);
  const auto name_all = [&](const std::string& in) {
    std::ofstream(in + "/plumb-shared-memory")
        << path << "\n/dev/shm/plumb-never-made\n/dev/shm/../" << file << "\n"
        << file << "\n"
        << folder << "\n"
        << folder << "/in\n"
        << link << "\n";
  };
  {
    const TemporaryFolder mine;
    name_all(mine.path());
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  make(path);
  const std::string filled = file + "-filled", left = testing::TempDir() + "plumb-folder-" + name;
  std::filesystem::create_directory(filled);
  name_all(filled);
  std::filesystem::rename(filled, left);  // from here on anybody may remove it
  remove_left_behind();
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_FALSE(std::filesystem::exists(left));
  for (const std::string& stays : {file, other, folder + "/in", link})
    EXPECT_TRUE(std::filesystem::exists(stays)) << stays;
  for (const std::string& mine : {path, other, folder, link, file}) std::filesystem::remove_all(mine);
}

TEST(Ending, TheProgramDiesWithAHarnessThatIsKilled) {
  const pid_t harness = ::fork();
  if (harness == 0) {
    Process process(fake({"sleep", "60", "print", "AHarnessThatIsKilled"}));
    process.run(gather(), operands());
    ::_exit(0);
  }
  ASSERT_TRUE(soon([] { return !running("AHarnessThatIsKilled").empty(); }));
  ::kill(harness, SIGKILL);
  ::waitpid(harness, nullptr, 0);
  EXPECT_TRUE(soon([] { return running("AHarnessThatIsKilled").empty(); }));
}

TEST(Ending, AnInterruptEndsTheWaitAndTheProgram) {
  const pid_t harness = ::fork();
  if (harness == 0) {
    catch_interrupts();
    try {
      Process process(fake({"sleep", "60", "print", "AnInterruptEndsTheWait"}));
      process.run(gather(), operands());
    } catch (const Interrupted&) {
      ::_exit(130);
    }
    ::_exit(0);
  }
  ASSERT_TRUE(soon([] { return !running("AnInterruptEndsTheWait").empty(); }));
  ::kill(harness, SIGINT);
  int status = 0;
  ::waitpid(harness, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 130);
  EXPECT_TRUE(running("AnInterruptEndsTheWait").empty());
}

TEST(Ending, NothingIsLeftOpen) {
  const auto open = [] {
    const auto files = std::filesystem::directory_iterator("/proc/self/fd");
    return std::distance(begin(files), end(files));
  };
  const auto before = open();
  for (const Faults& faults : {
           Faults{   },
           Faults{  "die", "9"},
           Faults{ "say", "?"}
  }) {
    Process process(fake(faults));
    process.run(gather(), operands());
  }
  EXPECT_EQ(open(), before);
}

}  // namespace
}  // namespace plumb

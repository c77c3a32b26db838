#include "harness/record/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "adapters/protocol/json.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

using testing::HasSubstr;

struct JournalTest : testing::Test {
  std::string path = std::filesystem::temp_directory_path() / "plumb-journal-XXXXXX";
  JournalTest() { close(mkstemp(path.data())); }
  ~JournalTest() override { std::filesystem::remove(path); }
};

std::string contents(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

std::string line_of(const std::string& axis) { return "on " + axis + "=1: reshard f32[8] -> f32[8]"; }

Record record(const std::string& axis) {
  Record r;
  r.line = line_of(axis);
  r.backend = "local";
  return r;
}

std::string complaint(const std::string& path) {
  try {
    const Journal journal(path);
  } catch (const BadInput& error) {
    return error.what();
  }
  return "";
}

TEST_F(JournalTest, AppendsAndReads) {
  {
    Journal journal(path);
    journal.append(record("one"), "{}");
    journal.append(record("two"), "{}");
    EXPECT_EQ(read_records(path).records.size(), 2U) << "each line is there when append returns";
  }
  Journal again(path);
  EXPECT_EQ(again.before().records.at(1).line, line_of("two"));
  again.append(record("three"), "{}");
  EXPECT_EQ(read_records(path).records.size(), 3U);
}

// Cut anywhere, the file loses one record at most.
TEST_F(JournalTest, ATornLineIsCutOffWhereverItEnds) {
  {
    Journal journal(path);
    journal.append(record("one"), "{}");
  }
  const auto one = std::filesystem::file_size(path);
  {
    Journal journal(path);
    journal.append(record("two"), "{}");
  }
  const auto two = std::filesystem::file_size(path);
  const std::string half = contents(path).substr(one, two - one - 1);
  for (auto size = two; size-- > one;) {
    std::filesystem::resize_file(path, size);
    {
      Journal journal(path);
      ASSERT_EQ(journal.before().records.size(), 1U);
      ASSERT_EQ(journal.before().torn, size > one);
      ASSERT_EQ(std::filesystem::file_size(path), size) << "it is read, and nothing has been written";
      journal.append(record("two"), "{}");
    }
    ASSERT_EQ(std::filesystem::file_size(path), two);
    std::filesystem::resize_file(path, one);
    std::ofstream(path, std::ios::app) << half;
  }
}

// Whatever the last line is of, a record or what a run says of itself, and after whichever: each beginning of it is cut off, and
// none of it with a character more that no JSON has there.
TEST_F(JournalTest, AHalfLineOfOursIsABeginningOfOneAndNothingElse) {
  Origin origin;
  origin.started = now_utc(), origin.run = run_drawn(origin.started), origin.backends = {"l\u00f6cal", "mpi"};
  origin.unrun = 1;
  Record noted = record("one");
  noted.notes = {"one \u00e9"};
  const std::string first = first_line(origin) + "\n", ours = json_text(noted, "{\"cores\":-1.5e+3,\"x\":[null,true]}") + "\n",
                    last = last_line(origin) + "\n";
  for (const auto& [before, line] : {std::pair{first, ours}, {first + ours, last}, {first + ours, first}, {first, last}, {ours, ours}})
    for (std::size_t size = 1; size < line.size(); ++size) {
      const std::string half = line.substr(0, size);
      write(path, before + half);
      ASSERT_EQ(complaint(path), "") << half;
      ASSERT_TRUE(Journal(path).before().torn) << half;
      write(path, before + half + "\x01");
      ASSERT_THAT(complaint(path), HasSubstr("this line is not a record, nor the beginning of one, which a run that was killed leaves")) << half;
    }
  for (const char* fragment : {"hello", "\"nanoseconds\":[1,2", "[1,2]", "{\"mine\":", "}", "{\"backend\":\"mpi\"} hello"}) {
    write(path, first + fragment);
    EXPECT_THAT(complaint(path), HasSubstr(":2: this line is not a record, nor the beginning of one")) << fragment;
    EXPECT_EQ(contents(path), first + fragment) << "it stays as it is";
  }
}

TEST_F(JournalTest, OfATornLineThatIsNotTheLastItSaysWhatToDo) {
  {
    Journal journal(path);
    journal.append(record("one"), "{}");
  }
  const std::string one = contents(path), torn = one.substr(0, one.size() / 2) + "\n";
  std::ofstream(path) << one << torn << one;
  EXPECT_THAT(complaint(path), HasSubstr(":2: this line is not a record: it is not JSON; it begins like one: "
                                         "without it (sed -i 2d " +
                                         path + ") --resume judges its case again"));
}

TEST_F(JournalTest, ALineIsTheKeyOfItsRecord) {
  Record none = record("one");
  none.line = "om x=2: reshard f32[8@x] -> f32[8]";
  std::ofstream(path) << json_text(record("one"), "{}") << "\n" << json_text(none, "{}") << "\n";
  EXPECT_THAT(complaint(path), HasSubstr(":2: this line is not a record: its case 'om x=2: reshard f32[8@x] -> f32[8]' is none: "
                                         "expected 'on '"));
  none.line = "prove 00c3a1de2f8f25c4 9b1c8e7d6f5a4b32";
  std::ofstream(path) << json_text(none, "{}") << "\n";
  EXPECT_EQ(read_records(path).records.size(), 1U) << "a proof is of two modules";
}

TEST_F(JournalTest, IsForOneRunAtATime) {
  const Journal journal(path);
  EXPECT_THAT(complaint(path), HasSubstr("another run"));
}

TEST_F(JournalTest, LeavesForeignFilesAlone) {
  for (const char* text : {"hello\n", "{}\n", "[1]\n", "hello", "{\"mine\":1}", "{", "{\"schema\":1"}) {
    std::ofstream(path) << text;
    EXPECT_THAT(complaint(path), HasSubstr(":1: this line is not a record")) << text;
    EXPECT_EQ(std::filesystem::file_size(path), std::string(text).size());
  }
}

// What is published can be read.
TEST(Results, AreRecords) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(PLUMB_RESULTS))
    if (entry.path().extension() == ".jsonl") {
      EXPECT_NO_THROW(read_records(entry.path())) << entry.path();
    }
}

TEST(JournalOfADevice, AFullDiskIsOurFailure) {
  Journal journal("/dev/full");
  EXPECT_THROW(journal.append(record("one"), "{}"), std::system_error);
}

}  // namespace
}  // namespace plumb

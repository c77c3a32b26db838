#include "adapters/protocol/serve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "adapters/protocol/json.h"
#include "adapters/protocol/message.h"
#include "adapters/protocol/options.h"
#include "adapters/protocol/skim.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

using nlohmann::json;

// Every device returns the whole operand; f16 is beyond it, and it fails on f64.
struct Gather : Backend {
  json hello(const Mesh& first) override {
    return {
        {"name",    "gather"                                    },
        {"devices", {{"count", devices(first)}, {"kind", "cpu"}}}
    };
  }
  Reply run(const Request& request, Arena& arena) override {
    const DType dtype = request.c.op.operands[0].dtype;
    if (dtype == DType::f16) return Unsupported{"f16", "this test"};
    if (dtype == DType::f64) throw std::runtime_error("no \"f64\" today");
    Outcome outcome;
    for (std::int64_t d = 0; d < devices(request.c.mesh); ++d) {
      const auto to = arena.take(request.operands[0].bytes.size());
      std::memcpy(to.data(), request.operands[0].bytes.data(), to.size());
      outcome.blocks.push_back({d, 0, arena.offset(to), to.size(), {{{{0, request.operands[0].shape[0]}}}}});
    }
    outcome.claims = {"f32[4]"};
    outcome.received = 0;
    return outcome;
  }
};

// The harness's end of a conversation with Gather, which runs on a thread.
struct Conversation {
  int to, from, arena;
  std::string path;
  std::thread backend;
  int exit_code = -1;

  Conversation() {
    std::array<int, 2> requests{}, replies{};
    EXPECT_EQ(::pipe(requests.data()) + ::pipe(replies.data()), 0);
    to = requests[1], from = replies[0];
    arena = ::memfd_create("arena", 0);
    path = "/proc/self/fd/" + std::to_string(arena);
    ::setenv("PLUMB_REQUESTS", std::to_string(requests[0]).c_str(), 1);
    ::setenv("PLUMB_REPLIES", std::to_string(replies[1]).c_str(), 1);
    backend = std::thread([this, requests, replies] {
      Gather gather;
      exit_code = serve(gather);
      ::close(requests[0]);
      ::close(replies[1]);
    });
  }
  ~Conversation() {
    if (backend.joinable()) finish();
    ::close(from);
    ::close(arena);
  }
  int finish() {
    ::close(to);
    backend.join();
    return exit_code;
  }
  void send(std::string line) {
    line += '\n';
    EXPECT_EQ(::write(to, line.data(), line.size()), std::ssize(line));
  }
  json ask(const json& request) {
    send(dump(request));
    std::string line;
    for (char c; ::read(from, &c, 1) == 1 && c != '\n';) line += c;
    return parse_json(line);
  }
  json hello() {
    return ask({
        {"type",     "hello"},
        {"versions", {1}    },
        {"arena",    path   },
        {"mesh",     mesh() }
    });
  }
  static json mesh() { return to_json(parse_mesh("x=2")); }
  json run(const std::string& dtype, std::size_t size) {
    EXPECT_EQ(::ftruncate(arena, static_cast<off_t>(size)), 0);
    const std::string line = "on x=2: reshard " + dtype + "[4@x] -> " + dtype + "[4]";
    return ask({
        {"type",     "run"                                           },
        {"id",       7                                               },
        {"line",     line                                            },
        {"arena",    size                                            },
        {"operands", {{{"offset", 0}, {"bytes", 16}, {"shape", {4}}}}},
        {"free",     16                                              }
    });
  }
};

TEST(Serve, AnswersHelloAndRunAndEndsWithTheRequests) {
  Conversation talk;
  const json hello = talk.hello();
  EXPECT_EQ(hello["type"], "hello");
  EXPECT_EQ(hello["version"], 1);
  EXPECT_EQ(hello["devices"]["count"], 2);

  for (std::size_t size : {4096, 1 << 20}) {  // the arena grows between requests
    const std::array<float, 4> data = {1, 2, 3, static_cast<float>(size)};
    ASSERT_EQ(::pwrite(talk.arena, data.data(), sizeof data, 0), 16);
    const json reply = talk.run("f32", size);
    EXPECT_EQ(reply["type"], "result");
    EXPECT_EQ(reply["id"], 7);
    EXPECT_EQ(reply["claims"], parse_json(R"(["f32[4]"])"));
    EXPECT_EQ(reply["received"], 0);
    std::vector<std::int64_t> words(reply["table"]["bytes"].get<std::size_t>() / 8);
    const off_t at = reply["table"]["offset"];
    ASSERT_EQ(::pread(talk.arena, words.data(), words.size() * 8, at), std::ssize(words) * 8);
    for (const Block& block : parse_table(words, reply["table"]["rows"])) {
      std::array<float, 4> got{};
      EXPECT_EQ(block.offset % 64, 0U);
      ASSERT_EQ(::pread(talk.arena, got.data(), sizeof got, static_cast<off_t>(block.offset)), 16);
      EXPECT_EQ(got, data);
    }
  }
  EXPECT_EQ(talk.finish(), 0);
}

TEST(Serve, SaysUnsupportedAndReneged) {
  Conversation talk;
  talk.hello();
  EXPECT_EQ(talk.run("f16", 4096),
            parse_json(R"({"type":"unsupported","id":7,"reason":"f16","source":"this test"})"));
  EXPECT_EQ(talk.run("f64", 4096),
            parse_json(R"({"type":"reneged","id":7,"message":"no \"f64\" today","detail":""})"));
}

TEST(Serve, AnArenaThatIsTooSmallIsReneged) {
  Conversation talk;
  talk.hello();
  const json reply = talk.run("f32", 64);
  EXPECT_EQ(reply["type"], "reneged");
  EXPECT_EQ(reply["message"], "the arena of 64 bytes has no room for 16 more after 16");
}

TEST(Skim, GivesTheSameWhereverTheCaseStands) {
  const std::string rest =
      R"("type":"run","id":7,"line":"L","seconds":0.5,"arena":64,"operands":[{"offset":8,"bytes":16,"shape":[4]}],"free":24)";
  const std::string c = R"("case":{"line":"M","operands":[{"offset":9}]})";
  for (const std::string& text : {"{" + rest + "}", "{" + rest + "," + c + "}", "{" + c + "," + rest + "}"}) {
    const Skimmed s = skim(text);
    EXPECT_EQ(std::tie(s.type, s.line, s.id, s.arena, s.free), std::make_tuple("run", "L", 7, 64, 24))
        << text;
    EXPECT_EQ(s.seconds, 0.5) << text;
    ASSERT_EQ(s.operands.size(), 1) << text;
    EXPECT_EQ(std::tie(s.operands[0].offset, s.operands[0].bytes), std::make_tuple(8, 16)) << text;
    EXPECT_THAT(s.operands[0].shape, testing::ElementsAre(4)) << text;
  }
  EXPECT_THROW(skim("{" + rest), Malformed);
  EXPECT_THROW(skim("{" + c + "," + rest), Malformed);
}

TEST(Serve, ARequestThatCannotBeReadEndsTheProgramWith2) {
  for (const char* request : {"{", "[]", R"({"type":"sing"})", R"({"type":"run"})", R"({"type":"hello"})"}) {
    Conversation talk;
    talk.send(request);
    EXPECT_EQ(talk.finish(), 2) << request;
  }
}

TEST(Serve, OptionsArePairs) {
  ::unsetenv("PLUMB_OPTIONS");
  EXPECT_TRUE(options().empty());
  ::setenv("PLUMB_OPTIONS", R"({"plan":"ring","fault":"drop"})", 1);
  EXPECT_THAT(options(), testing::ElementsAre(testing::Pair("fault", "drop"), testing::Pair("plan", "ring")));
  ::unsetenv("PLUMB_OPTIONS");
}

TEST(Serve, TheArenaHandsOutAlignedSpans) {
  std::vector<std::byte> bytes(256);
  Arena arena{bytes, 10};
  EXPECT_EQ(arena.offset(arena.take(1)), 64U);
  EXPECT_EQ(arena.offset(arena.take(0)), 128U);
  EXPECT_EQ(arena.offset(arena.take(128)), 128U);
  EXPECT_THROW(arena.take(1), std::length_error);
  EXPECT_THROW(arena.take(SIZE_MAX), std::length_error);
}

}  // namespace
}  // namespace plumb

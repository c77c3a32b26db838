// Replies that are not on the page: each has one message.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/backend/testing/fake.h"

namespace plumb {
namespace {

Answer answer(const Faults& faults) {
  Process process(fake(faults));
  return process.run(gather(), operands());
}

// A JSON patch of one step.
std::string set(const std::string& path, const std::string& value) {
  return R"([{"op":"add","path":")" + path + R"(","value":)" + value + "}]";
}
std::string replace(const std::string& path, const std::string& value) {
  return R"([{"op":"replace","path":")" + path + R"(","value":)" + value + "}]";
}
std::string without(const std::string& path) { return R"([{"op":"remove","path":")" + path + R"("}])"; }

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

struct Row {
  Faults faults;
  std::string message;  // the beginning of OffPage::what
};

void PrintTo(const Row& row, std::ostream* out) { *out << row.message; }

class Reply : public testing::TestWithParam<Row> {};

TEST_P(Reply, IsRefusedWithOneMessage) {
  const Answer got = answer(GetParam().faults);
  ASSERT_TRUE(std::holds_alternative<OffPage>(got)) << GetParam().message << ": " << got.index();
  EXPECT_THAT(std::get<OffPage>(got).what, testing::StartsWith(GetParam().message));
}

// The words of the fake's table: device, result, offset, bytes, ndim, nranges, begin, end; twice.
const Row rows[] = {
    // Malformed.
    {{"say", "hello there"}, "the reply: not JSON: \"hello there\""},
    {{"say", ""}, "the reply: not JSON: \"\""},
    {{"say", "[1]"}, "the reply: the message is not an object: [1]"},
    {{"say", R"({"type":"result","id":1)"}, "the reply: not JSON"},
    {{"say", "{\"type\":\"\xff\"}"}, "the reply: not UTF-8"},
    {{"say", R"({"type":"result","id":)" + nested(50000) + "}"},
     "the reply: id is not an integer: something deeply nested"},
    {{"say", nested(50000)}, "the reply: the message is not an object: something deeply nested"},
    {{"reply", without("/type")}, "the reply: field \"type\" is missing"},
    {{"reply", set("/type", R"("answer")")}, "the reply: unknown type \"answer\""},
    {{"reply", without("/id")}, "the reply: field \"id\" is missing"},
    {{"reply", set("/id", R"("1")")}, "the reply: id is not an integer: \"1\""},
    {{"reply", without("/table")}, "the reply: field \"table\" is missing"},
    {{"reply", without("/claims")}, "the reply: field \"claims\" is missing"},
    {{"reply", set("/trace", "7")}, "the reply: trace is not a list: 7"},
    {{"reply", replace("/claims", "{}")}, "the reply: claims is not a list: {}"},
    {{"reply", replace("/claims/0", "3")}, "the reply: a claim is not a string: 3"},
    {{"reply", replace("/times/run", "[-1]")}, "the reply: times.run is not a number of seconds: -1"},
    {{"reply", replace("/times/compile", R"("now")")}, "the reply: times.compile is not a number of seconds"},
    {{"reply", replace("/notes", "[3]")}, "the reply: notes is not a string: 3"},
    {{"reply", replace("/trace/0/kind", R"("gossip")")}, "the reply: unknown collective \"gossip\""},
    {{"reply", replace("/received", "-32")}, "the reply: received is not a count: -32"},
    {{"before", R"({"type":"phase","id":1,"phase":"lunch"})"}, "the reply: unknown phase \"lunch\""},
    {{"before", R"({"type":"alive"})"}, "the reply: field \"id\" is missing"},
    {{"reply", R"([{"op":"replace","path":"/type","value":"unsupported"}])"},
     "the reply: field \"reason\" is missing"},
    {{"reply", R"([{"op":"replace","path":"/type","value":"reneged"}])"},
     "the reply: field \"message\" is missing"},
    {{"reply", R"([{"op":"replace","path":"/type","value":"crashed"}])"},
     "the reply: field \"message\" is missing"},
    {{"say", R"({"type":"unsupported","id":1,"reason":""})"}, "the reply: reason is empty"},
    {{"say", R"({"type":"reneged","id":1,"message":"","detail":"more"})"}, "the reply: message is empty"},
    {{"say", R"({"type":"crashed","id":1,"message":" \n"})"}, "the reply: message is empty"},
    {{"say", R"({"type":"hung","id":1,"ranks":[1]})"}, "the reply: field \"message\" is missing"},
    {{"say", R"({"type":"hung","id":1,"message":"who?","ranks":[-1]})"}, "the reply: ranks is not a count: -1"},
    {{"say", R"({"type":"crashed","message":"m","type":"result","id":1})"}, "the reply: field \"type\" stands twice"},
    {{"say", R"({"type":"result","id":1,"trace":[{"kind":"send","in":1,"in":2}]})"}, "the reply: field \"in\" stands twice"},
    // The wrong reply, or too many.
    {{"reply", replace("/id", "9")}, "the reply: a reply to request 9, not to 1"},
    {{"reply", replace("/id", "0")}, "the reply: a second reply to request 0"},
    {{"after", R"({"type":"result","id":1})"}, "the reply: a second reply to request 1"},
    {{"after", "by the way"}, "the reply: not JSON: \"by the way\""},
    // The table.
    {{"reply", replace("/table/rows", "1")}, "the reply: 8 words follow the 1 rows of the table"},
    {{"reply", replace("/table/rows", "3")}, "the reply: the table ends in row 2"},
    {{"reply", replace("/table/rows", "-1")}, "the reply: the rows of the table is not a count: -1"},
    {{"reply", replace("/table/bytes", "127")}, "the reply: the table has 127 bytes, not a multiple of 8"},
    {{"reply", replace("/table/bytes", "9007199254740992")},
     "the reply: the table has 9007199254740992 bytes, more"},
    {{"reply", replace("/table/offset", "9007199254740992")}, "the reply: the table lies outside the arena"},
    {{"reply", replace("/table/offset", "-8")}, "the reply: the offset of the table is not a count: -8"},
    {{"table", replace("/4", "-2")}, "the reply: row 0 of the table: ndim is -2"},
    {{"table", replace("/4", "9223372036854775807")}, "the reply: the table ends in row 0"},
    // The blocks.
    {{"table", replace("/0", "1")}, "the reply: two blocks of device 1"},
    {{"table", replace("/0", "2")}, "the reply: a block of device 2, the mesh has 2"},
    {{"table", replace("/0", "-1")}, "the reply: a block of device -1, the mesh has 2"},
    {{"table", replace("/1", "1")}, "the reply: a block of result 1, the case has 1"},
    {{"table", replace("/2", "0")}, "the reply: the block of device 0 lies among the operands, at 0"},
    {{"table", replace("/2", "9007199254740992")}, "the reply: the block of device 0 lies outside the arena"},
    {{"table", replace("/2", "9223372036854775807")},
     "the reply: the block of device 0 lies outside the arena"},
    {{"table", replace("/2", "72")}, "the reply: the blocks of devices 0 and 1 overlap"},
    {{"table", replace("/3", "16")},
     "the reply: the block of device 0 has 16 bytes and claims a slice of 32"},
    {{"table", replace("/7", "4")}, "the reply: the block of device 0 has 32 bytes and claims a slice of 16"},
    {{"table", replace("/7", "9")}, "the reply: the block of device 0: the range 0:9 is outside 0:8"},
    {{"table", replace("/6", "-1")}, "the reply: the block of device 0: the range -1:8 is outside 0:8"},
    {{"table", replace("/6", "9")}, "the reply: the block of device 0: the range 9:8 ends before it begins"},
    {{"table", replace("/4", "0")}, "the reply: "},
    {{"reply", replace("/table/rows", "0")}, "the reply: 16 words follow"},
    {{"reply", replace("/table", R"({"offset":0,"rows":0,"bytes":0})")},
     "the reply: no block of device 0: 2 of 2"},
    // Claims and trace.
    {{"reply", replace("/claims", "[]")}, "the reply: 0 claims for 1 result"},
    {{"reply", replace("/claims/0", R"("f32[8@q]")")}, "the reply: a claim is not a spec over the mesh: \"f32[8@q]\": the mesh has no axis 'q', only x"},
    {{"reply", replace("/claims/0", R"("f32[8]?")")}, "the reply: a claim leaves its layout open"},
    {{"reply", set("/trace/0/groups", "[[0,1]]")},
     "the reply: collective 0 of the trace, all-gather: axes and groups are given, and exactly one of axes, "},
    {{"reply", without("/trace/0/axes")}, "the reply: collective 0 of the trace, all-gather: none is given, and exactly one"},
    {{"reply", replace("/trace/0/axes", R"(["q"])")},
     "the reply: collective 0 of the trace, all-gather: the mesh has no axis \"q\""},
    {{"reply", replace("/trace/0/axes", R"(["x","x"])")},
     "the reply: collective 0 of the trace, all-gather: axis \"x\" stands twice"},
    {{"reply", R"([{"op":"move","from":"/trace/0/axes","path":"/trace/0/groups"},
                   {"op":"replace","path":"/trace/0/groups","value":[[0,2]]}])"},
     "the reply: collective 0 of the trace, all-gather: the mesh has no device 2"},
    {{"reply", R"([{"op":"move","from":"/trace/0/axes","path":"/trace/0/groups"},
                   {"op":"replace","path":"/trace/0/groups","value":[[0,1],[1]]}])"},
     "the reply: collective 0 of the trace, all-gather: device 1 stands twice"},
    {{"reply", R"([{"op":"move","from":"/trace/0/axes","path":"/trace/0/groups"},
                   {"op":"replace","path":"/trace/0/groups","value":[[]]}])"},
     "the reply: collective 0 of the trace, all-gather: a group of no device"},
    {{"reply", R"([{"op":"move","from":"/trace/0/axes","path":"/trace/0/groups"},
                   {"op":"replace","path":"/trace/0/groups","value":[[0,1],[]]}])"},
     "the reply: collective 0 of the trace, all-gather: a group of no device"},
    {{"reply", R"([{"op":"move","from":"/trace/0/axes","path":"/trace/0/pairs"},
                   {"op":"replace","path":"/trace/0/kind","value":"collective-permute"},
                   {"op":"replace","path":"/trace/0/pairs","value":[[0,1],[1,1]]}])"},
     "the reply: collective 0 of the trace, collective-permute: device 1 stands twice"},
    {{"reply", R"([{"op":"move","from":"/trace/0/axes","path":"/trace/0/pairs"},
                   {"op":"replace","path":"/trace/0/pairs","value":[[0,1],[1,0]]}])"},
     "the reply: collective 0 of the trace, all-gather: pairs are of a permute or a send"},
    {{"reply", replace("/trace/0/kind", R"("collective-permute")")},
     "the reply: collective 0 of the trace, collective-permute: a permute says its pairs"},
    {{"reply", set("/trace/0/op", R"("add")")},
     "the reply: collective 0 of the trace, all-gather: op \"add\" is of what reduces, and nothing is"},
    // Words that nobody knows.
    {{"reply", R"([{"op":"replace","path":"/trace/0/kind","value":"all-reduce"},{"op":"add","path":"/trace/0/op","value":"amax"}])"},
     "the reply: collective 0 of the trace, all-reduce: unknown op \"amax\": the words are add, sum, avg, mean, average, max, "},
    {{"reply", R"([{"op":"replace","path":"/trace/0/kind","value":"all-reduce"},{"op":"add","path":"/trace/0/op","value":"ReduceOp.MAX"}])"},
     "the reply: collective 0 of the trace, all-reduce: unknown op \"ReduceOp.MAX\": the words are add, "},
    {{"reply", R"([{"op":"replace","path":"/trace/0/kind","value":"all-reduce"},{"op":"add","path":"/trace/0/op","value":""}])"},
     "the reply: op is empty"},
    {{"reply", set("/trace/0/dtype", R"("BF16")")},
     "the reply: collective 0 of the trace, all-gather: unknown dtype \"BF16\": the words are s8, s32, f8e4m3, "},
    {{"reply", set("/trace/0/dtype", R"("half")")}, "the reply: collective 0 of the trace, all-gather: unknown dtype \"half\""},
    {{"reply", set("/trace/0/dtype", R"("")")}, "the reply: dtype is empty"},
    {{"reply", R"([{"op":"remove","path":"/received"},{"op":"replace","path":"/trace/0","value":
                   {"kind":"send","axes":["x"],"in":16,"out":32,"moved":33}}])"},
     "the reply: collective 0 of the trace, send: it moved 33 bytes, and send over 2 devices, of 16 bytes to 32, moves 32 at most"},
    {{"reply", set("/trace/0/times", "0")}, "the reply: times is not from 1 to 4294967296: 0"},
    {{"reply", set("/trace/0/times", "4294967297")},
     "the reply: times is not from 1 to 4294967296: 4294967297"},
    {{"reply", replace("/received", "31")}, "the reply: received is 31 bytes, and the trace moved 32"},
    {{"reply", replace("/trace/0/moved", "9223372036854775807")}, "the reply: received is 32 bytes"},
    {{"reply", R"([{"op":"replace","path":"/trace/0","value":{"kind":"all-reduce","axes":["x"],"in":32,"out":32}},
                   {"op":"replace","path":"/received","value":3}])"},
     "the reply: received is 3 bytes, and the collectives of the trace move 32 at least"},
    {{"reply", R"([{"op":"replace","path":"/trace/0","value":{"kind":"all-reduce","axes":["x"],"in":32,"out":32}},
                   {"op":"replace","path":"/received","value":0}])"},
     "the reply: received is 0 bytes, and the collectives of the trace move 32 at least"},
    {{"reply", R"([{"op":"replace","path":"/trace/0","value":{"kind":"all-reduce","axes":["x"],"in":10000000,"out":10000000}},
                   {"op":"replace","path":"/received","value":60}])"},
     "the reply: received is 60 bytes, and the collectives of the trace move 10000000 at least"},
    {{"reply", R"([{"op":"add","path":"/trace/-","value":{"kind":"all-reduce","axes":["x"],"in":32,"out":32}},
                   {"op":"replace","path":"/received","value":35}])"},
     "the reply: received is 35 bytes, and the collectives of the trace move 64 at least"},
    {{"reply", R"([{"op":"copy","from":"/trace/0","path":"/trace/-"},{"op":"remove","path":"/trace/1/moved"},
                   {"op":"replace","path":"/received","value":31}])"},
     "the reply: received is 31 bytes, and the collectives of the trace that say so moved 32"},
    {{"reply", R"([{"op":"remove","path":"/received"},{"op":"replace","path":"/trace/0/moved","value":49}])"},
     "the reply: collective 0 of the trace, all-gather: it moved 49 bytes, and all-gather over 2 devices, of 16 bytes to 32, moves 48 at most"},
    {{"reply", R"([{"op":"remove","path":"/received"},{"op":"replace","path":"/trace/0/moved","value":15}])"},
     "the reply: collective 0 of the trace, all-gather: it moved 15 bytes, and all-gather over 2 devices, of 16 bytes to 32, moves 16 at least"},
    // hello.
    {{"hello", replace("/type", R"("hi")")}, "the reply to hello: it is not a hello"},
    {{"hello", replace("/version", "2")}, "the reply to hello: version 2 was not offered"},
    {{"hello", without("/name")}, "the reply to hello: field \"name\" is missing"},
    {{"hello", set("/capabilities/dtypes", R"(["f12"])")}, "the reply to hello: dtypes: no dtype \"f12\""},
    {{"hello", set("/capabilities/rules", R"(["round"])")},
     "the reply to hello: rules: unknown word \"round\""},
    {{"hello", set("/capabilities/tail", R"("long")")}, "the reply to hello: tail: unknown word \"long\""},
    {{"hello", set("/capabilities/clones", "1")}, "the reply to hello: clones is not true or false: 1"},
    {{"hello", set("/capabilities/max_devices", "-1")}, "the reply to hello: max_devices is not a count: -1"},
    {{"hello", replace("/versions", "[1]")}, "the reply to hello: versions is not an object: [1]"},
};
INSTANTIATE_TEST_SUITE_P(Table, Reply, testing::ValuesIn(rows));

TEST(Reply, MayBeUnsupportedOrReneged) {
  const Answer no = answer({"say", R"({"type":"unsupported","id":1,"reason":"uneven","source":"a table"})"});
  EXPECT_EQ(std::get<Unsupported>(no).reason, "uneven");
  EXPECT_EQ(std::get<Unsupported>(no).source, "a table");
  const Answer oh = answer({"say", R"({"type":"reneged","id":1,"message":"ValueError: x"})"});
  EXPECT_EQ(std::get<Reneged>(oh).message, "ValueError: x");
}

TEST(Reply, MaySayNothingOfASliceAndLeaveOutWhatIsOptional) {
  for (const Faults& faults :
       {Faults{"reply", without("/times")}, Faults{"reply", without("/received")},
        Faults{"reply", without("/notes")}, Faults{"reply", replace("/claims/0", "null")},
        Faults{"before", R"({"type":"alive","id":1})"}, Faults{"after", R"({"type":"alive","id":1})"},
        Faults{"before", R"({"type":"phase","id":1,"phase":"run"})"},
        Faults{"reply", set("/later", "[1,2]")}})
    EXPECT_TRUE(std::holds_alternative<Outcome>(answer(faults))) << faults[1];
}

TEST(Reply, ATraceThatNobodyKnowsIsASendOfUnknownBytes) {
  for (const char* unknown : {R"({"op":"remove","path":"/trace"})", R"({"op":"replace","path":"/trace","value":null})"}) {
    const Answer reply =
        answer({"reply", std::string("[") + unknown + R"(,{"op":"remove","path":"/received"}])"});
    const Trace& trace = std::get<Outcome>(reply).trace;
    ASSERT_EQ(trace.size(), 1U);
    EXPECT_EQ(trace[0].kind, "send");
    EXPECT_EQ(trace[0].moved, -1);
  }
}

// Of two devices: what leaves open who sent how much to whom is no trace; what says one of these is.
TEST(Reply, ATraceThatSaysNothingIsAbsent) {
  const char* const everybody[] = {"", R"(,"axes":[])", R"(,"axes":["x"])", R"(,"groups":[[1,0]])"};
  const char* const somebody[] = {R"(,"groups":[[0],[1]])", R"(,"pairs":[[0,1]])"};
  const char* const unknown[] = {"", R"(,"moved":-1)", R"(,"times":3,"note":"a loop")"};
  const auto traced = [](const std::string& collectives) {
    const std::string edit = fmt::format(
        R"([{{"op":"replace","path":"/trace","value":[{}]}},{{"op":"remove","path":"/received"}}])", collectives);
    return std::get<Outcome>(answer({"reply", edit})).traced;
  };
  const auto send = [](int in, int out, const char* who, const char* rest) {
    return fmt::format(R"({{"kind":"send","in":{},"out":{}{}{}}})", in, out, who, rest);
  };
  const std::string gather = R"({"kind":"all-gather","axes":["x"],"in":16,"out":32})";
  EXPECT_TRUE(traced(""));
  for (const char* rest : unknown) {
    for (const char* who : everybody) {
      const std::string open = send(0, 0, who, rest);
      EXPECT_FALSE(traced(open)) << open;
      EXPECT_FALSE(traced(open + "," + open)) << open;
      EXPECT_TRUE(traced(open + "," + gather)) << open;
      EXPECT_TRUE(traced(send(16, 0, who, rest))) << open;
      EXPECT_TRUE(traced(send(0, 16, who, rest))) << open;
    }
    for (const char* who : somebody) EXPECT_TRUE(traced(send(0, 0, who, rest))) << who << rest;
  }
  for (const char* who : everybody) EXPECT_TRUE(traced(send(0, 0, who, R"(,"moved":0)"))) << who;
}

TEST(Reply, APlanHasNoBlocks) {
  const std::string plans = set("/capabilities/data", R"("none")");
  EXPECT_TRUE(std::holds_alternative<Outcome>(answer({"hello", plans, "reply", without("/table")})));
}

TEST(Reply, ClonesMayShareTheirBytes) {
  const std::string clones = set("/capabilities/clones", "true");
  EXPECT_TRUE(std::holds_alternative<Outcome>(answer({"hello", clones, "table", replace("/2", "72")})));
}

}  // namespace
}  // namespace plumb

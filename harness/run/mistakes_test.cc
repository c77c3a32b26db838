// Mistakes that authors of backends make: the verdict that each gets, and the words that tell its author.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/run/attempt.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

// Those of harness/backend/testing/fake.cc, whose backend is right where it has none; or another command.
struct Mistake {
  const char *what, *faults, *verdict, *words;
  double seconds = 20;
};

// clang-format off
const Mistake mistakes[] = {
    // the program
    {"none", "", "pass", ""},
    {"is not there", "!/bin/sh -c /nowhere/backend", "crashed", "exited with code 127"},
    {"is not a program", "!/bin/sh -c 'exec /etc/passwd'", "crashed", "exited with code 126"},
    {"ends at once", "!/bin/true", "crashed", "exited with code 0 before its hello; requests come on the descriptor PLUMB_REQUESTS"},
    {"reads standard input", "!/bin/sh -c 'read line'", "crashed", "exited with code 1 (in start)"},
    {"prints its hello", "!/bin/sh -c 'echo {\\\"type\\\":\\\"hello\\\"}'", "malformed", "the reply to hello: it came on standard output or standard error, not on the descriptor PLUMB_REPLIES"},
    {"prints its hello and waits", "!/bin/sh -c 'echo {\\\"type\\\":\\\"hello\\\"}; sleep 60'", "malformed", "the reply to hello: it came on standard output", 1.5},
    {"never says hello", "nap 60", "hung", "no reply within 1.5", 1.5},
    {"dies of a signal", "die 11", "crashed", "killed by signal 11 (Segmentation fault)"},
    {"aborts", "die 6", "crashed", "killed by signal 6 (Aborted)"},
    {"exits with a failure", "exit 3", "crashed", "exited with code 3"},
    {"exits without a reply", "exit 0", "crashed", "exited with code 0"},
    {"closes its replies", "close 1", "crashed", "closed its channel"},
    {"never replies", "sleep 60", "hung", "no reply within 1.5", 1.5},
    {"spins", "spin 1", "hung", "no reply within 1.5", 1.5},
    {"stops", "stop 1", "hung", "no reply within 1.5", 1.5},
    {"is alive for ever", "alive 600", "hung", "of compile", 1.5},
    {"shortens the arena", "truncate 1", "pass", ""},  // a seal keeps it
    {"prints much", "print ....", "pass", ""},

    // the line
    {"no newline", "bare {\"type\":\"result\",\"id\":1}", "malformed", "the reply: it has no newline at its end: \"{", 1.5},
    {"no newline, then ends", "bare {\"type\":\"result\",\"id\":1} leave 0", "malformed", "it has no newline at its end"},
    {"half a line, then ends", "bare {\"type\":\"res leave 0", "malformed", "it has no newline at its end: \"{\\\"type\\\":\\\"res\""},
    {"half a line, then fails", "bare {\"type\" leave 1", "crashed", "exited with code 1"},
    {"half a line, then waits", "bare {\"type\"", "hung", "no reply within", 1.5},
    {"prints its reply", "print {\"type\":\"result\",\"id\":1} sleep 60", "malformed", "the reply: it came on standard output or standard error, not on the descriptor PLUMB_REPLIES", 1.5},
    {"prints its reply and ends", "print {\"type\":\"result\",\"id\":1} exit 0", "malformed", "it came on standard output"},
    {"prints JSON of its own", "print {\"type\":\"log\"}", "pass", ""},
    {"talks among the replies", "before loading", "malformed", "the reply: not JSON: \"loading\""},
    {"talks after the reply", "after done", "malformed", "the reply: not JSON: \"done\""},
    {"an empty line", "before ", "malformed", "the reply: not JSON: \"\""},
    {"replies on two lines", "say {", "malformed", "a message is one line, and this one ends amid an object"},
    {"replies twice", "after {\"type\":\"result\",\"id\":1}", "malformed", "a second reply to request 1"},
    {"not JSON", "say {type:1}", "malformed", "not JSON"},
    {"a comma too many", "say {\"type\":\"result\",}", "malformed", "not JSON"},
    {"not a number", "say {\"type\":\"result\",\"id\":nan}", "malformed", "not JSON"},
    {"a byte 0", "zero 1", "malformed", "a byte 0 stands in the line, at byte 9"},
    {"not UTF-8", "say {\"type\":\"\xe9\"}", "malformed", "not UTF-8"},
    {"a list", "say [1]", "malformed", "the message is not an object: [1]"},
    {"a string", "say \"ok\"", "malformed", "the message is not an object: \"ok\""},
    {"no type", "reply remove /type", "malformed", "field \"type\" is missing"},
    {"another type", "reply /type \"answer\"", "malformed", "unknown type \"answer\""},
    {"refuses what is no resolve", "reply /type \"refused\"", "malformed", "unknown type \"refused\""},
    {"no id", "reply remove /id", "malformed", "field \"id\" is missing"},
    {"an id as text", "reply /id \"1\"", "malformed", "id is not an integer: \"1\""},
    {"the id of another", "reply /id 9", "malformed", "a reply to request 9, not to 1"},
    {"an id that is no whole number", "reply /id 1.0", "malformed", "id is not an integer: 1.0"},
    {"another phase", "before {\"type\":\"phase\",\"id\":1,\"phase\":\"lunch\"}", "malformed", "unknown phase \"lunch\""},
    {"a phase without id", "before {\"type\":\"phase\",\"phase\":\"run\"}", "malformed", "field \"id\" is missing"},
    {"alive without id", "before {\"type\":\"alive\"}", "malformed", "field \"id\" is missing"},
    {"unsupported without words", "say {\"type\":\"unsupported\",\"id\":1}", "malformed", "field \"reason\" is missing"},
    {"unsupported, blank", "say {\"type\":\"unsupported\",\"id\":1,\"reason\":\"\"}", "malformed", "reason is empty"},
    {"unsupported amid the run", "before {\"type\":\"phase\",\"id\":1,\"phase\":\"run\"} say {\"type\":\"unsupported\",\"id\":1,\"reason\":\"too-big\"}", "reneged", "unsupported, said after the phase run: too-big"},
    {"unsupported in time", "say {\"type\":\"unsupported\",\"id\":1,\"reason\":\"too-big\"}", "unsupported", "too-big"},
    {"reneged without words", "say {\"type\":\"reneged\",\"id\":1}", "malformed", "field \"message\" is missing"},
    {"reneged", "say {\"type\":\"reneged\",\"id\":1,\"message\":\"E\"}", "reneged", "E"},

    // hello
    {"no hello", "hello /type \"hi\"", "malformed", "the reply to hello: it is not a hello"},
    {"no version", "hello remove /version", "malformed", "the reply to hello: field \"version\" is missing"},
    {"another version", "hello /version 2", "malformed", "version 2 was not offered"},
    {"the version as text", "hello /version \"1\"", "malformed", "version is not an integer: \"1\""},
    {"no name", "hello remove /name", "malformed", "field \"name\" is missing"},
    {"versions as numbers", "hello /versions {\"a\":1}", "malformed", "versions is not a string: 1"},
    {"versions as text", "hello /versions \"1\"", "malformed", "versions is not an object: \"1\""},
    {"devices as a number", "hello /devices 2", "malformed", "devices is not an object: 2"},
    {"no device", "hello /devices/count 0", "malformed", "the count of devices is 0"},
    {"the count as text", "hello /devices/count \"2\"", "malformed", "the count of devices is not an integer: \"2\""},
    {"no kind of devices", "hello remove /devices/kind", "malformed", "field \"kind\" is missing"},
    {"fewer devices than the mesh", "hello /devices/count 1", "unsupported", "2 devices (devices.count is 1)"},
    {"alone as a number", "hello /alone 1", "malformed", "alone is not true or false: 1"},
    {"capabilities as a list", "hello /capabilities [\"reshard\"]", "malformed", "capabilities is not an object"},
    {"a misspelt capability", "hello /capabilities/maxdevices 4", "malformed", "capabilities: there is no field \"maxdevices\", did you mean \"max_devices\"?"},
    {"a capability that there is not", "hello /capabilities/color 4", "malformed", "capabilities: there is no field \"color\""},
    {"an op that there is not", "hello /capabilities/ops [\"matmul\"]", "malformed", "ops: unknown word \"matmul\""},
    {"ops as text", "hello /capabilities/ops \"reshard\"", "malformed", "ops is not a list: \"reshard\""},
    {"a dtype that there is not", "hello /capabilities/dtypes [\"float32\"]", "malformed", "dtypes: no dtype \"float32\""},
    {"a role that there is not", "hello /capabilities/dtypes {\"multiply\":[\"f32\"]}", "malformed", "there is no role and no op \"multiply\", did you mean \"multiplied\"?"},
    {"a role's dtype", "hello /capabilities/dtypes {\"moved\":[\"bf16\"]}", "unsupported", "moved f32 (capabilities)"},
    {"max_devices as text", "hello /capabilities/max_devices \"8\"", "malformed", "max_devices is not an integer: \"8\""},
    {"max_devices below 0", "hello /capabilities/max_devices -1", "malformed", "max_devices is not a count: -1"},
    {"clones as a number", "hello /capabilities/clones 1", "malformed", "clones is not true or false: 1"},
    {"a rule that there is not", "hello /capabilities/rules [\"round\"]", "malformed", "rules: unknown word \"round\""},
    {"data that there is not", "hello /capabilities/data \"no\"", "malformed", "data: unknown word \"no\""},

    // arena and table: device, result, offset, bytes, ndim, nranges, begin, end
    {"never writes its blocks", "lazy 1", "leaked", ""},
    {"writes into the operand", "scribble 1", "malformed", "the program wrote into operand 0, first at byte 9 of 32"},
    {"no table", "reply remove /table", "malformed", "field \"table\" is missing"},
    {"the table elsewhere", "reply /table/offset 512", "malformed", "the table at 512 is all ones: nothing was written there"},
    {"the table among the operands", "reply /table/offset 0", "malformed", "the table lies among the operands, at 0; the program's part of the arena begins at 64"},
    {"the table beyond the arena", "reply /table/offset 9007199254740992", "malformed", "the table lies outside the arena"},
    {"offsets from `free`", "base -64", "malformed", "the block of device 0 lies among the operands, at 0"},
    {"bytes that are words", "reply /table/bytes 16", "malformed", "the table ends in row 0"},
    {"bytes that are no words", "reply /table/bytes 127", "malformed", "not a multiple of 8"},
    {"a row too few", "reply /table/rows 1", "malformed", "8 words follow the 1 rows of the table"},
    {"a row too many", "reply /table/rows 3", "malformed", "the table ends in row 2"},
    {"one device twice", "table /0 1", "malformed", "two blocks of device 1"},
    {"a device that there is not", "table /0 2", "malformed", "a block of device 2, the mesh has 2"},
    {"a result that there is not", "table /1 1", "malformed", "a block of result 1, the case has 1"},
    {"one block for two devices", "table /10 64", "malformed", "the blocks of devices 0 and 1 overlap, and the backend did not say clones"},
    {"a block beyond the arena", "table /2 9007199254740992", "malformed", "the block of device 0 lies outside the arena"},
    {"a block of elements, not bytes", "table /3 8", "malformed", "the block of device 0 has 8 bytes and claims a slice of 32"},
    {"the size in place of the end", "table /7 9", "malformed", "the block of device 0: the range 0:9 is outside 0:8"},
    {"half a slice", "table /7 4", "malformed", "the block of device 0 has 32 bytes and claims a slice of 16"},
    {"no dimension", "table /4 0", "malformed", "the reply: "},

    // claims and trace
    {"no claims", "reply remove /claims", "malformed", "field \"claims\" is missing"},
    {"claims as text", "reply /claims \"f32[8]\"", "malformed", "claims is not a list: \"f32[8]\""},
    {"a claim too few", "reply /claims []", "malformed", "0 claims for 1 result"},
    {"a claim that is no spec", "reply /claims [\"replicated\"]", "malformed", "a claim is not a spec over the mesh"},
    {"a claim that is left open", "reply /claims [\"f32[8]?\"]", "malformed", "a claim leaves its layout open"},
    {"a claim that says how it is quantized", "reply /claims [\"f32[8]~fp8\"]", "malformed", "a claim says a scheme, which is no layout"},
    {"a claim on another axis", "reply /claims [\"f32[8@q]\"]", "malformed", "a claim is not a spec over the mesh"},
    {"a claim that is wrong", "reply /claims [\"f32[8@x]\"]", "misplaced", ""},
    {"a trace as an object", "reply /trace {}", "malformed", "trace is not a list: {}"},
    {"a kind that there is not", "reply /trace/0/kind \"AllGather\"", "malformed", "unknown collective \"AllGather\""},
    {"no bytes", "reply remove /trace/0/in", "malformed", "field \"in\" is missing"},
    {"bytes below 0", "reply /trace/0/in -1", "malformed", "in is not a count: -1"},
    {"axes and groups", "reply /trace/0/groups [[0,1]]", "malformed", "axes and groups are given, and exactly one of axes, groups and pairs says who takes part"},
    {"nobody", "reply remove /trace/0/axes", "malformed", "none is given, and exactly one of axes, groups and pairs says who takes part"},
    {"axes as text", "reply /trace/0/axes \"x\"", "malformed", "axes is not a list: \"x\""},
    {"an axis that the mesh has not", "reply /trace/0/axes [\"y\"]", "malformed", "the mesh has no axis \"y\""},
    {"an axis twice", "reply /trace/0/axes [\"x\",\"x\"]", "malformed", "axis \"x\" stands twice"},
    {"a permute without pairs", "reply /trace/0/kind \"collective-permute\"", "malformed", "a permute says its pairs"},
    {"no time", "reply /trace/0/times 0", "malformed", "times is not from 1 to 4294967296: 0"},
    {"received without what moved", "reply [{\"op\":\"remove\",\"path\":\"/trace/0/moved\"}]", "pass", ""},
    {"received, and nobody knows what moved", "reply /trace/0/moved -1", "pass", ""},
    {"received without a trace", "reply remove /trace", "pass", ""},
    {"received more than the trace can have moved", "reply [{\"op\":\"remove\",\"path\":\"/trace/0/moved\"},{\"op\":\"replace\",\"path\":\"/received\",\"value\":49}]", "malformed", "received is 49 bytes, and the trace can have moved 48 at most"},
    {"an all-to-all that receives more than is sent", "reply [{\"op\":\"replace\",\"path\":\"/trace/0\",\"value\":{\"kind\":\"all-to-all\",\"axes\":[\"x\"],\"in\":16,\"out\":32,\"moved\":33}},{\"op\":\"remove\",\"path\":\"/received\"}]", "malformed", "collective 0 of the trace, all-to-all: it moved 33 bytes, and all-to-all over 2 devices, of 16 bytes to 32, moves 32 at most"},
    {"half a float", "reply [{\"op\":\"replace\",\"path\":\"/trace/0\",\"value\":{\"kind\":\"all-reduce\",\"axes\":[\"x\"],\"in\":34,\"out\":34,\"dtype\":\"f32\"}},{\"op\":\"remove\",\"path\":\"/received\"}]", "malformed", "collective 0 of the trace, all-reduce: 34 bytes are no whole number of f32"},
    {"a group of an axis that there is not", "reply /groups [[\"q\"]]", "malformed", "groups: the mesh has no axis \"q\""},
    {"a group of an axis twice", "reply /groups [[\"x\",\"x\"]]", "malformed", "groups: axis \"x\" stands twice"},
    {"received otherwise", "reply /received 31", "malformed", "received is 31 bytes, and the trace moved 32"},
    {"seconds as text", "reply /times/compile \"1s\"", "malformed", "times.compile is not a number of seconds: \"1s\""},
    {"seconds below 0", "reply /times/run [-1]", "malformed", "times.run is not a number of seconds: -1"},
    {"seconds as a number", "reply /times/run 1", "malformed", "times.run is not a list: 1"},
    {"times as a number", "reply /times 1", "malformed", "times is not an object: 1"},
    {"notes as text", "reply /notes \"n\"", "malformed", "notes is not a list: \"n\""},
    {"a plan as text", "reply /plan \"p\"", "malformed", "plan is not an object: \"p\""},
    {"a field of its own", "reply /extra 1", "pass", ""},
};
// clang-format on

// "reply /id 9" is a JSON patch that sets, "reply remove /id" one that takes away; words of other faults
// stand in pairs.
std::string command(std::string_view faults) {
  if (faults.starts_with('!')) return std::string(faults.substr(1));
  std::vector<std::string> words;
  for (std::size_t at = 0; at < faults.size();) {
    const std::size_t end = std::min(faults.find(' ', at), faults.size());
    words.emplace_back(faults.substr(at, end - at));
    at = end + 1;
  }
  if (faults.ends_with(' ')) words.emplace_back();
  if (words.size() == 3 && words[1] == "remove")
    words = {words[0], R"([{"op":"remove","path":")" + words[2] + R"("}])"};
  else if (words.size() == 3)  // a table is a list, into which `add` would insert
    words = {words[0], fmt::format(R"([{{"op":"{}","path":"{}","value":{}}}])",
                                   words[0] == "table" ? "replace" : "add", words[1], words[2])};
  std::string all = PLUMB_FAKE;
  for (const std::string& word : words) all += " '" + word + "'";
  return all;
}

static_assert(std::size(mistakes) >= 90);

struct EveryMistake : testing::TestWithParam<Mistake> {};

TEST_P(EveryMistake, HasAVerdictAndWords) {
  const Mistake& mistake = GetParam();
  Settings settings;
  settings.deadlines = {mistake.seconds, mistake.seconds, mistake.seconds};
  Subject subject(command(mistake.faults), settings);
  const Record record = attempt(parse_case("on x=2: reshard f32[8@x] -> f32[8]"), subject);
  const std::string said = record.verdict.facts.empty() ? "" : record.verdict.facts[0].text;
  EXPECT_EQ(name(record.verdict.status), mistake.verdict) << mistake.what << ": " << said;
  EXPECT_THAT(said, testing::HasSubstr(mistake.words)) << mistake.what;
}

INSTANTIATE_TEST_SUITE_P(OfAll, EveryMistake, testing::ValuesIn(mistakes));

TEST(Mistakes, ClonesReachTheRecord) {
  const auto clones = [](const std::string& faults) {
    Subject subject(command(faults), {});
    return attempt(parse_case("on x=2: reshard f32[8@x] -> f32[8]"), subject).verdict.clones;
  };
  EXPECT_FALSE(clones(""));
  EXPECT_TRUE(clones("hello /capabilities/clones true"));
}

// Parts whose sum is the wanted number only once it is rounded, and parts whose sum is the next.
TEST(Mistakes, PartsAreRoundedByWhoSaysSoAlone) {
  const std::string says = " hello [{\"op\":\"add\",\"path\":\"/capabilities/parts\",\"value\":\"rounded\"}]";
  const auto verdict = [](const std::string& faults) {
    Subject subject(command(faults), {});
    return attempt(parse_case("on x=2: reshard f32[8@x] -> f32[8]+x"), subject).verdict;
  };
  EXPECT_EQ(verdict("share 0").status, Status::pass);
  EXPECT_EQ(verdict("share 0.25").status, Status::wrong);
  const Verdict said = verdict("share 0.25" + says);
  EXPECT_EQ(said.status, Status::pass);
  EXPECT_EQ(said.rounded, 8) << "by the bound";
  EXPECT_EQ(verdict("share 0.75" + says).status, Status::wrong);
}

}  // namespace
}  // namespace plumb

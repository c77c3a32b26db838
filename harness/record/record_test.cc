#include "harness/record/record.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <set>

#include "adapters/protocol/json.h"
#include "adapters/protocol/vocabulary.h"
#include "harness/record/environment.h"
#include "harness/record/testing/golden.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// A record in which every field says something.
Record full() {
  Record r;
  r.line = "on x=2: reshard f32[4]+x -> f32[4]";
  r.backend = "liar,fault=drop-reduce";
  r.program = "plumb-liar";
  r.run = "2026-01-31T02:03:04Z-5f3a09c2";
  r.processes = {"41 plumb-liar: waits in read(3)", "  42 plumb-liar: runs"};
  r.ranks = {2};
  r.versions = {
      {"plumb-liar", "0.1.0"}
  };
  r.limits = {1.5, 2, 60, 1};
  r.verdict.status = Status::wrong;
  r.verdict.alone = true;
  r.verdict.plan = true;
  r.verdict.clones = true;
  r.verdict.rounded = 5;
  r.verdict.in_place = true;
  r.verdict.facts = {fact(Status::wrong, "4 elements on 2 devices"),
                     fact(Status::diverged, "device 1 (x=1) differs from device 0 (x=0)")};
  r.verdict.facts[0].place = Place{2, 8, 1, "x=1", {3}, "2 (0x40000000)", "1 (0x3f800000)"};
  r.verdict.facts[0].cause = "the sum over x is left unfinished";
  Explanation other{
      {{"unknown_is_axis"}, {"own_scale_for_all", {"y"}, 1}},
      "axis 'x' stands twice in one value"
  };
  r.verdict.facts[0].explanations = {{{{"sum_unfinished", {"x"}}}}, other};
  r.verdict.facts[0].bound = "8 x 2^-24";
  r.verdict.facts[1].seed = 18446744073709551615u;
  Collective collective;
  collective.kind = "all-reduce";
  collective.groups = {
      {0, 1}
  };
  collective.in = collective.out = 16;
  collective.moved = 32;
  collective.op = "add", collective.additions = 1, collective.roundings = 2;
  Collective named;
  named.kind = "collective-permute";
  named.axes.push_back("x");
  named.pairs.emplace_back(0, 1);
  named.dtype = "f32", named.note = "a \"note\"", named.times = 3, named.moved = -1;
  Collective idle;
  idle.kind = "all-gather", idle.groups = {{}, {1}};
  r.trace = {collective, named, idle};
  r.cost = {32, 32, 32};
  r.times = {
      0.001, 0.002, 0.003, 0.004, 0.005, {0.25, 0.5}
  };
  Repetition timed;
  timed.number = timed.launch = 2, timed.of = 5, timed.stop = "budget";
  timed.timing = {2, 20, 2, Sync::window};
  timed.samples = {
      {1500.5,                    1600},
      {1,                         0   },
      {20,                        0   },
      1,
      {{1, -5000.5, 20, 1.25, 3}},
      9000,
      {{7, {100, 6000, -1}, {3050, 9200, -1}}, {8, {90, 6010, 9500}, {3091, 9010, 9800}}}
  };
  timed.outside = {30, 29};
  timed.collectives = {
      {7, {200, 210}, {290, 280}},
      {8, {201, 211}, {291, 281}}
  };
  timed.limits = {
      {"send", 1200.25}
  };
  timed.control = {1250.5, 1300};
  timed.work = {"all-reduce", 2, 16, 1, 0};
  timed.places = {"0-1: host 0, cores 0-1"};
  timed.links = {
      {{0, 1}, 1000.5, 2000}
  };
  timed.mhz_before = 2600, timed.mhz_after = 1200, timed.load = 1.5;
  timed.step = 10, timed.seconds = 0.0625, timed.lost = "send: no reply within 2 seconds";
  r.bench = timed;
  r.certificate = "sum of 2 parts: 3 <= 16777216";
  r.scope = "any split";
  r.engine = "matrix";
  r.shown = Shown{
      {14, 16},
      22
  };
  r.notes = {"reduce-scatter not formed"};
  r.collectives = Collectives{3, 1, {"3 all-reduces over x, y and z in one"}};
  r.replica_safe = true;
  r.last_words = "Segmentation fault\n";
  return r;
}

// It has every member, and so both of what no one record has: times, and what is wrong.
Record without_times() {
  Record r = full();
  r.bench.reset();
  return r;
}

Record with_times() {
  Record r = full();
  r.verdict.status = Status::pass, r.verdict.facts.clear();
  return r;
}

const json fixed = {
    {"plumbline", "0.1.0"              },
    {"compiler",  "GNU 12.2.0"         },
    {"cpu",       "a processor"        },
    {"cores",     2                    },
    {"os",        "an operating system"}
};

json json_of(const Record& r) { return parse_json(json_text(r, dump(fixed))); }

TEST(Record, IsItsJson) {
  for (const Record& r : {without_times(), with_times(), Record{}}) EXPECT_EQ(json_of(record_from_json(json_of(r))), json_of(r));
  for (const Record& r : {full(), Record{}}) EXPECT_EQ(json_text(r, dump(fixed)), dump(json_of(r)));
  Record broken;
  broken.last_words = "\xff\"";
  EXPECT_EQ(json_of(broken)["last_words"], "\uFFFD\"");
}

// A change of names or of what they mean is one of the schema: results/schema.json, results/README.md,
// record_schema.
TEST(Record, Golden) { expect_golden(json_of(full()).dump(2) + '\n', PLUMB_GOLDEN "/record.json"); }

TEST(Record, TheSchemaNamesItsFields) {
  const json schema = parse_json(file_contents(PLUMB_SCHEMA));
  const json j = json_of(full());
  for (const auto& [name, value] : j.items()) EXPECT_TRUE(schema.at("properties").contains(name)) << name;
  for (const auto& [name, value] : schema.at("properties").items()) EXPECT_TRUE(j.contains(name)) << name;
  const json least = json_of(Record{});
  for (const json& name : schema.at("required")) EXPECT_TRUE(least.contains(name.get<std::string>())) << name;
  EXPECT_EQ(schema.at("properties").at("schema").at("enum"), json::array({1, record_schema}));
  const json& words = schema.at("$defs").at("status").at("enum");
  EXPECT_EQ(words.size(), static_cast<std::size_t>(statuses));
  for (const json& word : words) EXPECT_TRUE(status_named(word.get<std::string>())) << word;
}

// Those that a reply may have.
TEST(Record, TheSchemaNamesTheWordsOfATrace) {
  const json schema = parse_json(file_contents(PLUMB_SCHEMA));
  for (const auto& [field, words] : {
           std::pair{"op", op_words()},
           {"dtype", moved_types()}
  }) {
    std::vector<std::string> said;
    for (const json& word : schema.at("$defs").at("collective").at("properties").at(field).at("enum"))
      said.push_back(word);
    EXPECT_EQ(fmt::format("{}", fmt::join(said, ", ")), words);
  }
}

// The codes of the schema are those that have words, and it says these words.
TEST(Record, TheSchemaNamesTheCodesOfCauses) {
  const json schema = parse_json(file_contents(PLUMB_SCHEMA));
  std::vector<std::string> codes;
  for (const json& one :
       schema.at("/$defs/explanation/properties/causes/items/properties/code/oneOf"_json_pointer)) {
    codes.push_back(one.at("const"));
    EXPECT_EQ(one.at("description"), cause_words(codes.back()));
  }
  EXPECT_EQ(codes, cause_codes());
}

// What older records say of a cause is its words.
TEST(Record, ACauseWithoutDataStays) {
  json old = json_of(without_times());
  old["facts"][0].erase("explanations");
  EXPECT_EQ(json_of(record_from_json(old)), old);
}

// Published ones are of version 1 and stay so.
TEST(Record, AnOlderSchemaIsRead) {
  json old = json_of(without_times());
  old["schema"] = 1;
  EXPECT_EQ(json_of(record_from_json(old)), json_of(without_times()));
  EXPECT_TRUE(holds_under(record_from_json(old), without_times().limits));
  old.erase("data");
  EXPECT_FALSE(holds_under(record_from_json(old), without_times().limits)) << "on data of the first generation";
}

TEST(Record, AForeignOneSaysWhatIsMissing) {
  const auto complaint = [](const json& j) {
    try {
      record_from_json(j);
    } catch (const BadInput& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  json j = json_of(without_times());
  EXPECT_THAT(complaint(json::array()), HasSubstr("no object"));
  for (int schema : {0, record_schema + 1}) {
    j = json_of(without_times());
    j["schema"] = schema;
    EXPECT_THAT(complaint(j), HasSubstr("schema " + std::to_string(schema)));
  }
  const json whole = json_of(without_times());
  for (const auto& [name, value] : whole.items()) {
    const std::set<std::string> optional{
        "environment", "judged",  "last_words", "data",  "collectives", "replica_safe", "limits", "rounded",
        "processes",   "program", "engine",     "shown", "ranks",       "proved",       "bench",  "run"};
    if (optional.contains(name)) continue;
    json without = whole;
    without.erase(name);
    EXPECT_THAT(complaint(without), HasSubstr(name)) << name;
  }
  j = json_of(without_times());
  j["status"] = "fine";
  EXPECT_THAT(complaint(j), HasSubstr("fine"));
  const std::pair<const char*, const char*> times[] = {
      {R"({"nanoseconds":[1500.5,0]})",         "nanoseconds: nothing takes no time"                           },
      {R"({"nanoseconds":[1500.5]})",           "slowest: expected a rank for each of the nanoseconds"         },
      {R"({"limits":{"send":0}})",              "send: nothing takes no time"                                  },
      {R"({"control":[0,1300]})",               "control: nothing takes no time"                               },
      {R"({"links":[[0,1,0,2000]]})",           "links: nothing takes no time"                                 },
      {R"({"nanoseconds":[1500.5,1700]})",      "its times are not those of its ranks"                         },
      {R"({"launch":7})",                       "it was edited: it is not that of its seal"                    },
      {R"({"skew":[20]})",                      "skew: expected a number for each of the nanoseconds"          },
      {R"({"late":2})",                         "its times are not those of its ranks"                         },
      {R"({"ranks":[{"clock":7,"enter":[1],"leave":[]}]})", "ranks: expected as many entries as exits of each" },
  };
  for (const auto& [patch, says] : times) {
    j = json_of(with_times());
    j["bench"].update(parse_json(patch));
    EXPECT_THAT(complaint(j), HasSubstr(says)) << patch;
  }
  j = json_of(with_times());
  j["status"] = "wrong";
  EXPECT_THAT(complaint(j), HasSubstr("it has times, and is wrong: a pass alone has some"));
}

// That nothing moved is said; where nobody said what did, nothing is.
TEST(Record, OfNoTraceHasNone) {
  Record r = full();
  r.verdict = {};
  r.verdict.status = Status::pass;
  r.trace.clear();
  EXPECT_EQ(json_of(r)["trace"], json::array());
  r.verdict.untraced = true;
  const json j = json_of(r);
  EXPECT_FALSE(j.contains("trace"));
  EXPECT_EQ(j["judged"], json::array({"no trace"}));
  EXPECT_EQ(pass_of(record_from_json(j).verdict), Pass::untraced);
}

TEST(Environment, HasNoPathsAndNoNameOfTheHost) {
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  const std::string text = dump(environment());
  EXPECT_THAT(text, HasSubstr("plumbline"));
  EXPECT_THAT(text, Not(HasSubstr("/home")));
  if (std::string(host).size() > 3) {
    EXPECT_THAT(text, Not(HasSubstr(host)));
  }
}

}  // namespace
}  // namespace plumb

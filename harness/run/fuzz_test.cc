// Replies with random faults: each is refused as Malformed, or is an outcome that is safe to read and to
// judge.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "adapters/protocol/fields.h"
#include "harness/backend/reply.h"
#include "harness/backend/waiting.h"
#include "harness/run/examine.h"
#include "harness/run/testing/mutator.h"
#include "reference/meaning/meaning.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

constexpr std::uint64_t free_at = 64;
constexpr int tries = 20000;

const char* const others[] = {
    R"({"type":"unsupported","id":7,"reason":"r","source":"s"})",
    R"({"type":"reneged","id":7,"message":"m","detail":"d"})",
    R"({"type":"alive","id":7})",
    R"({"type":"phase","id":7,"phase":"run"})",
    R"({"type":"hello","version":1,"name":"n","versions":{"a":"1"},"devices":{"count":4,"kind":"cpu"},
        "capabilities":{"ops":["reshard"],"dtypes":["f32"],"max_devices":4,"max_rank":3,"rules":["flat"],
                        "acc":["f32","unspecified"],"wire":[],"tail":"zero","data":"blocks","clones":true}})",
};

const char* const trace = R"([
    {"kind":"all-to-all","groups":[[0,1],[2,3]],"in":64,"out":64,"moved":64},
    {"kind":"collective-permute","pairs":[[0,1],[1,0]],"in":8,"out":8,"times":2,"moved":16},
    {"kind":"all-gather","groups":[[0,1],[2,3]],"in":8,"out":16,"times":4294967296,"moved":-1},
    {"kind":"all-reduce","axes":["x","y"],"in":4,"out":4,"op":"add","dtype":"f32","note":"n"}])";

// A case, what an honest backend would reply, and what the judge wants.
struct Asking {
  Case c;
  Capabilities capabilities;
  std::vector<Tensor> operands, wholes;
  json reply;
  std::vector<std::int64_t> table;
  std::uint64_t table_at = 0;

  Asking(const std::string& line, ArenaFile& arena) : c(parse_case("on x=2,y=2: " + line)) {
    for (std::size_t i = 0; i < c.op.operands.size(); ++i) operands.push_back(fill(c, static_cast<int>(i)));
    wholes = evaluate_all(c, operands);
    capabilities.tail_undefined = true;
    table = plumb::table(write_blocks(arena));
    reply = {
        {"type",     "result"                                                                        },
        {"id",       7                                                                               },
        {"table",    {{"offset", table_at}, {"rows", 4 * wholes.size()}, {"bytes", 8 * table.size()}}},
        {"claims",   json::array()                                                                   },
        {"trace",    parse_json(trace)                                                               },
        {"times",    {{"compile", 0.5}, {"run", {0.1, 0.25}}}                                        },
        {"received", 92                                                                              },
        {"groups",   {{"x"}, {"x", "y"}}                                                             },
        {"notes",    {"a"}                                                                           },
        {"hlo",      "p"                                                                             },
        {"plan",     {{"operands", {"f32[4,8@x]", "f32[8@x,4]"}}, {"result", "f32[4,4]"}}            }
    };
    for (const Spec& spec : results(c)) reply["claims"].push_back(print(c.mesh, unfree(spec)));
  }

  static Spec unfree(Spec spec) {
    spec.free = false;
    return spec;
  }

  std::vector<Block> write_blocks(ArenaFile& arena) {
    std::vector<Block> blocks;
    std::uint64_t at = free_at;
    for (std::int64_t r = 0; r < std::ssize(wholes); ++r)
      for (std::int64_t device = 0; device < devices(c.mesh); ++device) {
        const Slice slice = block(c.mesh, unfree(results(c)[r]), c.rule, device);
        const int size = format(wholes[r].dtype).bytes;
        std::vector<std::byte> bytes(elements(slice) * size);
        cut(wholes[r].shape, slice, wholes[r].bytes.data(), bytes.data(), size);
        arena.write(at, bytes);
        Block& b = blocks.emplace_back(Block{device, r, at, bytes.size(), {}});
        b.claim.emplace();
        for (const Range& range : slice) b.claim->push_back({range});
        at += bytes.size();
      }
    table_at = (at + 63) / 64 * 64;
    return blocks;
  }
};

void expect_safe(const Outcome& o, const Asking& asking, const ArenaFile& arena) {
  EXPECT_EQ(o.claims.size(), results(asking.c).size());
  std::vector<std::byte> bytes;
  std::vector<int> blocks(devices(asking.c.mesh) * results(asking.c).size());
  for (const Block& b : o.blocks) {
    ++blocks.at(b.result * devices(asking.c.mesh) + b.device);
    ASSERT_LE(b.bytes, 1U << 20);
    bytes.resize(b.bytes);
    if (b.bytes > 0) arena.read(b.offset, bytes);
    if (!b.claim || b.bytes == 0) continue;
    const Spec& spec = results(asking.c)[b.result];
    auto due = static_cast<std::uint64_t>(format(spec.dtype).bytes);
    for (std::size_t d = 0; d < b.claim->size(); ++d) {
      std::int64_t n = 0;
      for (const Range& r : (*b.claim)[d]) n += r.size();
      EXPECT_LE(n, spec.dims[d].size);
      due *= static_cast<std::uint64_t>(n);
    }
    EXPECT_EQ(due, b.bytes);
  }
  if (!asking.capabilities.plans_only) {
    EXPECT_EQ(blocks, std::vector<int>(blocks.size(), 1));
  }
}

// How often each thing came of it.
std::map<std::string, int> counts;

// As attempt() would, had the backend given this answer to everything.
void judge_it(const Answer& answer, const Asking& asking, const ArenaFile& arena) {
  const Read read = [&](const Block& b, std::span<std::byte> into) {
    if (b.bytes > 0) arena.read(b.offset, into.first(b.bytes));
  };
  const Attempt attempt{asking.c, asking.operands, answer, read};
  Attempts made{attempt, {}, {}};
  if (std::holds_alternative<Outcome>(answer) && !asking.capabilities.plans_only)
    made.other = attempt, made.again = {attempt, attempt};
  const Record record = examine(made, declared(asking.capabilities), {1, 2, 0, 1});
  EXPECT_EQ(record.verdict.status == Status::pass, record.verdict.facts.empty());
  EXPECT_EQ(std::ranges::count(record.verdict.facts, Status::unstable, &Fact::status), 0);
  EXPECT_GE(record.cost.moved, -1);
  EXPECT_GE(record.collectives.issued, record.collectives.merged);
  EXPECT_GE(record.collectives.merged, 0);
  ++counts[std::string(name(record.verdict.status))];
}

void hear(const std::string& line, const Asking& asking, const ArenaFile& arena) {
  try {
    const json message = parse_message(line);
    if (message.is_object() && message.value("type", json()) == "hello") {
      outside(hello_from_json(message).capabilities, asking.c);
      ++counts["hello"];
      return;
    }
    Waiting waiting("compile", {});
    if (waiting.hear(message, 7)) {
      ++counts["in between"];
      return;
    }
    const Answer answer = parse_reply(message, {asking.c, 7, free_at, asking.capabilities}, arena);
    const auto* outcome = std::get_if<Outcome>(&answer);
    ++counts[outcome ? "outcome" : "refusal"];
    if (outcome) expect_safe(*outcome, asking, arena);
    judge_it(answer, asking, arena);
  } catch (const Malformed& e) {
    ++counts["malformed"];
    EXPECT_STRNE(e.what(), "");
  }
}

void fuzz(Asking& asking, ArenaFile& arena, Mutator& mutate, int times) {
  for (int i = 0; i < times; ++i) {
    std::vector<std::int64_t> words = asking.table;
    if (mutate.below(2)) words[mutate.below(words.size())] = mutate.word();
    arena.write(asking.table_at, std::as_bytes(std::span(words)));
    json message = mutate.below(4) ? asking.reply : parse_json(others[mutate.below(std::size(others))]);
    for (std::size_t changes = mutate.below(3); changes > 0; --changes) {
      const bool of_trace = message.is_object() && message.contains("trace") && mutate.below(2);
      mutate.change(of_trace ? message["trace"] : message);
    }
    std::string line = dump(message);
    if (mutate.below(4) == 0) mutate.change(line);
    hear(line, asking, arena);
  }
}

TEST(Fuzz, AnyReplyIsRefusedOrSafeToJudge) {
  const char* const lines[] = {
      "reshard f32[8,4] -> f32[8@x,4]",
      "reshard f32[8]+x.y -> f32[8@y]",
      "reshard f32[8@y]+max(x) -> f32[8]?",
      "einsum mk,kn->mn f32[4,8@x] f32[8@x,4] -> f32[4,4] fill=normal",
      "quantize mxfp8 bf16[64@x,32] sizes=33,5 -> f8e4m3[64@x,32] e8m0[64@x,1]",
  };
  Mutator mutate{std::mt19937_64(20240229)};
  for (const char* line : lines)
    for (const bool plans : {false, true}) {
      ArenaFile arena;
      Asking asking(line, arena);
      asking.capabilities.plans_only = plans;
      asking.capabilities.clones = mutate.below(2);
      fuzz(asking, arena, mutate, tries / 10);
    }
  // Both ways were gone often enough to mean something.
  for (const char* what :
       {"malformed", "outcome", "refusal", "in between", "hello", "wrong", "wasteful", "reneged"})
    EXPECT_GT(counts[what], tries / 200) << what;
}

}  // namespace
}  // namespace plumb

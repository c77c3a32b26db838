// Replies with random faults: each is refused as Malformed, or is an outcome that is safe to read.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "adapters/protocol/fields.h"
#include "harness/backend/reply.h"
#include "harness/backend/waiting.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

using nlohmann::json;

constexpr std::uint64_t free_at = 64, table_at = 4096;
constexpr int tries = 30000;

const char* const replies[] = {
    R"({"type":"result","id":7,"table":{"offset":4096,"rows":4,"bytes":416},"claims":["f32[8@x,4]"],
        "trace":[{"kind":"all-to-all","groups":[[0,1],[2,3]],"in":64,"out":64,"moved":64},
                 {"kind":"collective-permute","pairs":[[0,1],[1,0]],"in":8,"out":8,"times":2,"moved":16},
                 {"kind":"all-reduce","axes":["x","y"],"in":4,"out":4,"op":"add","dtype":"f32","note":"n"}],
        "times":{"compile":0.5,"run":[0.1,0.25]},"received":80,"groups":[["x"],["x","y"]],"notes":["a"],"hlo":"p"})",
    R"({"type":"unsupported","id":7,"reason":"r","source":"s"})",
    R"({"type":"reneged","id":7,"message":"m","detail":"d"})",
    R"({"type":"alive","id":7})",
    R"({"type":"phase","id":7,"phase":"run"})",
    R"({"type":"hello","version":1,"name":"n","versions":{"a":"1"},"devices":{"count":4,"kind":"cpu"},
        "capabilities":{"ops":["reshard"],"dtypes":["f32"],"max_devices":4,"max_rank":3,"rules":["flat"],
                        "acc":["f32","unspecified"],"wire":[],"tail":"zero","data":"blocks","clones":true}})",
};

struct Mutator {
  std::mt19937_64 random;

  std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); }

  std::int64_t word() {
    static const std::int64_t words[] = {INT64_MIN,
                                         INT64_MAX,
                                         -1,
                                         0,
                                         1,
                                         2,
                                         3,
                                         4,
                                         7,
                                         8,
                                         9,
                                         63,
                                         64,
                                         4095,
                                         4096,
                                         INT32_MAX,
                                         std::int64_t{1} << 32,
                                         std::int64_t{1} << 62,
                                         1 << 20};
    return words[below(std::size(words))];
  }

  json value() {
    static const json values[] = {nullptr,
                                  true,
                                  -1,
                                  0,
                                  1e300,
                                  -0.5,
                                  "",
                                  "x",
                                  "f32[8]",
                                  "f32[",
                                  UINT64_MAX,
                                  json::array(),
                                  json::object(),
                                  json::array({0, 1}),
                                  json::array({json::array({0, 1})})};
    const std::size_t i = below(std::size(values) + 4);
    return i < std::size(values) ? values[i] : json(word());
  }

  // Some part of the message becomes another value, is lost, or is doubled.
  void change(json& message) {
    json* at = &message;
    while (at->is_structured() && !at->empty() && below(4) != 0)
      at = &*std::next(at->begin(), below(at->size()));
    const bool inside = at->is_structured() && !at->empty();
    switch (below(4)) {
      case 0:
        if (inside) at->erase(std::next(at->begin(), below(at->size())));
        break;
      case 1:
        if (inside && at->is_array()) at->push_back(at->back());
        break;
      default:
        *at = value();
    }
  }

  void change(std::string& text) {
    const std::size_t at = below(text.size()), n = std::min(text.size() - at, below(8) + 1);
    switch (below(3)) {
      case 0:
        text.erase(at, n);
        break;
      case 1:
        text.insert(at, std::string(text, below(text.size()), n));
        break;
      default:
        text[at] = static_cast<char>(below(256));
    }
    if (text.empty()) text.assign(1, '?');
  }
};

std::vector<std::int64_t> good_table() {
  std::vector<Block> blocks;
  for (std::int64_t d = 0; d < 4; ++d)
    blocks.push_back({d,
                      0,
                      free_at + 64 * static_cast<std::uint64_t>(d),
                      64,
                      {{{{4 * (d / 2), 4 * (d / 2) + 4}}, {{0, 2}, {2, 4}}}}});
  return table(blocks);
}

void expect_safe(const Outcome& o, const Case& c, const ArenaFile& arena) {
  EXPECT_EQ(o.claims.size(), 1U);
  std::vector<std::byte> bytes;
  std::vector<int> blocks(devices(c.mesh));
  for (const Block& b : o.blocks) {
    ++blocks.at(b.device);
    ASSERT_LE(b.bytes, 1U << 20);
    bytes.resize(b.bytes);
    if (b.bytes > 0) arena.read(b.offset, bytes);
    if (!b.claim || b.bytes == 0) continue;
    std::uint64_t elements = 1;
    for (std::size_t d = 0; d < b.claim->size(); ++d) {
      std::int64_t n = 0;
      for (const Range& r : (*b.claim)[d]) n += r.size();
      EXPECT_LE(n, result(c).dims[d].size);
      elements *= static_cast<std::uint64_t>(n);
    }
    EXPECT_EQ(elements * 4, b.bytes);
  }
  EXPECT_EQ(blocks, std::vector<int>(blocks.size(), 1));
  for (const Collective& collective : o.trace)
    for (const auto& group : collective.groups)
      for (std::int64_t device : group) EXPECT_LT(device, devices(c.mesh));
}

// How often each thing came of it.
std::map<std::string, int> counts;

void hear(const std::string& line, const Asked& asked, const ArenaFile& arena) {
  try {
    const json message = parse_message(line);
    if (message.is_object() && message.value("type", json()) == "hello") {
      outside(hello_from_json(message).capabilities, asked.c);
      ++counts["hello"];
      return;
    }
    Waiting waiting("compile", {});
    if (waiting.hear(message, asked.id)) {
      ++counts["in between"];
      return;
    }
    const Answer answer = parse_reply(message, asked, arena);
    const auto* outcome = std::get_if<Outcome>(&answer);
    ++counts[outcome ? "outcome" : "refusal"];
    if (outcome) expect_safe(*outcome, asked.c, arena);
  } catch (const Malformed& e) {
    ++counts["malformed"];
    EXPECT_STRNE(e.what(), "");
  }
}

TEST(Fuzz, AnyReplyIsRefusedOrSafe) {
  const Case c = parse_case("on x=2,y=2: reshard f32[8,4] -> f32[8@x,4]");
  ArenaFile arena;
  Mutator mutate{std::mt19937_64(20240229)};
  for (int i = 0; i < tries; ++i) {
    std::vector<std::int64_t> words = good_table();
    if (mutate.below(2)) words[mutate.below(words.size())] = mutate.word();
    arena.write(table_at, std::as_bytes(std::span(words)));
    const char* reply = replies[mutate.below(2) ? 0 : mutate.below(std::size(replies))];
    json message = json::parse(reply);
    for (std::size_t changes = mutate.below(3); changes > 0; --changes) mutate.change(message);
    std::string line = dump(message);
    if (mutate.below(3) == 0) mutate.change(line);
    const Capabilities capabilities;
    hear(line, {c, 7, free_at, capabilities}, arena);
  }
  // Both ways were gone often enough to mean something.
  for (const char* what : {"malformed", "outcome", "refusal", "in between", "hello"})
    EXPECT_GT(counts[what], tries / 100) << what;
}

}  // namespace
}  // namespace plumb

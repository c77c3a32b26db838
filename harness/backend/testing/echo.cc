// The least backend there is: every device returns the whole operand.
#include <cstring>

#include "adapters/protocol/json.h"
#include "adapters/protocol/serve.h"
#include "reference/words/text.h"

namespace {

struct Echo : plumb::Backend {
  nlohmann::json hello(const plumb::Mesh&) override {
    return {
        {"name", "echo"}
    };
  }
  plumb::Reply run(const plumb::Request& request, plumb::Arena& arena) override {
    const plumb::Operand& operand = request.operands[0];
    plumb::Outcome outcome;
    std::vector<std::vector<plumb::Range>> whole;
    for (std::int64_t size : operand.shape)
      whole.push_back({
          {0, size}
      });
    for (std::int64_t d = 0; d < plumb::devices(request.c.mesh); ++d) {
      const auto to = arena.take(operand.bytes.size());
      std::memcpy(to.data(), operand.bytes.data(), to.size());
      outcome.blocks.push_back({d, 0, arena.offset(to), to.size(), whole});
    }
    outcome.claims = {std::nullopt};
    outcome.trace.push_back({.kind = "send", .moved = -1});
    return outcome;
  }
};

}  // namespace

int main() {
  Echo echo;
  return plumb::serve(echo);
}

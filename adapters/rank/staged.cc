#include "adapters/rank/staged.h"

#include <algorithm>
#include <memory>

#include "adapters/rank/at_best.h"

namespace plumb {
namespace {

using Copies = std::vector<std::vector<std::byte>>;

void copy_operands(const Ready& ready, Copies& copies) {
  copies.clear();
  for (const Blocks* b : ready.operands)
    b->hands->memory.get(copies.emplace_back(b->offsets.back()).data(), b->memory.get(), b->offsets.back());
}

void restore_operands(const Ready& ready, const Copies& copies) {
  for (std::size_t i = 0; i < copies.size(); ++i)
    ready.operands[i]->hands->memory.put(ready.operands[i]->memory.get(), copies[i].data(), copies[i].size());
}

}  // namespace

Stages staged(const Plan& plan, Ready& ready, const Holder& holder, const Write& write) {
  Stages s;
  auto copies = std::make_shared<Copies>();
  const bool changes = ready.passage.changes;
  const auto wait = holder.hands->memory.wait;  // so that no clock sees what came before
  s.load = [&ready, holder, write, copies, changes, wait] {
    load_operands(ready, holder, write);
    if (changes) copy_operands(ready, *copies);
    wait();
  };
  s.once = [&ready] { carry_out(ready); };
  if (changes) s.restore = [&ready, copies, wait] { restore_operands(ready, *copies), wait(); };
  s.wipe = [&ready, wait] {
    for (Blocks* result : ready.results)
      if (std::ranges::find(ready.operands, result) == ready.operands.end()) lay(*result, Contents::poison);
    wait();
  };
  s.limit = [&plan, &ready, holder](const std::string& what, std::size_t bytes) {
    return what == "copy"   ? copy_in_memory(bytes, holder)
           : what == "gemm" ? plain_product(plan, holder)
           : what == "pack" ? packing_alone(ready.passage, holder)
                            : nullptr;
  };
  return s;
}

}  // namespace plumb

#include <cstdio>

#include "adapters/cuda/cuda.h"

namespace plumb::cuda {
namespace {

constexpr const char* kOrders[] = {"direct", "ring", "tree"};

// Whether it is an option of backend.json.
bool take(Cuda& cuda, const std::string& key, const std::string& value) {
  if (key == "plan") {
    const auto style = style_named(value);
    if (style) cuda.style = *style;
    return style.has_value();
  }
  if (key == "order")
    for (int i = 0; i < 3; ++i)
      if (value == kOrders[i]) return cuda.order = static_cast<Order>(i), true;
  if (key == "device" && value == "host") return cuda.device = &this_processor(), true;
  return key == "device" && value == "card";
}

int serve_options() {
  Cuda cuda;
  for (const auto& [key, value] : options())
    if (!take(cuda, key, value)) {
      std::fprintf(stderr, "plumb-cuda: unknown option %s=%s: plumb backends cuda has those there are\n",
                   key.c_str(), value.c_str());
      return 2;
    }
  if (!cuda.device) cuda.device = card(cuda.why);
  return serve(cuda);
}

}  // namespace
}  // namespace plumb::cuda

int main() { return plumb::cuda::serve_options(); }

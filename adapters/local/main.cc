#include <cstdio>

#include "adapters/local/local.h"
#include "adapters/protocol/options.h"

namespace {

// Whether it is an option of backend.json.
bool take(plumb::local::Local& local, const std::string& key, const std::string& value) {
  if (key == "plan") {
    const auto style = plumb::style_named(value);
    if (style) local.style = *style;
    return style.has_value();
  }
  local.plans_only = value == "none";
  return key == "data" && (value == "none" || value == "blocks");
}

}  // namespace

int main() {
  plumb::local::Local local;
  for (const auto& [key, value] : plumb::options())
    if (!take(local, key, value)) {
      std::fprintf(stderr, "plumb-local: unknown option %s=%s: plumb backends local has those there are\n",
                   key.c_str(), value.c_str());
      return 2;
    }
  return plumb::serve(local);
}

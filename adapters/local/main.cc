#include <cstdio>

#include "adapters/local/local.h"

// Options: plan=direct (the default), plan=ring or plan=calls; data=blocks (the default) or data=none.
int main() {
  plumb::local::Local local;
  for (const auto& [key, value] : plumb::options()) {
    if (key == "plan" && value == "ring") {
      local.style = plumb::Style::ring;
    } else if (key == "plan" && value == "calls") {
      local.style = plumb::Style::calls;
    } else if (key == "data" && value == "none") {
      local.plans_only = true;
    } else if (!(key == "plan" && value == "direct") && !(key == "data" && value == "blocks")) {
      std::fprintf(stderr,
                   "plumb-local: unknown option %s=%s: plan=direct, ring or calls, data=blocks or none\n",
                   key.c_str(), value.c_str());
      return 2;
    }
  }
  return plumb::serve(local);
}

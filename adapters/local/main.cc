#include <cstdio>

#include "adapters/local/local.h"

// Options: plan=direct (the default) or plan=ring.
int main() {
  plumb::Local local;
  for (const auto& [key, value] : plumb::options()) {
    if (key == "plan" && value == "ring") {
      local.style = plumb::Style::ring;
    } else if (key != "plan" || value != "direct") {
      std::fprintf(stderr, "plumb-local: unknown option %s=%s: plan=direct or plan=ring\n", key.c_str(),
                   value.c_str());
      return 2;
    }
  }
  return plumb::serve(local);
}

#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>

#include "adapters/liar/faults.h"
#include "adapters/protocol/options.h"

namespace {

// Right, and under the clock so many times as long as `local` takes.
struct Slow : plumb::local::Local {
  double times = 1;
  std::optional<plumb::Stages> stages(const plumb::Request& request) override {
    auto all = plumb::local::Local::stages(request);
    if (!all || !all->once || times == 1) return all;
    all->once = [once = all->once, times = times] {
      using Clock = std::chrono::steady_clock;
      const Clock::time_point begin = Clock::now();
      once();
      for (const auto took = Clock::now() - begin; Clock::now() - begin < times * took;) {
      }
    };
    return all;
  }
};

// A factor of 1 or more; 0 where it is none.
double factor(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= 1 ? number : 0;
}

int usage(const std::string& problem) {
  std::fprintf(stderr, "plumb-liar: %s\n  PLUMB_OPTIONS={\"fault\":NAME}; plumb-liar --list names them\n",
               problem.c_str());
  return 2;
}

}  // namespace

// The options of backend.json; `--list` prints the table of faults as JSON lines.
int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--list") == 0) {
    std::fputs(plumb::liar::list_faults().c_str(), stdout);
    return 0;
  }
  Slow local;
  bool chosen = false;
  for (const auto& [key, value] : plumb::options()) {
    if (key == "fault") {
      const plumb::liar::Fault* fault = plumb::liar::fault_named(value);
      if (!fault) return usage("no fault \"" + value + "\"");
      local.seams = fault->seams;
      local.plans_only = fault->plans;
      chosen = true;
    } else if (key == "times") {
      local.times = factor(value);
      if (local.times == 0) return usage("times=" + value + ": a number of 1 or more");
      chosen = true;
    } else if (key == "plan" && (value == "direct" || value == "ring")) {
      local.style = value == "ring" ? plumb::Style::ring : plumb::Style::direct;
    } else {
      return usage("unknown option " + key + "=" + value);
    }
  }
  if (!chosen) return usage("which fault, or how many times as long?");
  return plumb::serve(local);
}

#include "harness/command/waits.h"

#include <fmt/format.h>
#include <unistd.h>

#include "harness/report/paint.h"
#include "harness/report/progress.h"

namespace plumb {

void say_wait(const Wait& wait) {
  if (moves_its_cursor(STDERR_FILENO)) clear_progress();
  fmt::print(stderr, "plumb: waiting for {}, {:.0f} s in {} of {:.0f} at most: {}\n", wait.backend, wait.seconds,
             wait.phase, wait.most, wait.line);
}

}  // namespace plumb

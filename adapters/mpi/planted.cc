#include "adapters/mpi/planted.h"

#include <fmt/format.h>
#include <mpi.h>
#include <signal.h>
#include <unistd.h>

#include <utility>

#include "adapters/protocol/options.h"
#include "reference/words/text.h"

namespace plumb::mpi {

bool plant(Planted& planted, const std::string& key, const std::string& value) {
  if (key == "delay")
    planted.delay = option_number<double>(key, value);
  else if (key == "pause")
    planted.pause = option_number<std::int64_t>(key, value);
  else if (key == "lags")
    planted.lags = option_number<int>(key, value);
  else if (key == "pauses")
    planted.pauses = value;
  else if (key == "stop")
    planted.stop = option_number<std::int64_t>(key, value);
  else if (key == "flip")
    planted.flip = option_number<std::int64_t>(key, value);
  else if (key == "slow")
    planted.slow = value;
  else if (key == "clock")
    planted.clock = value;
  else
    return false;
  return true;
}

std::function<void()> planted_run(Planted& planted, const Case& c, std::function<void()> once,
                                  std::function<void()> spoil) {
  if (planted.delay == 0 && planted.pause == 0 && planted.stop == 0 && planted.flip == 0) return once;
  const bool here = planted.lags < 0 || planted.lags == planted.rank;
  const bool late = planted.pause > 0 && here && print(c).find(planted.pauses) != std::string::npos;
  return [&planted, late, once = std::move(once), spoil = std::move(spoil)] {
    const double begin = MPI_Wtime();
    if (late) ::usleep(static_cast<useconds_t>(1000 * planted.pause));
    if (++planted.runs == planted.stop && planted.rank == 1) ::raise(SIGSTOP);
    once();
    if (planted.runs == planted.flip && planted.rank == 1) spoil();
    if (planted.delay == 0) return;
    for (const double end = MPI_Wtime() + planted.delay * (MPI_Wtime() - begin); MPI_Wtime() < end;) {
    }
  };
}

std::function<void()> planted_limit(const Planted& planted, const std::string& what,
                                    std::function<void()> call) {
  const bool is_slow =
      !planted.slow.empty() && (what + " ").find(" " + planted.slow + " ") != std::string::npos;
  if (!is_slow || !planted.slow.starts_with(fmt::format("{}-", planted.rank))) return call;
  return [call = std::move(call)] {
    ::usleep(100'000);
    call();
  };
}

}  // namespace plumb::mpi

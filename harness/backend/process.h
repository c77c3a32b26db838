// A backend as a process: started when first needed, killed when it hangs, started anew for the case
// after the one that killed it. Nothing of it outlives this object: the program runs in a process group
// of its own, which is killed and reaped; the arena and what it prints are files without a name.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "adapters/protocol/proofs.h"
#include "harness/backend/answer.h"
#include "harness/backend/capabilities.h"
#include "harness/backend/program.h"
#include "harness/backend/request.h"
#include "harness/backend/waiting.h"
#include "reference/words/tensor.h"

namespace plumb {

// Of a case that was timed: of which iteration.
enum class Which : std::uint8_t { first, last };

// What a case's ranks are to time, and what its run may take; what came of it, with the clocks of an outcome.
struct TimingAsked {
  Timing timing;
  double seconds = 0;
};
struct TimedAnswer {
  Answer answer;
  std::vector<Clocked> clocks;
};

struct ProcessState;

// Belongs to one thread: the program dies with the thread that started it.
class Process {
 public:
  explicit Process(Command, Deadlines = {}, Waits = {}, Greeted = {});
  ~Process();
  Process(const Process&) = delete;

  // Starts the program where it does not run or cannot serve the mesh. Nothing where it can take the
  // case; else why not: unsupported, or it hung or crashed while it started. Throws Interrupted, and BadInput
  // where the program has never started and ends with exit code 2: it cannot use its options.
  std::optional<Answer> refuses(const Case&);

  // The same, of which nothing is lost: where it cannot take the case, whoever asks next says why.
  bool takes(const Case&);

  // What requests have from now on.
  void allow(const Deadlines&);

  // How often in a row it did not start for so many devices; after three times it is not tried again.
  int starts_in_vain(std::int64_t devices) const;

  // refuses(), then asks. Operands are whole, as fill() makes them. Throws what refuses() does, and
  // std::system_error where the machine gives no process, file or memory.
  Answer run(const Case&, std::span<const Tensor> operands);

  // The same of a program that fills: no operand is sent and no block travels. Then, while nothing else is
  // asked of it: proofs of its blocks, device by device, result by result, by a seed drawn now; and the
  // blocks after all.
  Answer run_in_place(const Case&);
  std::variant<std::vector<Proven>, Answer> check(std::uint64_t seed, Which = Which::last);
  Answer fetch(Which = Which::last);

  // Times a case, on operands that travel where any are given: no block does. check() and fetch() are then of
  // the last iteration, or of the first.
  TimedAnswer bench(const Case&, const TimingAsked&, std::span<const Tensor> operands);

  // What its ranks could do at best, while the results of a case that was timed lie with it.
  std::variant<std::vector<Clocked>, Answer> limit(const LimitAsked&);

  // The bytes of a block of the last outcome; valid until the next run.
  std::vector<std::byte> read(const Block&) const;
  void read(const Block&, std::span<std::byte> into) const;

  // What the program said of itself when it last started; null before.
  const Hello* hello() const;
  const Command& command() const;

  // Ends the program: its requests end, and what has not ended within a second is killed. So does the end of
  // this object; what the program did besides is told whoever asked to be.
  void stop();
  void tell_end(Parted);

 private:
  std::unique_ptr<ProcessState> state_;
};

}  // namespace plumb

// A C++ backend: a struct with hello and run, handed to serve().
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "adapters/protocol/device_memory.h"
#include "adapters/protocol/operands.h"
#include "adapters/protocol/outcome.h"
#include "adapters/protocol/timing.h"

namespace plumb {

struct Unsupported {
  std::string reason, source;
};
struct Reneged {
  std::string message, detail;
};
struct Refused {  // of a resolve: the framework has no layout for these rules
  std::string message, detail;
};
// Thrown by a backend that waited for others in vain: it has given up, and the reply is `hung`.
struct GivenUp : std::runtime_error {
  using std::runtime_error::runtime_error;
};
using Reply = std::variant<Outcome, Unsupported, Reneged, Refused, GivenUp>;

// The part of the arena that is the backend's to write. take() gives the next `bytes`, aligned to 64,
// zeroed only if never written; offset() is where a taken span lies in the file. A request that the
// arena cannot hold throws std::length_error.
struct Arena {
  std::span<std::byte> whole;
  std::size_t next = 0;
  std::span<std::byte> take(std::size_t bytes);
  std::uint64_t offset(std::span<const std::byte> taken) const;
};

struct Request {
  std::int64_t id = 0;
  Case c;
  std::vector<Operand> operands;  // none where the backend fills
  double seconds = 0;             // until the deadline; 0 where the request does not say
  Write write{};                  // of operands, wherever they are, to where the backend's blocks lie
  bool in_place = false;          // results stay where they lie (Outcome::lying) until the next case
};

// The parts of a run of a backend that can be timed, after prepare. `load` lays the operands. `once` is what
// is timed: it makes the results of what was loaded, again each time it is called. `give` says where the last
// lie.
struct Stages {
  std::function<void()> load, once;  // a rank without a device has neither
  std::function<Outcome()> give;
  std::function<void()> wipe{};     // overwrites the results with ones
  std::function<void()> restore{};  // operands, where a run changes them; else nothing
  std::function<void()> meet{};     // waits for all ranks of the case; nothing in one process
  int rank = 0, ranks = 1;          // of those that have a device
  // Where the ranks' clocks are several: each asks the first one what its clock says, in turn; `now` reads
  // the own.
  std::function<std::vector<Ping>(const std::function<std::int64_t()>& now)> ask_clock{};
  std::function<std::int64_t()> now{};  // another clock than that of the machine: whether it is noticed
  // What this process could do at best, with so many bytes: copy, send, gemm, link (README.md). Nothing where
  // it cannot.
  std::function<std::function<void()>(const std::string& what, std::size_t bytes)> limit{};
  // The library's own call, where the case comes to one, on memory of its own: each time it is called it is
  // made once; the nanoseconds that it took by the library's own clock. Nothing where there is none.
  std::function<std::function<std::int64_t()>()> call{};
  // Makes a run, and says when it entered and left each of its collectives, by the machine's clock.
  std::function<std::vector<Turn>()> collectives{};
  // Of serve(): called between iterations, so that who is slow is not taken for one that hangs.
  std::function<void()> goes_on{};
};

// The one virtual interface of Plumbline.
struct Backend {
  virtual ~Backend() = default;
  // The hello message without type and version: name, versions, devices, alone, fills, times, capabilities.
  virtual nlohmann::json hello(const Mesh& first) = 0;
  // Where its blocks lie, operands and results, of every case alike; nothing where it is this processor's
  // memory.
  virtual const DeviceCheck* memory() const { return nullptr; }
  // What a case needs once, plans, communicators and buffers; called before each run, and its time is that of
  // compilation. Nothing where the case can be run; else why not. What it throws is reneged.
  virtual std::optional<Unsupported> prepare(const Request&) { return {}; }
  // Nothing where it cannot be timed; one that can says "times" in its hello, and keeps what it gives until
  // the next case.
  virtual std::optional<Stages> stages(const Request&) { return {}; }
  // Whether this process can do nothing more, after something was thrown: it then ends, and the words are its
  // last. Else the next case would be told the same.
  virtual bool lost() const { return false; }
  // What waits for others has to be given up so many seconds from now, by throwing GivenUp; 0: nothing has
  // to. It is said anew as the deadline is.
  virtual void give_up_in(double) {}
  // Blocks must lie in spans taken from the arena, or where the request says in_place, anywhere.
  virtual Reply run(const Request&, Arena&) = 0;
};

// Speaks the protocol on the descriptors of PLUMB_REQUESTS and PLUMB_REPLIES, or as a rank where
// plumb-launch started it, until the requests end. Returns the exit code of the program: 0, or 2 with a
// message on standard error where there is no channel or a request cannot be read.
int serve(Backend&);

// The same as one rank of several that plumb-launch started (ranks.h): every rank is asked the same, in the
// same arena. All take the same places in it, in the same order, and write the blocks of their own devices;
// rank 0 replies, and the others say that they are done. Law: the outcomes of all ranks say the same.
struct Seat;
int serve_as_rank(Backend&, const Seat&);

}  // namespace plumb

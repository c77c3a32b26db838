// One case on one backend, from its line to its record.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "harness/backend/process.h"
#include "harness/record/record.h"
#include "harness/run/demand.h"
#include "harness/run/examine.h"
#include "reference/words/op.h"

namespace plumb {

// A backend that has not replied yet.
struct Wait {
  std::string line, backend, phase;
  double seconds = 0, most = 0;  // of the phase; after so many it is given up
};

struct Settings {
  Deadlines deadlines;
  std::int64_t most_bytes = 0;  // a case that needs more memory is refused; 0: what the machine has
  double cores = 0;             // that work on a case: deadlines grow by what it takes them; 0: they do not
  std::function<void(const Wait&)> waits{};  // told of a wait after 5 seconds of a phase, after 10, 20, ...
  Greeted greeted{};
  bool in_place = false;  // of a backend that fills, blocks are proved where they lie, if they can be
  std::function<void(const Case&, const Tensor&)> results{};  // told of the whole result of each outcome
  std::function<void(const std::string& backend, const std::string& what)> parted{};  // Parted, of a backend
};

// A backend by name or command, started when first needed and again after it dies. Not for several
// threads at once.
struct Subject {
  explicit Subject(const std::string& backend, const Settings&);  // throws BadInput: no such backend
  ~Subject();
  Subject(Subject&&) noexcept;
  std::string name;   // resolved
  std::string asked;  // what finds it again (Command)
  struct State;
  std::unique_ptr<State> state;
};

// Its program, and how it is asked; who answered, as a record says it.
Process& process_of(Subject&);
Process& process_for(const Case&, Subject&);  // of which case it is that is waited for from now on
const Settings& settings_of(const Subject&);
void say_who(Record&, Subject&);

// What is allowed to a case: to compile and to run also what its work takes the machine.
Deadlines deadlines_for(const Case&, const Settings&);
Room room_of(const Settings&);

// The record of one case: asks, examines, and says who answered. Never throws for a backend's failure. Throws
// DoesNotFit (demand.h).
Record attempt(const Case&, Subject&, const Limits& = {});

// What rests on the bound of an engine rests on the backend's having it: the one that it says, or ieee where
// it says none. Its process is asked once a dtype.
void doubt_engine(Record&, const Case&, Subject&);

// The same in two halves. What was answered may be judged by another thread, while the backend is asked the
// next case, where nothing more is to be asked of this one: `apart` then, and its blocks are here.
struct Answered {
  Attempts made;
  Declared declared;
  Limits limits;
  Record who;  // answered
  bool apart = false;
};
Answered answered(const Case&, Subject&, const Limits&);
Record judged_apart(const Answered&);
Record judged_whole(const Case&, const Answered&, Subject&);  // it may be asked more

}  // namespace plumb

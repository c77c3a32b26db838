// Whether a backend adds up products as it says.
#pragma once

#include <optional>
#include <string>

#include "harness/backend/process.h"
#include "reference/rounding/model.h"

namespace plumb {

// How a process is asked for sums of few terms: as a product of operands of this dtype, of matrices or, where it says
// that it takes none, of a group; nothing where it says that it takes neither.
std::optional<Case> question_of_engine(Process&, DType);

// Its sums are held against the rows of the model: what speaks against the engine that it says it has (ieee, where it says
// none), where they are those of none or of one that costs more, or where it ends, hangs or says what is on no page. Where it
// refuses what it said it takes nothing is known, and it is asked by lines of its own.
struct SaidOfEngine {
  std::optional<std::string> doubt;
  std::string refused;  // in its words
};
SaidOfEngine said_of_engine(Process&, const Case& question, Engine said);

// The same by a line that it has just computed, on such data in the place of its own: who refuses it now is doubted.
// Nothing where the line cannot ask (own_terms.h).
std::optional<SaidOfEngine> said_by_own_line(Process&, const Case&, Engine said);

// In which dtype the sums of a product are asked; nothing where its accumulator is not f32.
std::optional<DType> probed_dtype(const Case&);

}  // namespace plumb

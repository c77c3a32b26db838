// Programs and faulty modules as lines of JSON, for who runs them elsewhere.
#pragma once

#include <string>

#include "reference/hlo/prove/faults.h"
#include "reference/hlo/prove/harm.h"

namespace plumb {

// {"program": NAME, "devices": 8, "module": TEXT, "arguments": [{"dims": [4], "elements": [[1,2,3,4], ...],
// "type": "f32"}], "results": [[[true,true,false,false], ...]]}: of each argument what each device holds, of
// each result which elements are no padding.
std::string kept_program(const std::string& name, const hlo::Subject&);

// {"fault": NAME, "at": INSTRUCTION, "harm": "same", "module": TEXT}
std::string kept_fault(const std::string& fault, const std::string& at, hlo::Harm, const hlo::Module&);

}  // namespace plumb

// Colour, where a terminal shows it.
#pragma once

#include <string>
#include <string_view>

#include "harness/judge/verdict.h"

namespace plumb {

struct Paint {
  bool on = false;
};

// Whether it is a terminal on which lines can be drawn over: TERM names one, and not `dumb`.
bool moves_its_cursor(int descriptor);

// "always", "never", or "auto": such a terminal, whose user did not ask for NO_COLOR.
Paint paint_for(std::string_view when, int descriptor);

std::string bold(Paint, std::string_view);
std::string dim(Paint, std::string_view);
std::string painted(Paint, Status, std::string_view);  // green for a pass, red for a finding, else yellow

}  // namespace plumb

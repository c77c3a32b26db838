// What findings have in common, so that thousands are told as one.
#pragma once

#include <string>

#include "harness/record/record.h"

namespace plumb {

// "jax@0.10.2,style=explicit" is of "jax,style=explicit"; a command is its own framework.
std::string without_release(const std::string& backend);

// The layouts of a case by the roles of its axes, without sizes and dtypes: axes have letters in the order in
// which they first stand.
//   on x=2,y=4: reshard f32[8@x,4]+y -> f32[8,4@y]      reshard [A,]+B -> [,B]
//   on dp=2: einsum mk,kn->mn f32[4,4@dp] f32[4@dp,4] -> f32[4,4]      einsum mk,kn->mn [,A] [A,] -> [,]
std::string layouts_by_role(const Case&);

// Findings of one kind have one text: framework and options without the release, status, cause, the words
// that decided without numbers and names of axes (of what is misplaced without layouts, too), layouts by role.
// So has what is unsupported. Any other record has "".
struct Kind {
  std::string backend;
  Status status = Status::pass;
  std::string why, layouts;
  auto operator<=>(const Kind&) const = default;
};
Kind kind_of(const Record&);

}  // namespace plumb

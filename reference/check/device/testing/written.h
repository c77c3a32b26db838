// The data of a case, written where kernels of a device write them and here.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "reference/check/device/there.h"
#include "reference/fill/recipe.h"
#include "reference/words/text.h"

namespace plumb {

inline std::vector<std::byte> written_there(const DeviceCheck& device, const Recipe& r, const Portion& portion,
                                            std::size_t bytes) {
  std::byte* there = device.memory.allocate(bytes);
  write_there(device, r, portion, there);
  std::vector<std::byte> here(bytes);
  device.memory.get(here.data(), there, bytes);
  device.memory.free(there);
  return here;
}

// Law: of every part of every operand they are what the recipe says.
inline void expect_as_the_recipe_says(const DeviceCheck& device, const Case& c) {
  const Recipe r = recipe(c);
  for (std::size_t i = 0; i < r.sources.size(); ++i) {
    const Source& source = r.sources[i];
    Slice all;
    for (std::int64_t size : source.shape) all.push_back({size / 3, size});
    std::vector<std::byte> here(elements(all) * format(source.dtype).bytes);
    for (std::int64_t part = 0; part < source.parts && !here.empty(); ++part) {
      const Portion portion{static_cast<int>(i), part, all};
      write(r, portion, here.data());
      ASSERT_TRUE(here == written_there(device, r, portion, here.size()))
          << print(c) << " operand " << i << " part " << part;
    }
  }
}

}  // namespace plumb

// Random faults in messages, for the test of replies.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>

#include "adapters/protocol/json.h"

namespace plumb {

using nlohmann::json;

struct Mutator {
  std::mt19937_64 random;

  std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); }

  std::int64_t word() {
    static const std::int64_t words[] = {INT64_MIN,
                                         INT64_MAX,
                                         -1,
                                         0,
                                         1,
                                         2,
                                         3,
                                         4,
                                         7,
                                         8,
                                         9,
                                         63,
                                         64,
                                         4095,
                                         4096,
                                         INT32_MAX,
                                         UINT32_MAX,
                                         std::int64_t{1} << 32,
                                         std::int64_t{1} << 62,
                                         1 << 20};
    return words[below(std::size(words))];
  }

  json value() {
    static const json values[] = {nullptr,
                                  true,
                                  -1,
                                  0,
                                  1e300,
                                  -0.5,
                                  "",
                                  "x",
                                  "f32[8]",
                                  "f32[",
                                  UINT64_MAX,
                                  json::array(),
                                  json::object(),
                                  json::array({0, 1}),
                                  json::array({json::array({0, 1})})};
    const std::size_t i = below(std::size(values) + 4);
    return i < std::size(values) ? values[i] : json(word());
  }

  // Some part of the message becomes another value, is emptied, is lost, or is doubled.
  void change(json& message) {
    json* at = &message;
    while (at->is_structured() && !at->empty() && below(4) != 0)
      at = &*std::next(at->begin(), below(at->size()));
    const bool inside = at->is_structured() && !at->empty();
    switch (below(5)) {
      case 0:
        if (inside) at->erase(std::next(at->begin(), below(at->size())));
        break;
      case 1:
        if (inside && at->is_array()) at->push_back(at->back());
        break;
      case 2:
        if (inside) at->clear();
        break;
      default:
        *at = value();
    }
  }

  void change(std::string& text) {
    const std::size_t at = below(text.size()), n = std::min(text.size() - at, below(8) + 1);
    switch (below(3)) {
      case 0:
        text.erase(at, n);
        break;
      case 1:
        text.insert(at, std::string(text, below(text.size()), n));
        break;
      default:
        text[at] = static_cast<char>(below(256));
    }
    if (text.empty()) text.assign(1, '?');
  }
};

}  // namespace plumb

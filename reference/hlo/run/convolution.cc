#include "reference/hlo/run/convolution.h"

#include <algorithm>

namespace plumb::hlo {
namespace {

// Where the batch (or the input features of a kernel), the features and the spatial dimensions stand.
struct Places {
  std::size_t first = 0, second = 0;
  std::vector<std::size_t> spatial;
};

// "01bf" with the letters 'b' and 'f'.
Places places(const std::string& labels, char first, char second, std::size_t rank) {
  require(labels.size() == rank && rank >= 2, "dim_labels= has a letter for each dimension");
  Places p;
  p.first = labels.find(first), p.second = labels.find(second);
  for (std::size_t d = 0; d + 2 < rank; ++d) p.spatial.push_back(labels.find(static_cast<char>('0' + d)));
  const auto there = [](std::size_t at) { return at != std::string::npos; };
  require(there(p.first) && there(p.second) && std::ranges::all_of(p.spatial, there),
          "dim_labels= names each dimension");
  return p;
}

struct Layout {
  Places input, kernel, result;
};

// "b01f_01io->b01f"
Layout layout_of(const std::string& labels, std::size_t rank) {
  const std::size_t under = labels.find('_'), arrow = labels.find("->");
  require(under != labels.npos && arrow != labels.npos && under < arrow, "dim_labels= as b01f_01io->b01f");
  return {places(labels.substr(0, under), 'b', 'f', rank),
          places(labels.substr(under + 1, arrow - under - 1), 'i', 'o', rank),
          places(labels.substr(arrow + 2), 'b', 'f', rank)};
}

void check_window(const Layout& at, const std::vector<WindowDim>& window, const Integers& input,
           const Integers& kernel, const Integers& result) {
  for (std::size_t d = 0; d < window.size(); ++d) {
    const WindowDim& w = window[d];
    const std::int64_t n = input[at.input.spatial[d]], based = n == 0 ? 0 : (n - 1) * w.base_dilation + 1;
    const std::int64_t room = based + w.low + w.high - ((w.size - 1) * w.dilation + 1);
    require(kernel[at.kernel.spatial[d]] == w.size, "the kernel has the window's extents");
    require(result[at.result.spatial[d]] == (room < 0 ? 0 : room / w.stride + 1),
            "the result has a place for each window");
  }
}

}  // namespace

Terms convolution_terms(const Instruction& i, const Integers& input, const Integers& kernel,
                        const Integers& result) {
  const std::size_t rank = result.size();
  require(input.size() == rank && kernel.size() == rank, "operands and result of one rank");
  const Layout at = layout_of(get<std::string>(i, Key::dim_labels), rank);
  auto window = get<std::vector<WindowDim>>(i, Key::window);
  if (window.empty()) window.resize(rank - 2);
  require(window.size() == rank - 2, "a window for each spatial dimension");
  check_window(at, window, input, kernel, result);
  const auto groups = get<std::int64_t>(i, Key::feature_group_count, 1),
             batches = get<std::int64_t>(i, Key::batch_group_count, 1);
  const std::int64_t features = kernel[at.kernel.first], outputs = kernel[at.kernel.second],
                     batch = result[at.result.first];
  require(groups >= 1 && batches >= 1 && outputs % groups == 0 && outputs % batches == 0,
          "groups divide the outputs");
  require(input[at.input.second] == features * groups && input[at.input.first] == batch * batches &&
              result[at.result.second] == outputs,
          "features and batches fit");
  const Integers in = strides_of(input), tap = strides_of(kernel);
  Integers sizes;
  for (const WindowDim& w : window) sizes.push_back(w.size);
  Terms terms;
  each_index(result, [&](const Integers& out) {
    terms.begin.push_back(std::ssize(terms.input));
    const std::int64_t o = out[at.result.second], group = o / (outputs / groups),
                       set = o / (outputs / batches);
    const std::int64_t from =
        (out[at.result.first] + set * batch) * in[at.input.first] + group * features * in[at.input.second];
    each_index(sizes, [&](const Integers& place) {
      std::int64_t a = from, b = o * tap[at.kernel.second];
      for (std::size_t d = 0; d < window.size(); ++d) {
        const WindowDim& w = window[d];
        const std::int64_t x = out[at.result.spatial[d]] * w.stride + place[d] * w.dilation - w.low;
        if (x < 0 || x % w.base_dilation != 0 || x / w.base_dilation >= input[at.input.spatial[d]]) return;
        a += x / w.base_dilation * in[at.input.spatial[d]];
        b += (w.reversed ? w.size - 1 - place[d] : place[d]) * tap[at.kernel.spatial[d]];
      }
      for (std::int64_t f = 0; f < features; ++f)
        terms.input.push_back(a + f * in[at.input.second]),
            terms.kernel.push_back(b + f * tap[at.kernel.first]);
    });
  });
  terms.begin.push_back(std::ssize(terms.input));
  return terms;
}

}  // namespace plumb::hlo

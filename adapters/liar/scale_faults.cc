#include "adapters/liar/scale_faults.h"

#include <algorithm>
#include <numeric>

namespace plumb::liar {
namespace {

template <class Change>
void each(Plan& plan, Change&& change) {
  for (std::size_t i = 0; i < plan.quantizers.size(); ++i)
    if (plan.quantizers[i]) change(*plan.quantizers[i], plan.operands[i]);
}

// The dimension along which blocks run, or -1.
int block_dim(const Quantizer& q) {
  for (std::size_t d = 0; d < q.tiles.count.size(); ++d)
    if (in_blocks(q.scheme) && q.tiles.count[d] < std::ssize(q.tiles.along[d])) return static_cast<int>(d);
  return -1;
}

}  // namespace

void use_unquantized(Plan& plan) {
  if (!plan.product) return;
  for (std::size_t i = 0; i < plan.inputs.size(); ++i) {
    if (!plan.quantizers[i]) continue;
    plan.quantizers[i].reset();
    for (Leg& leg : plan.inputs[i]) leg.from.dtype = leg.to.dtype = plan.operands[i].dtype;
  }
}

void cast_unscaled(Plan& plan) {
  each(plan, [](Quantizer& q, const Spec&) { q.scaling = Scaling::none; });
}

void scale_locally(Plan& plan) {
  each(plan, [](Quantizer& q, const Spec&) { q.axes.clear(); });
}

void forget_one_axis(Plan& plan) {
  each(plan, [](Quantizer& q, const Spec&) {
    if (!q.axes.empty()) q.axes.pop_back();
  });
}

void scale_along_another(Plan& plan) {
  each(plan, [](Quantizer& q, const Spec&) { std::iota(q.axes.begin(), q.axes.end(), AxisId{0}); });
}

void round_scales_down(Plan& plan) {
  each(plan, [](Quantizer& q, const Spec&) { q.scaling = Scaling::down; });
}

void invert_otherwise(Plan& plan) {
  each(plan, [](Quantizer& q, const Spec&) { q.scaling = Scaling::quotient; });
}

void divide_by_scale(Plan& plan) {
  each(plan, [](Quantizer& q, const Spec&) { q.divides = true; });
}

void round_ties_away(Plan& plan) {
  each(plan, [](Quantizer& q, const Spec&) { q.ties_away = true; });
}

void restart_blocks(Plan& plan) {
  if (!plan.product) return;  // the scales of a result have their shape
  each(plan, [&](Quantizer& q, const Spec& spec) {
    const int d = block_dim(q);
    if (d < 0) return;
    std::int64_t tile = 0;
    for (std::int64_t p = 0; p < axes_size(plan.mesh, spec.dims[d].axes); ++p) {
      const Range range = piece(plan.mesh, spec.dims[d], plan.rule, p);
      for (std::int64_t i = 0; i < range.size(); ++i)
        q.tiles.along[d][range.begin + i] = tile + i / kBlockSize;
      tile += (range.size() + kBlockSize - 1) / kBlockSize;
    }
    q.tiles.count[d] = tile;
  });
}

void transpose_scales(Plan& plan) {
  each(plan, [](Quantizer& q, const Spec& spec) {
    const int d = block_dim(q);
    if (d < 0 || spec.dims.size() != 2 || spec.dims[0].size != spec.dims[1].size) return;
    std::swap(q.tiles.along[0], q.tiles.along[1]);
    std::swap(q.tiles.count[0], q.tiles.count[1]);
  });
}

void share_scales(Plan& plan) {
  each(plan, [](Quantizer& q, const Spec&) {
    if (in_blocks(q.scheme) || q.tiles.along.empty()) return;
    for (std::int64_t& tile : q.tiles.along[0]) tile = std::min<std::int64_t>(tile, 0);
  });
}

void scale_the_tail(Plan& plan) {
  each(plan, [](Quantizer& q, const Spec&) {
    if (q.tiles.along.empty() || q.tiles.count[0] == 0) return;
    for (std::int64_t& tile : q.tiles.along[0])
      if (tile < 0) tile = q.tiles.count[0] - 1;
  });
}

void gather_no_history(Plan& plan) {
  if (plan.product || plan.inputs.size() < 2) return;
  for (Leg& leg : plan.inputs[1]) {
    leg.zeroed = true;
    leg.issued.clear();
    for (Round& round : leg.rounds) {
      round.issued = -1;
      std::erase_if(round.sends, [](const Send& s) { return s.from != s.to; });
    }
  }
}

void keep_history(Moment moment, Blocks& ranks) {
  if (moment != Moment::result || ranks.rank() != 1 || ranks.stored != DType::f32) return;
  for (std::int64_t device = 0; device < ranks.devices(); ++device) {
    const auto first = reinterpret_cast<float*>(ranks.block(device));
    const std::int64_t n = ranks.elements(device);
    if (n > 1) std::rotate(first, first + n - 1, first + n);
  }
}

void leak_scales(Moment moment, Blocks& ranks) {
  if (ranks.stored == DType::e8m0) leave_poison(moment, ranks);
}

}  // namespace plumb::liar

#include "adapters/cuda/faults.h"

#include <algorithm>
#include <span>
#include <stdexcept>

#include "adapters/cuda/laid.h"
#include "adapters/protocol/fault_lines.h"

namespace plumb::cuda {
namespace {

Device sound;  // what has the fault, without it

// A table of the device's memory, brought here.
template <class Row>
std::vector<Row> brought(const Row* there, std::int64_t rows) {
  std::vector<Row> here(rows);
  sound.hands.memory.get(reinterpret_cast<std::byte*>(here.data()), reinterpret_cast<const std::byte*>(there),
                         here.size() * sizeof(Row));
  return here;
}

// Pieces and numbers, to be told otherwise.
struct Retold {
  Moves moves;
  std::vector<Piece> pieces;
  std::vector<std::int64_t> numbers;
  explicit Retold(const Moves& m) : moves(m), pieces(brought(m.pieces, m.count)) {
    std::int64_t end = 0;
    for (const Piece& p : pieces) end = std::max(end, p.at + p.dims + (p.sources + 1) * (p.dims + 1));
    numbers = brought(m.numbers, end);
  }
  std::span<std::int64_t> place(const Piece& p, std::int64_t i) {  // 0 is the receiver
    return std::span(numbers).subspan(p.at + p.dims + i * (p.dims + 1), p.dims + 1);
  }
  void carry_out() {
    const Laid<Piece> laid = lay<Piece>(sound.hands, pieces);
    const Laid<std::int64_t> laid_numbers = lay<std::int64_t>(sound.hands, numbers);
    moves.pieces = laid.rows(), moves.numbers = laid_numbers.rows();
    sound.move(moves);
    sound.hands.memory.wait();
  }
};

// A grid of whole blocks of four threads.
void skips_the_tail(const Moves& m) {
  Moves fewer = m;
  fewer.elements = m.elements / 4 * 4;
  sound.move(fewer);
}

void drops_last_source(const Moves& m) {
  Retold told(m);
  for (Piece& p : told.pieces)
    if (p.sources > 2) --p.sources;
  told.carry_out();
}

// The receiver's own part is taken for a part that was sent, and added once more.
void adds_own_twice(const Moves& m) {
  Retold told(m);
  for (Piece& p : told.pieces)
    if (p.own == 0) std::ranges::copy(told.place(p, 1), told.place(p, 2).begin());
  told.carry_out();
}

// Each begins at another part, so that sums that all make come out otherwise.
void begins_at_own(const Moves& m) {
  Retold told(m);
  std::int64_t turn = 0;
  for (const Piece& p : told.pieces)
    if (const std::int64_t n = p.sources; m.meeting == Meeting::add && n > 1) {
      const std::vector<std::int64_t> before = told.numbers;
      const std::int64_t step = p.dims + 1, first = p.at + p.dims + step;
      for (std::int64_t k = 0; k < n * step; ++k)
        told.numbers[first + k] = before[first + (k + turn * step) % (n * step)];
      ++turn;
    }
  told.carry_out();
}

// The sources are as dense as the receiver.
void takes_for_dense(const Moves& m) {
  Retold told(m);
  for (const Piece& p : told.pieces)
    for (std::int64_t i = 1; i <= p.sources; ++i)
      std::ranges::copy(told.place(p, 0).subspan(1), told.place(p, i).subspan(1).begin());
  told.carry_out();
}

// The sums so far are rounded to 8 digits on their way.
void narrows_the_wire(const Moves& m) {
  Moves narrow = m;
  if (m.stored == DType::f32) narrow.wire = DType::bf16;
  sound.move(narrow);
}

void takes_smaller(const Moves& m) {
  Moves other = m;
  if (m.meeting == Meeting::larger) other.meeting = Meeting::smaller;
  sound.move(other);
}

// As where threads add to one element at once: the parts of each sum come in another order than those of the
// last.
void adds_as_they_come(const Moves& m) {
  static std::int64_t sums = 0;
  Retold told(m);
  if (m.meeting == Meeting::add) ++sums;
  for (const Piece& p : told.pieces)
    if (m.meeting == Meeting::add && p.sources > 1) {
      const std::int64_t step = p.dims + 1, others = p.sources - 1;
      std::int64_t* first = told.place(p, 2).data();
      std::rotate(first, first + sums % others * step, first + others * step);
    }
  told.carry_out();
}

void never_ends(const Moves&) {
  static const std::int64_t one = 1;
  static const Laid<std::int64_t> there = lay<std::int64_t>(sound.hands, std::span(&one, 1));
  sound.spin(there.rows());
}

void fails(const Moves&) { throw std::runtime_error("a kernel: an illegal memory access was encountered"); }

void loses_context(Device& device) {
  device.lost = [] { return true; };
}

void has_no_room(Device& device) {
  device.hands.memory.allocate = [](std::size_t) -> std::byte* { return nullptr; };
}

void meets_first_group(const Products& p) {
  Products one = p;
  one.groups = Groups::none;
  sound.multiply(one);
}

void forgets_a_term(const Products& p) {
  const std::vector<Product> products = brought(p.products, p.count);
  std::vector<std::int64_t> numbers = brought(p.numbers, products.back().at + 6 + 3 * (p.letters + p.summed));
  for (const Product& one : products) --numbers[one.at + 6 + 3 * p.letters];
  const Laid<std::int64_t> laid = lay<std::int64_t>(sound.hands, numbers);
  Products less = p;
  less.numbers = laid.rows();
  sound.multiply(less);
  sound.hands.memory.wait();
}

// Sums of products from the first of so many on, of which each is made another.
template <class Change>
void change_sums(const Products& p, std::int64_t from, Change&& change) {
  sound.multiply(p);
  if (p.acc != DType::f32) return;
  const std::vector<Product> products = brought(p.products, p.count);
  const std::vector<std::int64_t> numbers = brought(p.numbers, products.back().at + 3);
  for (std::int64_t i = from; i < p.count; ++i) {
    const std::int64_t end = i + 1 < p.count ? products[i + 1].first : p.elements;
    std::byte* there = p.out + numbers[products[i].at + 2];
    auto sums = brought(reinterpret_cast<const std::uint32_t*>(there), end - products[i].first);
    for (std::uint32_t& sum : sums) sum = change(sum);
    sound.hands.memory.put(there, reinterpret_cast<const std::byte*>(sums.data()),
                           sums.size() * sizeof sums[0]);
  }
}

// As an engine of 11 digits would, which no row of the model is; as one that truncates.
void narrows_sums(const Products& p) {
  change_sums(p, 0, [](std::uint32_t sum) { return sum & ~std::uint32_t{0x1fff}; });
}
void truncates_sums(const Products& p) {
  change_sums(p, 0, [](std::uint32_t sum) { return sum & ~std::uint32_t{1}; });
}

void signs_its_zeros(const Products& p) {
  change_sums(p, p.count - 1, [](std::uint32_t sum) { return sum == 0 ? std::uint32_t{1} << 31 : sum; });
}

constexpr const char* scatter = "on x=4: reshard f32[64]+x -> f32[64@x]";
constexpr const char* reduce = "on x=4: reshard f32[64]+x -> f32[64] fill=normal";
constexpr const char* turn = "on x=2: reshard f32[8@x,8] -> f32[8,8@x]";
constexpr const char* most = "on x=4: reshard f32[64]+max(x) -> f32[64@x]";
constexpr const char* product = "on x=2: einsum mk,kn->mn f32[8@x,8] f32[8,8] -> f32[8@x,8]";
constexpr const char* rounding =
    "on x=2: einsum mk,kn->mn bf16[8,64@x] bf16[64@x,8] -> bf16[8,8] fill=normal";
constexpr const char* empty = "on x=2: grouped wgrad f32[8,4] f32[8,4] sizes=4,0,4 -> f32[3,4,4]";
constexpr const char* forward = "on x=2: grouped fwd f32[8@x,4] f32[2,4,4] sizes=3,5 -> f32[8@x,4]";

// clang-format off
const std::vector<KernelFault>& kernel_faults() {
  static const std::vector<KernelFault> rows{
    // name, what it does, the verdict, plan, flags, cases, what is broken
    {"skips-the-tail", "works on no more elements than fill a block of threads", "leaked", "direct", "", {"on x=2: reshard f32[7@x] -> f32[7]"}, skips_the_tail},
    {"drops-last-source", "does not add the last part of a sum", "wrong", "direct", "", {scatter}, drops_last_source},
    {"adds-own-twice", "adds the receiver's own part in the place of one that was sent", "wrong", "direct", "", {scatter}, adds_own_twice},
    {"begins-at-own", "begins a sum that all make at another part on each", "diverged", "calls", "", {reduce}, begins_at_own},
    {"takes-for-dense", "reads the sources as dense as the receiver", "wrong", "direct", "", {turn}, takes_for_dense},
    {"narrows-the-wire", "rounds the parts of a sum of f32 to bf16 on their way", "wrong", "direct", "", {scatter}, narrows_the_wire},
    {"takes-smaller", "takes the smallest part for the largest", "wrong", "direct", "", {most}, takes_smaller},
    {"adds-as-they-come", "adds the parts of a sum in the order in which they come", "unstable", "direct", "--reruns 1", {"on x=4: reshard f32[64]+x -> f32[64@x] fill=normal"}, adds_as_they_come},
    {"never-ends", "does not end", "hung", "direct", "--timeout 2", {scatter}, never_ends},
    {"is-lost", "fails, and every later call with it", "crashed", "direct", "", {scatter}, fails, nullptr, "ieee", loses_context},
    {"has-no-room", "has no memory", "reneged", "direct", "", {scatter}, nullptr, nullptr, "ieee", has_no_room},
    {"meets-first-group", "multiplies every row by the weights of the first group", "wrong", "direct", "", {forward}, nullptr, meets_first_group},
    {"narrows-sums", "adds up products to 11 digits, and says that its engine is one of 24", "mistrusted", "direct", "", {rounding}, nullptr, narrows_sums, "matrix"},
    {"hides-its-engine", "cuts the last bit off few short sums of products, as a matrix engine does, and says none", "mistrusted", "direct", "", {"on x=2: einsum mk,kn->mn f32[4,8] f32[8,4@x] -> f32[4,4@x] fill=normal"}, nullptr, truncates_sums},
    {"signs-its-zeros", "makes zeros of the last device's product negative ones", "diverged", "direct", "", {empty}, nullptr, signs_its_zeros},
    {"forgets-a-term", "leaves the last term out of every product", "wrong", "direct", "", {product}, nullptr, forgets_a_term},
  };
  return rows;
}
// clang-format on

}  // namespace

const KernelFault& kernel_fault(const std::string& name) {
  const auto at = std::ranges::find(kernel_faults(), name, &KernelFault::name);
  if (at == kernel_faults().end()) throw std::invalid_argument("no fault " + name);
  return *at;
}

const Device& faulty(const Device& device, const KernelFault& fault) {
  static Device has_it;
  sound = has_it = device;
  if (fault.move) has_it.move = fault.move;
  if (fault.multiply) has_it.multiply = fault.multiply;
  has_it.engine = fault.engine;
  if (fault.otherwise) fault.otherwise(has_it);
  return has_it;
}

std::string list_kernel_faults() { return fault_lines("cuda", kernel_faults(), {"--device", "host"}); }

}  // namespace plumb::cuda

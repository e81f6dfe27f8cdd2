#include "rnnsearch/kernels/dropout.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/dropout.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <vector>

#include "kernels/dispatch.h"

HWY_BEFORE_NAMESPACE();
namespace rnnsearch::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Units are processed in chunks of 4 kBlocks: word r of block b belongs to unit r kBlocks + b of its chunk.
constexpr std::size_t kBlocks = 64;
using Words = std::uint64_t[4][kBlocks];  // the random words are the lower 32 bits

// What the words of a row are drawn from: words 1 to 3 of the counter (word 0 counts blocks of four units) and the key.
struct PhiloxInput {
  std::uint32_t step, sentence[2], key[2];
};

// The product of the lower 32 bits of each lane.
template <class V>
HWY_INLINE V product(V a, V b) {
#if HWY_TARGET == HWY_SCALAR
  return V((a.raw & 0xFFFFFFFF) * (b.raw & 0xFFFFFFFF));
#else
  const hn::Repartition<std::uint32_t, hn::DFromV<V> > halves;
  return hn::MulEven(hn::BitCast(halves, a), hn::BitCast(halves, b));
#endif
}

// philox of base/portable.h with one block in each lane. The upper halves of the lanes are meaningless.
HWY_INLINE void draw(const PhiloxInput& row, std::size_t first_block, std::size_t blocks, Words& words) {
  const hn::ScalableTag<std::uint64_t> d;
  const auto set = [d](std::uint64_t value) HWY_ATTR { return hn::Set(d, value); };
  for (std::size_t b = 0; b < blocks; b += hn::Lanes(d)) {
    auto c0 = hn::Iota(d, first_block + b), c1 = set(row.step);
    auto c2 = set(row.sentence[0]), c3 = set(row.sentence[1]);
    std::uint32_t key[2] = {row.key[0], row.key[1]};
    for (int round = 0; round < 10; ++round) {
      const auto p = product(set(0xD2511F53), c0), q = product(set(0xCD9E8D57), c2);
      c0 = hn::Xor(hn::Xor(hn::ShiftRight<32>(q), c1), set(key[0]));
      c2 = hn::Xor(hn::Xor(hn::ShiftRight<32>(p), c3), set(key[1]));
      c1 = q;
      c3 = p;
      key[0] += 0x9E3779B9;
      key[1] += 0xBB67AE85;
    }
    hn::StoreU(c0, d, words[0] + b);
    hn::StoreU(c1, d, words[1] + b);
    hn::StoreU(c2, d, words[2] + b);
    hn::StoreU(c3, d, words[3] + b);
  }
}

void drop_units(const DropoutMask& mask, Matrix x, std::size_t first_row, std::size_t last_row) {
  const std::size_t n = x.cols;
  const auto scale = static_cast<Real>(1 / (1 - mask.share));
  const auto threshold = static_cast<std::uint32_t>(mask.share * 0x1p32);  // a unit is dropped if its word is below
  const auto low = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
  HWY_ALIGN Words words;
  for (std::size_t i = first_row; i < last_row; ++i) {
    const std::uint64_t sentence = mask.sentences[i];
    const PhiloxInput input{mask.steps.empty() ? 0 : mask.steps[i] + mask.shift,
                            {low(sentence), low(sentence >> 32)},
                            {low(mask.key), low(mask.key >> 32)}};
    for (std::size_t first = 0; first < n; first += 4 * kBlocks) {
      draw(input, first / 4, std::min(kBlocks, n - first), words);
      for (std::size_t r = 0; r < 4 && first + r * kBlocks < n; ++r) {
        Real* const unit = x.row(i) + first + r * kBlocks;
        const std::size_t count = std::min(kBlocks, n - first - r * kBlocks);
        for (std::size_t b = 0; b < count; ++b) {
          const bool dropped = low(words[r][b]) < threshold;
          unit[b] = dropped ? Real{0} : unit[b] * scale;
        }
      }
    }
  }
}

}  // namespace rnnsearch::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rnnsearch::kernels {

HWY_EXPORT(drop_units);

void drop(const DropoutMask& mask, Matrix x) {
  if (!mask.drops()) return;
  assert(mask.fits(x));
  static auto* const kernel = RNNSEARCH_CHOSEN(drop_units);
  parallel_ranges(x.rows, rows_per_piece(4 * x.cols),
                  [&](std::size_t first, std::size_t last) { kernel(mask, x, first, last); });
}

void drop_rows(const DropoutMask& mask, Matrix x) {
  if (!mask.drops()) return;
  std::vector<Real> factors(x.rows, 1);  // 0 or 1 / (1 - P)
  drop(mask, {factors.data(), x.rows, 1});
  for_each_row(x.rows, x.cols, [&](std::size_t i) {
    Real* const row = x.row(i);
    for (std::size_t k = 0; k < x.cols; ++k) row[k] = factors[i] == 0 ? 0 : row[k] * factors[i];
  });
}

}  // namespace rnnsearch::kernels
#endif

#include "rnnsearch/kernels/top_words.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/top_words.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cassert>
#include <limits>
#include <memory>

#include "kernels/dispatch.h"
#include "kernels/products/product_tiles.h"
#include "kernels/softmax-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rnnsearch::kernels::HWY_NAMESPACE {

// Writes the elements of x [n] above the threshold, in their order, with the numbers first + i. Returns how many there
// are. `to` has room for n.
std::size_t words_above(std::span<const float> x, float threshold, std::uint32_t first, TopWords::Entry* to) {
  const hn::ScalableTag<float> d;
  const auto limit = hn::Set(d, threshold);
  const std::size_t lanes = hn::Lanes(d);
  std::size_t count = 0, n = x.size();
  const auto take = [&](std::size_t i) {
    if (x[i] > threshold) to[count++] = {x[i], first + static_cast<std::uint32_t>(i)};
  };
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    if (hn::AllFalse(d, hn::Gt(hn::LoadU(d, x.data() + i), limit))) continue;
    for (std::size_t lane = 0; lane < lanes; ++lane) take(i + lane);
  }
  for (; i < n; ++i) take(i);
  return count;
}

}  // namespace rnnsearch::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rnnsearch::kernels {
namespace {

HWY_EXPORT(words_above);
HWY_EXPORT(block_sum);
HWY_EXPORT(log_sum);

constexpr float kLowest = -std::numeric_limits<float>::infinity();

// TopWords::look_up: each word by the tile of a single row. sums: [R]
void look_up(ConstMatrix t, const PackedMatrix& W_o, std::span<const float> bias, std::span<const LogSum> sums,
             std::span<const WordOfRow> words) {
  constexpr std::size_t kWordsPerPiece = 64;
  const ProductTiles& tiles = *W_o.tiles();
  const std::size_t depth = tiles.padded(t.cols);
  parallel_ranges(words.size(), kWordsPerPiece, [&](std::size_t first, std::size_t last) {
    thread_local Buffer<float> packed, product;
    float* const strip = packed.shape(1, ceil_div(tiles.strip_bytes(1, depth), sizeof(float))).data;
    float* const scores = product.shape(1, tiles.cols).data;
    for (const WordOfRow& one : words.subspan(first, last - first)) {
      const std::size_t panel = one.word / tiles.cols, column = panel * tiles.cols;
      tiles.pack_strip(1, t.cols, t.row(one.row), t.stride, strip);
      tiles.tile(1, std::min(tiles.cols, bias.size() - column), depth, {strip},
                 {W_o.panels() + panel * tiles.panel_bytes(depth)}, scores, tiles.cols, false, {});
      const LogSum& sum = sums[one.row];
      *one.log_probability = (scores[one.word - column] + bias[one.word] - sum.largest) - sum.log;
    }
  });
}

// The words are divided into blocks, in which the exponentials of a row are summed (dispatch.h), and the blocks
// into chunks, each of which is a piece of work. A chunk keeps a list of the best words of every row so far; the lists
// of all chunks are merged at the end.
class Selection {
  using Entry = TopWords::Entry;  // its log_probability is a score until the lists are merged

 public:
  Selection(ConstMatrix t, const ProductTiles& tiles, const std::byte* panels, std::span<const float> bias,
            TopWords& top)
      : t_(t),
        tiles_(tiles),
        panels_(panels),
        bias_(bias),
        top_(top),
        log_sums_(t.rows),
        depth_(tiles.padded(t.cols)),
        strips_(tiles.max_rows, tiles.row_step, t.rows),
        blocks_(ceil_div(bias.size(), kWordsPerSum)),
        chunks_(thread_count() == 1 ? 1 : std::min(blocks_, kChunksPerThread * thread_count())),
        room_(2 * top.limit),
        lists_(std::make_unique_for_overwrite<Entry[]>(chunks_ * t.rows * room_)),
        lengths_(chunks_ * t.rows) {}

  /// Returns the log of the sum of each row.
  std::vector<LogSum> run() {
    thread_local Buffer<float> strips, sums;  // one for each calling thread is enough, as for products
    pack_strips(strips.shape(1, ceil_div(tiles_.strip_bytes(t_.rows, depth_), sizeof(float))));
    const auto statistics = sums.shape(2 * t_.rows, blocks_);
    largest_ = statistics.row_range(0, t_.rows);
    sums_ = statistics.row_range(t_.rows, t_.rows);
    parallel_for(chunks_, [&](std::size_t chunk) { run_chunk(chunk); });
    parallel_ranges(t_.rows, kRowsToMerge, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) merge(i);
    });
    return std::move(log_sums_);
  }

 private:
  // More chunks would share the work more evenly, but each one begins without a threshold and has to sort its first
  // block.
  static constexpr std::size_t kChunksPerThread = 1, kStripsToPack = 4, kRowsToMerge = 8;
  // The scores of so many rows in a block, of 2 KB each, and the strips of these rows share the L2 cache.
  static constexpr std::size_t kRowsAtOnce = 192;
  // Rows of a block are a little more than a power of two apart, so that they do not evict each other.
  static constexpr std::size_t kStride = kWordsPerSum + 16;

  void pack_strips(Matrix to) {
    auto* const bytes = reinterpret_cast<std::byte*>(to.data);
    packed_ = bytes;
    parallel_ranges(strips_.count, kStripsToPack, [&](std::size_t first, std::size_t last) {
      for (std::size_t s = first; s < last; ++s) {
        const std::size_t row = strips_.first(s);
        tiles_.pack_strip(strips_.rows(s), t_.cols, t_.row(row), t_.stride, bytes + tiles_.strip_bytes(row, depth_));
      }
    });
  }

  void run_chunk(std::size_t chunk) {
    thread_local Buffer<float> buffer;
    thread_local std::vector<Entry> found;
    const auto scores = buffer.shape(kRowsAtOnce, kStride);
    std::vector<float> thresholds(t_.rows, kLowest);
    const std::size_t strips_at_once = std::max<std::size_t>(1, kRowsAtOnce / tiles_.max_rows);
    for (std::size_t block = blocks_ * chunk / chunks_; block < blocks_ * (chunk + 1) / chunks_; ++block) {
      const std::size_t word = block * kWordsPerSum, count = std::min(kWordsPerSum, bias_.size() - word);
      for (std::size_t s = 0; s < strips_.count; s += strips_at_once) {
        const std::size_t last = std::min(strips_.count, s + strips_at_once);
        multiply_block(word, count, s, last, scores);
        for (std::size_t i = strips_.first(s); i < strips_.first(last); ++i) {
          float* const row = scores.row(i - strips_.first(s));
          const BlockSum own = RNNSEARCH_CHOSEN(block_sum)(count, bias_.data() + word, row);
          largest_(i, block) = own.largest;
          sums_(i, block) = own.sum;
          if (!(own.largest > thresholds[i])) continue;
          found.resize(room_ + count);
          const std::size_t more = RNNSEARCH_CHOSEN(words_above)(
              {row, count}, thresholds[i], static_cast<std::uint32_t>(word), found.data() + room_);
          keep(chunk * t_.rows + i, found, more, thresholds[i]);
        }
      }
    }
  }

  // scores [rows of strips [first, last), count] = these rows of t times the columns of W_o from `word` on
  void multiply_block(std::size_t word, std::size_t count, std::size_t first, std::size_t last, Matrix scores) const {
    const std::size_t panel_bytes = tiles_.panel_bytes(depth_), deep = depth_block(tiles_, depth_);
    for (std::size_t k = 0; k < depth_; k += deep) {
      const std::size_t here = std::min(deep, depth_ - k);
      for (std::size_t column = 0; column < count; column += tiles_.cols) {
        const std::byte* const panel = panels_ + (word + column) / tiles_.cols * panel_bytes + tiles_.panel_bytes(k);
        const bool is_last = word + column + tiles_.cols >= bias_.size();
        for (std::size_t s = first; s < last; ++s) {
          Ahead ahead;
          if (!is_last) ahead = Ahead::part_of(panel + panel_bytes, tiles_.panel_bytes(here), s - first, last - first);
          const std::size_t row = strips_.first(s), rows = strips_.rows(s);
          tiles_.tile(rows, std::min(tiles_.cols, count - column), here,
                      {packed_ + tiles_.strip_bytes(row, depth_) + tiles_.strip_bytes(rows, k)}, {panel},
                      scores.row(row - strips_.first(first)) + column, scores.stride, k > 0, ahead);
        }
      }
    }
  }

  // Adds found[room_ .. room_ + more) to a list, and when it is full, leaves only the best words in it. Words come in
  // ascending order, so that a later one is better only with a higher score.
  void keep(std::size_t at, std::vector<Entry>& found, std::size_t more, float& threshold) {
    Entry* const list = lists_.get() + at * room_;
    std::size_t& length = lengths_[at];
    if (length + more <= room_) {
      std::copy_n(found.data() + room_, more, list + length);
      length += more;
      return;
    }
    Entry* const all = found.data() + room_ - length;
    std::copy_n(list, length, all);
    std::nth_element(all, all + top_.limit - 1, all + length + more, belongs_before);
    std::copy_n(all, top_.limit, list);
    length = top_.limit;
    threshold = list[length - 1].log_probability;
  }

  void merge(std::size_t row) {
    const LogSum sum = RNNSEARCH_CHOSEN(log_sum)({largest_.row(row), blocks_}, {sums_.row(row), blocks_});
    log_sums_[row] = sum;
    if (sum.log != sum.log) {
      top_.nan[row] = 1;
      return;
    }
    thread_local std::vector<Entry> all;
    all.clear();
    for (std::size_t chunk = 0; chunk < chunks_; ++chunk) {
      const Entry* const list = lists_.get() + (chunk * t_.rows + row) * room_;
      all.insert(all.end(), list, list + lengths_[chunk * t_.rows + row]);
    }
    std::size_t length = std::min(top_.limit, all.size());
    std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(length), all.end(), belongs_before);
    auto* const entries = top_.entries.data() + row * top_.limit;
    for (std::size_t i = 0; i < length; ++i)
      entries[i] = {(all[i].log_probability - sum.largest) - sum.log, all[i].word};
    std::sort(entries, entries + length, belongs_before);  // scores that differ may have become equal
    while (length > 0 && !(entries[length - 1].log_probability > kLowest)) --length;  // an overflow to probability 0
    top_.lengths[row] = static_cast<std::uint32_t>(length);
  }

  const ConstMatrix t_;
  const ProductTiles& tiles_;
  const std::byte* const panels_;
  const std::span<const float> bias_;
  TopWords& top_;
  std::vector<LogSum> log_sums_;  // [R]
  const std::size_t depth_;
  const Strips strips_;
  const std::size_t blocks_, chunks_, room_;
  const std::byte* packed_ = nullptr;     // t, in strips
  Matrix largest_, sums_;                 // [R, blocks]
  const std::unique_ptr<Entry[]> lists_;  // [chunks, R, room]
  std::vector<std::size_t> lengths_;      // [chunks, R]
};

}  // namespace

void top_words(ConstMatrix t, const PackedMatrix& W_o, std::span<const Real> bias, TopWords& top) {
  assert(t.cols > 0 && t.cols == W_o.rows() && bias.size() == W_o.cols() && top.limit > 0);
  top.shape(t.rows, bias.size());
  if (t.rows == 0 || bias.empty()) return;
  top.look_up = [t, &W_o, bias, sums = Selection(t, *W_o.tiles(), W_o.panels(), bias, top).run()](const auto& words) {
    look_up(t, W_o, bias, sums, words);
  };
}

}  // namespace rnnsearch::kernels
#endif

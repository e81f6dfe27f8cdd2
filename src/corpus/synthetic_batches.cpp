#include "rnnsearch/corpus/synthetic_batches.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <memory>
#include <set>
#include <sstream>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/option.h"
#include "rnnsearch/base/portable.h"

namespace rnnsearch::corpus {
namespace {

constexpr std::size_t kLongest = 100000;

std::vector<WordId> draw_sentence(std::size_t length, std::size_t vocabulary, Random& random) {
  const auto ordinary = static_cast<double>(vocabulary - kEnd - 1);
  std::vector<WordId> words(length);
  for (WordId& word : words) {
    // The inverse of the distribution function log(k) / log(N + 1) of the continuous law 1 / k.
    const double k = std::min(std::floor(portable::power(ordinary + 1, random.uniform())), ordinary);
    word = static_cast<WordId>(kEnd + k);
  }
  return words;
}

}  // namespace

std::vector<PairLength> read_pair_lengths(std::string_view text, const std::string& name) {
  std::vector<PairLength> lengths;
  std::istringstream lines{std::string(text)};
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream fields(line);
    std::string source, target, more;
    fields >> source >> target;
    std::uint64_t s = 0, t = 0;
    const auto good = [](std::uint64_t length) { return 1 <= length && length <= kLongest; };
    if (!value::read(source, s) || !value::read(target, t) || fields >> more || !good(s) || !good(t)) {
      const std::string shown = line.size() <= 40 ? line : line.substr(0, 40) + "...";
      throw Error("{}, line {}: '{}' is not the two lengths of a sentence pair, each from 1 to {}, as in '25 27'", name,
                  number, shown, kLongest);
    }
    lengths.push_back({s, t});
  }
  if (lengths.empty()) throw Error("{} is empty: it must hold the lengths of a sentence pair on each line", name);
  return lengths;
}

std::vector<BatchSlice> synthetic_batches(const SyntheticOptions& options, std::size_t count, std::size_t rank,
                                          std::size_t ranks, std::size_t run) {
  assert(rank < ranks && !options.lengths.empty());
  Random random(options.seed);
  std::vector<PairLength> lengths = options.lengths;  // in a drawn order, and again in another after the last one
  std::size_t next = lengths.size();
  const auto next_length = [&] {
    if (next == lengths.size()) {
      random.shuffle(lengths);
      next = 0;
    }
    return lengths[next++];
  };
  std::vector<BatchSlice> slices;
  while (slices.size() < count) {
    std::vector<PairLength> pool(options.pool_batches * options.batch_sentences);
    std::generate(pool.begin(), pool.end(), next_length);
    std::stable_sort(pool.begin(), pool.end(), [](const PairLength& a, const PairLength& b) {
      return std::max(a.source, a.target) < std::max(b.source, b.target);
    });
    std::vector<std::size_t> order(options.pool_batches);
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    random.shuffle(order);
    for (std::size_t k = 0; k < order.size() && slices.size() < count; ++k) {
      BatchSlice& slice = slices.emplace_back();
      slice.batch_pairs = options.batch_sentences;
      slice.first_pair = rank * run;
      slice.pair_stride = ranks * run;
      std::set<WordId> sample{kEnd};
      for (std::size_t i = 0; i < options.batch_sentences; ++i) {
        const PairLength pair = pool[order[k] * options.batch_sentences + i];
        slice.batch_source_words += pair.source;
        slice.batch_target_words += pair.target;
        const auto source = draw_sentence(pair.source, options.source_words, random);
        const auto target = draw_sentence(pair.target, options.target_words, random);
        if (options.sampled_softmax > 0) sample.insert(target.begin(), target.end());
        if (i / run % ranks != rank) continue;
        slice.source.add(source);
        slice.target.add(target);
      }
      if (options.sampled_softmax == 0) continue;
      for (WordId word = kEnd; word < options.target_words && sample.size() < options.sampled_softmax; ++word) {
        sample.insert(word);
      }
      slice.sample = std::make_shared<const std::vector<WordId>>(sample.begin(), sample.end());
    }
  }
  return slices;
}

}  // namespace rnnsearch::corpus

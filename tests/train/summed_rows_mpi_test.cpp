#include "train/shard_sums.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "rnnsearch/base/portable.h"
#include "tests/support/mpi_main.h"

namespace rnnsearch::train {
namespace {

constexpr std::size_t kTableRows = 70, kCols = 5;
using support::communicator;

/// The words of a rank in an update, without repetition, and their gradients: about 1, which bfloat16 rounds always in
/// the same direction.
struct Drawn {
  std::vector<WordId> words;
  std::vector<float> gradients;  // [words.size(), kCols]
};
Drawn drawn(std::uint64_t update, int rank) {
  Random random(1000 * update + static_cast<std::uint64_t>(rank));
  std::set<WordId> words;
  for (std::uint64_t left = random.below(20); left > 0; --left)
    words.insert(static_cast<WordId>(3 + random.below(kTableRows - 3)));
  Drawn result{{words.begin(), words.end()}, {}};
  random.shuffle(result.words);
  for (std::size_t i = 0; i < result.words.size() * kCols; ++i) {
    result.gradients.push_back(1.001F + 1e-4F * static_cast<float>(random.below(10)));
  }
  return result;
}

struct Sums {
  std::vector<double> found = std::vector<double>(kTableRows * kCols), expected = found;  // of all updates
};
Sums sums_of(std::uint64_t updates) {
  model::Model::TableGradient table;
  table.source = true;
  table.rows = {kTableRows, kCols};
  model::ModelOptions options;
  options.source_end = false;
  SummedRows rows(kTableRows, kCols);
  Sums sums;
  for (std::uint64_t update = 0; update < updates; ++update) {
    const Drawn own = drawn(update, communicator().rank());
    Sentences source;
    if (!own.words.empty()) source.add(own.words);
    table.rows.clear();
    table.rows.add(own.words, {own.gradients.data(), own.words.size(), kCols});
    rows.begin_union(communicator(), table, source, {}, options);
    rows.set(communicator(), table);
    communicator().begin_all_reduce(rows.rows());
    communicator().wait_for_all();
    std::set<WordId> united;
    for (int rank = 0; rank < communicator().size(); ++rank) {
      const Drawn theirs = drawn(update, rank);
      united.insert(theirs.words.begin(), theirs.words.end());
      for (std::size_t i = 0; i < theirs.gradients.size(); ++i) {
        sums.expected[theirs.words[i / kCols] * kCols + i % kCols] += static_cast<double>(theirs.gradients[i]);
      }
    }
    EXPECT_TRUE(std::equal(rows.words().begin(), rows.words().end(), united.begin(), united.end()));
    for (std::size_t i = 0; i < rows.rows().size(); ++i) {
      sums.found[rows.words()[i / kCols] * kCols + i % kCols] += static_cast<double>(rows.rows()[i]);
    }
  }
  return sums;
}

TEST(SummedRows, AreTheSumsOfTheWordsThatSomeRankUses) {
  const Sums sums = sums_of(10);
  for (std::size_t i = 0; i < sums.found.size(); ++i) EXPECT_NEAR(sums.found[i], sums.expected[i], 1e-4);
}

}  // namespace
}  // namespace rnnsearch::train

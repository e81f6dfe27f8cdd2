#include "rnnsearch/layers/embedding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/layers/fixtures.h"

namespace rnnsearch::layers {
namespace {

TEST(Embedding, TakesTheWordsRowsAndAddsTheBias) {
  Random random(1);
  Matrix E = random_matrix(random, 6, 3), bias = random_matrix(random, 1, 3), output(3, 3);
  const std::vector<WordId> words = {4, 0, 4};
  EmbeddingTable{.weights = {E.view(), bias.span()}}.forward(words, output.view());
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) EXPECT_EQ(output.view()(i, j), E.view()(words[i], j) + bias.values[j]);
  }
  EmbeddingTable{.weights = {E.view(), {}}}.forward(words, output.view());
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) EXPECT_EQ(output.view()(i, j), E.view()(words[i], j));
  }
}

TEST(Embedding, BackwardEqualsCentralDifferencesWithRepeatedWords) {
  Random random(2);
  const std::vector<WordId> words = {3, 5, 3, 0, 3, 5, 8};
  for (const bool biased : {true, false}) {
    Matrix E = random_matrix(random, 9, 4), bias = random_matrix(random, 1, 4), output(words.size(), 4);
    const Matrix above = random_matrix(random, words.size(), 4);
    Matrix dE(9, 4), dbias(1, 4, kBefore), from_above = above, earlier = above;
    RowGradient table(9, 4);
    const EmbeddingTable embedding{{E.view(), biased ? bias.span() : std::span<double>{}},
                                   {{}, biased ? dbias.span() : std::span<double>{}},
                                   &table};
    const auto loss = [&] {
      embedding.forward(words, output.view());
      return weighted_sum(above, output.view());
    };
    table.add(words, earlier.view());
    table.clear();  // what was there before must be gone
    embedding.backward(words, from_above.view());
    ASSERT_THAT(table.words(), testing::ElementsAre(3, 5, 0, 8)) << "in the order of the first touch, each once";
    for (std::size_t i = 0; i < 4; ++i) std::copy_n(table.rows().row(i), 4, dE.view().row(table.words()[i]));
    expect_gradient("E", E.span(), dE.span(), 0, loss);
    if (biased) expect_gradient("bias", bias.span(), dbias.span(), kBefore, loss);
    const std::vector<double> once(table.rows().data, table.rows().data + 16);
    table.add(words, earlier.view());  // a second batch adds
    for (std::size_t i = 0; i < 16; ++i) EXPECT_NEAR(table.rows().data[i], 2 * once[i], 1e-14);
  }
}

}  // namespace
}  // namespace rnnsearch::layers

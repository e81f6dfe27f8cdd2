#include "rnnsearch/model/model.h"

#include <gtest/gtest.h>

#include "tests/model/fixtures.h"

namespace rnnsearch::model {
namespace {

// 80 pairs of 25 words a side
constexpr BatchSize kBatch{.pairs = 80, .source_words = 2000, .target_words = 2000};
constexpr BatchSize kTwice{.pairs = 160, .source_words = 4000, .target_words = 4000};

ModelOptions paper() {
  ModelOptions options;
  options.source_words = options.target_words = 30000;
  return options;
}

// 2 rows inputs outputs of every product of an update, added up one by one by a program of its own (forward, gradient
// of the input, gradient of the weights); it leaves out s_0.
TEST(UpdateFlop, IsThatOfTheProductsOneByOne) {
  EXPECT_NEAR(update_flop(paper(), kBatch).total() / 506.4e9, 1, 0.01);
  const ModelOptions small =
      with({}, "source-words=8000 target-words=8000 embedding=256 state=512 alignment=512 maxout=256");
  EXPECT_NEAR(update_flop(small, kBatch).total() / 106.4e9, 1, 0.01);
}

TEST(ForwardFlop, IsThePartOfAnUpdateWithoutGradients) {
  const ProductFlop forward = forward_flop(paper(), kBatch), update = update_flop(paper(), kBatch);
  EXPECT_DOUBLE_EQ(3 * forward.encoder, update.encoder);
  EXPECT_DOUBLE_EQ(3 * forward.decoder, update.decoder);
  EXPECT_DOUBLE_EQ(3 * forward.readout, update.readout);
}

TEST(UpdateFlop, KnowsTheFactoredOutputMatrix) {
  ModelOptions factored = paper();
  factored.readout_rank = 620;
  const double whole = 500.0 * 30000, factors = 500.0 * 620 + 620.0 * 30000;
  EXPECT_DOUBLE_EQ(update_flop(factored, kBatch).total() - update_flop(paper(), kBatch).total(),
                   6 * 2000 * (factors - whole));
}

TEST(UpdateFlop, WithoutAttentionHasOneEncoderAndOneContextASentence) {
  ModelOptions none = paper();
  none.attention = Attention::kNone;
  const double m = 620, n = 1000, l = 500, K = 30000;
  const double source_word = 3 * n * (m + n);
  const double target_word = 3 * n * (m + n) + 2 * l * (n + m + n) + l * K;
  const double sentence = n * n + n * 3 * n;  // s_0, C c
  EXPECT_DOUBLE_EQ(update_flop(none, kBatch).total(), 6 * (2000 * (source_word + target_word) + 80 * sentence));
}

TEST(UpdateFlop, KnowsTheVectorOfALinearReadoutThatIsFedBack) {
  const ModelOptions notebook =
      with(paper(),
           "embedding=16 state=16 alignment=16 cell=tanh initial-state=zero state-word=previous readout=linear "
           "readout-state=current feedback=output");
  const double n = 16, m = 16, C = 32, K = 30000;
  const double source_word = 2 * n * (m + n) + n * C;                            // W_fwd, W_bwd, U_a
  const double target_word = n * n + n * (m + C + n) + m * (n + C + m) + m * K;  // W_a, W_dec, W_out, W_o
  EXPECT_DOUBLE_EQ(update_flop(notebook, kBatch).total(), 6 * 2000 * (source_word + target_word));
}

TEST(UpdateFlop, CountsTheStartSymbolThatTheEncoderReads) {
  ModelOptions none = paper();
  none.attention = Attention::kNone;
  none.layers = 2;
  const double without = update_flop(none, kBatch).total();
  none.source_start = true;
  constexpr BatchSize kStarted{.pairs = 80, .source_words = 2000 + 80, .target_words = 2000};
  const double m = 620, n = 1000;
  EXPECT_DOUBLE_EQ(update_flop(none, kStarted).total() - without, 6 * 80 * (3 * n * (m + n) + 3 * n * (n + n)));
}

TEST(UpdateFlop, DividesIntoThePhasesOfAnUpdate) {
  const ProductFlop flop = update_flop(paper(), kBatch);
  const double m = 620, n = 1000, A = 1000, l = 500, K = 30000;
  EXPECT_DOUBLE_EQ(flop.encoder, 6 * (2000 * (2 * 3 * n * (m + n) + 2 * n * A) + 80 * n * n));
  EXPECT_DOUBLE_EQ(flop.decoder, 6 * 2000 * (n * A + 3 * n * (m + n + 2 * n)));
  EXPECT_DOUBLE_EQ(flop.readout, 6 * 2000 * (2 * l * (n + m + 2 * n) + l * K));
}

// Those of the input of the lowest layer of the encoder, in both directions, and of the decoder. The readout multiplies
// the embedding at every place of the word.
TEST(UpdateFlop, CountsAnEmbeddingThatIsMultipliedForAllItsPlacesOnce) {
  BatchSize repeats = kBatch;
  repeats.source_embeddings = 900;
  repeats.target_embeddings = 1200;
  const double m = 620, n = 1000;
  const ProductFlop all = update_flop(paper(), kBatch), once = update_flop(paper(), repeats);
  EXPECT_DOUBLE_EQ(all.encoder - once.encoder, 6.0 * 1100 * 2 * 3 * n * m);
  EXPECT_DOUBLE_EQ(all.decoder - once.decoder, 6.0 * 800 * 3 * n * m);
  EXPECT_DOUBLE_EQ(all.readout, once.readout);
}

TEST(UpdateFlop, GrowsWithTheBatch) {
  EXPECT_DOUBLE_EQ(update_flop(paper(), kTwice).total(), 2 * update_flop(paper(), kBatch).total());
  EXPECT_EQ(update_flop(paper(), {}).total(), 0);
}

}  // namespace
}  // namespace rnnsearch::model

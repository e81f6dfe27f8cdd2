#include "rnnsearch/layers/shortlist_output.h"

#include "rnnsearch/base/parallel.h"
#include "rnnsearch/base/portable.h"
#include "rnnsearch/kernels/softmax.h"
#include "tests/support/test.h"

namespace rnnsearch::layers {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

// Rows of four sentences; the third one has ended.
const std::vector<std::uint32_t> kSentence{0, 0, 1, 3, 3, 3};

struct Output {
  std::size_t H, K;
  std::vector<Real> W_o, E, b_w, t;

  Output(std::size_t H_, std::size_t K_) : H(H_), K(K_), W_o(H_ * K_), E(H_ * K_), b_w(K_), t(kSentence.size() * H_) {
    Random random(7);
    for (Real& value : W_o) value = static_cast<Real>(random.normal());
    for (std::size_t h = 0; h < H; ++h)
      for (std::size_t k = 0; k < K; ++k) E[k * H + h] = W_o[h * K + k];
    for (Real& value : b_w) value = static_cast<Real>(random.normal());
    for (Real& value : t) value = static_cast<Real>(random.normal());
  }

  OutputWeights weights(bool tied) {
    if (tied) return {{}, b_w, {E.data(), K, H}};
    return {{W_o.data(), H, K}, b_w, {}};
  }
  ConstMatrix input() const { return {t.data(), kSentence.size(), H}; }
};

std::vector<Real> log_probabilities(Output& output, bool tied, const Sentences& lists, std::size_t together) {
  std::vector<Real> all(kSentence.size() * output.K);
  ShortlistOutput(output.weights(tied), lists, together)
      .log_probabilities(output.input(), kSentence, {all.data(), kSentence.size(), output.K});
  return all;
}

kernels::TopWords top_words(Output& output, const Sentences& lists, std::size_t together, std::size_t limit) {
  kernels::TopWords top;
  top.limit = limit;
  ShortlistOutput(output.weights(false), lists, together).top_words(output.input(), kSentence, top);
  return top;
}

Sentences some_lists(std::size_t K, std::size_t longest) {
  Random random(3);
  Sentences lists;
  for (std::size_t b = 0; b < 4; ++b) {
    std::set<WordId> words;
    for (std::size_t i = 0; i < 1 + longest * (b + 1) / 4; ++i) words.insert(static_cast<WordId>(random.below(K)));
    lists.add(std::vector<WordId>(words.begin(), words.end()));
  }
  return lists;
}

TEST(ShortlistOutput, IsTheSoftmaxOverTheWordsOfTheList) {
  Output output(5, 40);
  const Sentences lists = some_lists(output.K, 12);
  for (const bool tied : {false, true}) {
    for (const std::size_t together : {1u, 3u}) {
      const auto found = log_probabilities(output, tied, lists, together);
      for (std::size_t i = 0; i < kSentence.size(); ++i) {
        std::vector<double> scores(output.K, kNever);
        double sum = 0;
        for (const WordId word : lists[kSentence[i]]) {
          scores[word] = output.b_w[word];
          for (std::size_t h = 0; h < output.H; ++h) {
            scores[word] +=
                static_cast<double>(output.t[i * output.H + h]) * static_cast<double>(output.W_o[h * output.K + word]);
          }
          sum += std::exp(scores[word]);
        }
        for (std::size_t k = 0; k < output.K; ++k) {
          if (scores[k] == kNever) {
            EXPECT_EQ(found[i * output.K + k], kNever);
          } else {
            EXPECT_NEAR(found[i * output.K + k], scores[k] - std::log(sum), sizeof(Real) == 4 ? 3e-6 : 1e-12);
          }
        }
      }
    }
  }
}

TEST(ShortlistOutput, HasTheBitsOfTheVocabularyWhenTheListsHaveAllWords) {
  Output output(20, 1300);  // several blocks of a sum
  std::vector<WordId> all(output.K);
  for (std::size_t k = 0; k < all.size(); ++k) all[k] = static_cast<WordId>(k);
  Sentences lists;
  for (int b = 0; b < 4; ++b) lists.add(all);
  std::vector<Real> expected(kSentence.size() * output.K);
  const Matrix logits(expected.data(), kSentence.size(), output.K);
  kernels::multiply(output.input(), output.weights(false).W_o, logits);
  kernels::log_softmax(output.b_w, logits);
  for (const bool tied : {false, true}) EXPECT_EQ(log_probabilities(output, tied, lists, 2), expected);
}

TEST(ShortlistOutput, HasTheSameBitsHoweverManySentencesShareAProductOnAnyNumberOfThreads) {
  Output output(20, 1300);
  const Sentences lists = some_lists(output.K, 900);
  set_thread_count(1);
  const auto expected = log_probabilities(output, false, lists, 1);
  for (const std::size_t count : {1u, 3u}) {
    set_thread_count(count);
    for (const std::size_t together : {1u, 2u, 3u, 9u}) {
      EXPECT_EQ(log_probabilities(output, false, lists, together), expected);
      EXPECT_EQ(log_probabilities(output, true, lists, together), expected);
    }
  }
}

TEST(ShortlistOutput, FindsTheMostProbableWordsWithTheBitsOfAllWords) {
  Output output(20, 1300);
  const Sentences lists = some_lists(output.K, 900);
  const auto all = log_probabilities(output, false, lists, 2);
  ShortlistOutput shortlist(output.weights(false), lists, 2);
  kernels::TopWords top;
  shortlist.top_words(output.input(), kSentence, top);
  std::vector<Real> looked_up(all.size());
  std::vector<kernels::WordOfRow> every;
  for (std::size_t k = 0; k < all.size(); ++k) {
    every.push_back({k / output.K, static_cast<WordId>(k % output.K), &looked_up[k]});
  }
  top.look_up(every);
  EXPECT_EQ(looked_up, all);
  for (const std::size_t limit : {1u, 7u, 2000u}) {
    top = top_words(output, lists, 2, limit);
    for (std::size_t i = 0; i < kSentence.size(); ++i) {
      const Real* const row = all.data() + i * output.K;
      std::vector<WordId> order(lists[kSentence[i]].begin(), lists[kSentence[i]].end());
      std::stable_sort(order.begin(), order.end(), [&](WordId a, WordId b) { return row[a] > row[b]; });
      order.resize(std::min(order.size(), limit));
      std::vector<WordId> found;
      for (const auto& entry : top.row(i)) {
        found.push_back(entry.word);
        EXPECT_EQ(entry.log_probability, row[entry.word]);
      }
      EXPECT_EQ(found, order);
      EXPECT_EQ(top.is_complete(i), order.size() < limit);
    }
  }
}

TEST(ShortlistOutput, IsNanWhereAScoreOfTheListIs) {
  Output output(20, 1300);
  const Sentences lists = some_lists(output.K, 30);
  output.b_w[lists[1].back()] = std::numeric_limits<float>::quiet_NaN();
  const auto top = top_words(output, lists, 4, 3);
  EXPECT_TRUE(top.is_nan(2));
  EXPECT_FALSE(top.is_nan(0));
}

}  // namespace
}  // namespace rnnsearch::layers

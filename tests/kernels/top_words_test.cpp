#include "rnnsearch/kernels/top_words.h"

#include "rnnsearch/kernels/precision.h"
#include "rnnsearch/kernels/softmax.h"
#include "tests/kernels/guarded.h"
#include "tests/support/test.h"

namespace rnnsearch::kernels {
namespace {

constexpr std::size_t kBlock = 512;  // words that are computed together
constexpr float kInfinity = std::numeric_limits<float>::infinity();

TopWords top_of(ConstMatrix t, ConstMatrix W_o, std::span<const Real> bias, std::size_t limit) {
  PackedMatrix packed;
  packed.pack(W_o);
  TopWords top;
  top.limit = limit;
  top_words(t, packed, bias, top);
  return top;
}

std::span<const Real> span_of(const Guarded<Real>& row) { return {row.read().row(0), row.read().cols}; }

// The lists against float64: all terms and sums are exact, so the scores are, and many of them tie.
bool follows_the_definition(std::size_t R, std::size_t K, std::size_t limit, const std::string& what) {
  constexpr std::size_t H = 9;
  Random random(R * K + limit);
  Guarded<Real> t(R, H), W_o(H, K), bias(1, K);
  t.integers(random, 1);
  W_o.grid(random, 1);
  bias.grid(random, 2);
  const auto top = top_of(t.read(), W_o.read(), span_of(bias), limit);
  EXPECT_EQ(top.lengths, std::vector<std::uint32_t>(R, static_cast<std::uint32_t>(std::min(limit, K)))) << what;
  for (std::size_t i = 0; i < R; ++i) {
    std::vector<double> score(K);
    for (std::size_t k = 0; k < K; ++k) {
      score[k] = static_cast<double>(bias(0, k));
      for (std::size_t h = 0; h < H; ++h) score[k] += static_cast<double>(t(i, h)) * static_cast<double>(W_o(h, k));
    }
    const double largest = *std::max_element(score.begin(), score.end());
    double sum = 0;
    for (const double x : score) sum += std::exp(x - largest);
    std::vector<std::uint32_t> order(K), found;
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return score[a] > score[b]; });
    order.resize(std::min(limit, K));
    const auto list = top.row(i);
    std::vector<double> logs, expected;
    for (std::size_t k = 0; k < list.size(); ++k) {
      found.push_back(list[k].word);
      logs.push_back(static_cast<double>(list[k].log_probability));
      expected.push_back((score[list[k].word] - largest) - std::log(sum));
      if (k == 0) continue;
      const auto &before = list[k - 1], &after = list[k];
      const bool in_order = before.log_probability > after.log_probability ||
                            (before.log_probability == after.log_probability && before.word < after.word);
      EXPECT_TRUE(in_order) << what << ", row " << i << ", place " << k;
    }
    std::sort(order.begin(), order.end());
    std::sort(found.begin(), found.end());
    EXPECT_EQ(found, order) << what << ", row " << i;
    if (!close(logs, expected, bound(2e-6, 2e-7), what) || found != order) return false;
  }
  return true;
}

TEST(TopWordsTest, FindsTheBestWordsInEveryVocabulary) {
  for (const std::size_t K : {1u, 2u, 7u, 63u, 511u, 512u, 513u, 1100u, 2048u, 3001u}) {
    for (const std::size_t R : {1u, 5u, 14u}) {
      for (const std::size_t limit : {1u, 2u, 12u, 600u, 4000u}) {
        const std::string what =
            "K = " + std::to_string(K) + ", R = " + std::to_string(R) + ", limit = " + std::to_string(limit);
        ASSERT_TRUE(follows_the_definition(R, K, limit, what));
      }
    }
  }
  ASSERT_TRUE(follows_the_definition(400, 700, 12, "more rows than are computed together"));
}

TEST(TopWords, FindsTheBestWordsInBfloat16) {
  set_precision(Precision::kBFloat16);
  for (const std::size_t K : {7u, 513u, 1100u}) {
    for (const std::size_t R : {1u, 40u})
      ASSERT_TRUE(follows_the_definition(R, K, 12, "K = " + std::to_string(K) + ", R = " + std::to_string(R)));
  }
  set_precision(Precision::kFloat32);
}

TEST(TopWords, HaveTheBitsOfTheLogSoftmaxOnAnyNumberOfThreads) {
  struct Shape {
    std::size_t R, H, K;
  };
  for (const Precision precision : {Precision::kFloat32, Precision::kBFloat16, Precision::kInt8}) {
    set_precision(precision);
    for (const auto [R, H, K] : {Shape{1, 30, 2000}, Shape{37, 70, 5003}, Shape{3, 1100, 900}, Shape{250, 5, 600}}) {
      Random random(R);
      Guarded<Real> t(R, H), W_o(H, K), bias(1, K), all(R, K);
      t.normal(random);
      W_o.normal(random);
      bias.normal(random);
      PackedMatrix packed;
      packed.pack(W_o.read());
      multiply(t.read(), packed, all.view());
      log_softmax(span_of(bias), all.view());
      for (const std::size_t threads : {1u, 2u, 3u}) {
        set_thread_count(threads);
        TopWords top;
        top.limit = 20;
        top_words(t.read(), packed, span_of(bias), top);
        for (std::size_t i = 0; i < R; ++i) {
          std::vector<float> row(all.row(i).begin(), all.row(i).end());
          std::vector<float> found, expected;
          for (const auto& entry : top.row(i)) {
            found.push_back(entry.log_probability);
            expected.push_back(row[entry.word]);
          }
          ASSERT_EQ(found, expected) << "R = " << R << ", row " << i;
          std::sort(row.begin(), row.end(), std::greater<>());
          row.resize(20);
          ASSERT_EQ(found, row) << "R = " << R << ", row " << i;
        }
        std::vector<float> looked_up, expected;
        std::vector<WordOfRow> some;
        for (std::uint32_t word = 0; word < K; word += 1 + static_cast<std::uint32_t>(K / 100)) {
          for (std::size_t i = 0; i < R; ++i) {
            some.push_back({i, word, nullptr});
            expected.push_back(all.row(i)[word]);
          }
        }
        looked_up.resize(some.size());
        for (std::size_t k = 0; k < some.size(); ++k) some[k].log_probability = &looked_up[k];
        top.look_up(some);
        ASSERT_EQ(looked_up, expected) << "R = " << R;
      }
    }
  }
  set_precision(Precision::kFloat32);
}

TEST(TopWords, TakesTheLowerNumberOfEqualScoresAcrossBlocks) {
  constexpr std::size_t K = 4 * kBlock + 5;
  const Guarded<Real> t = Guarded<Real>(1, 1).fill([] { return 0; });
  const Guarded<Real> W_o = Guarded<Real>(1, K).fill([] { return 0; });
  Guarded<Real> bias = Guarded<Real>(1, K).fill([] { return 1; });
  bias(0, 3 * kBlock) = 2;
  for (const std::size_t threads : {1u, 2u, 4u}) {
    set_thread_count(threads);
    const auto top = top_of(t.read(), W_o.read(), span_of(bias), 4);
    std::vector<std::uint32_t> words;
    for (const auto& entry : top.row(0)) words.push_back(entry.word);
    EXPECT_EQ(words, (std::vector<std::uint32_t>{3 * kBlock, 0, 1, 2}));
  }
}

TEST(TopWordsTest, LeaveOutWordsOfProbabilityZero) {
  constexpr auto kNever = -std::numeric_limits<Real>::infinity();
  for (const std::size_t K : {3u, 600u, 1500u}) {
    const auto t = Guarded<Real>(2, 3).fill([] { return 1; }), W_o = Guarded<Real>(3, K).fill([] { return 1; });
    Guarded<Real> bias(1, K);
    bias.fill([] { return kNever; });
    bias(0, 1) = 0;
    bias(0, K - 1) = 0;
    const auto top = top_of(t.read(), W_o.read(), span_of(bias), 5);
    for (std::size_t i = 0; i < 2; ++i) {
      ASSERT_EQ(top.row(i).size(), 2u) << K;
      EXPECT_TRUE(top.is_complete(i));
      EXPECT_FALSE(top.is_nan(i));
      EXPECT_EQ(top.row(i)[0].word, 1u);
      EXPECT_EQ(top.row(i)[1].word, K - 1);
      EXPECT_NEAR(static_cast<double>(top.row(i)[0].log_probability), -std::log(2.0), 1e-6);
    }
    EXPECT_FALSE(top_of(t.read(), W_o.read(), span_of(bias), 1).is_complete(0)) << K;
  }
}

TEST(TopWordsTest, TellARowThatIsNan) {
  constexpr auto kNan = std::numeric_limits<Real>::quiet_NaN();
  constexpr auto kMost = std::numeric_limits<Real>::infinity();
  for (const std::size_t K : {5u, 700u, 1500u}) {
    for (const std::size_t place : {std::size_t{0}, K / 2, K - 1}) {
      for (const Real value : {kNan, kMost}) {
        Guarded<Real> t = Guarded<Real>(3, 2).fill([] { return 1; });
        Guarded<Real> W_o = Guarded<Real>(2, K).fill([] { return 1; });
        Guarded<Real> bias = Guarded<Real>(1, K).fill([] { return 0; });
        bias(0, place) = value;
        auto top = top_of(t.read(), W_o.read(), span_of(bias), 2);
        for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(top.is_nan(i) && top.row(i).empty()) << K << ", " << place;
        bias(0, place) = 0;
        t(1, 0) = value == kMost ? kNan : value;
        top = top_of(t.read(), W_o.read(), span_of(bias), 2);
        EXPECT_TRUE(!top.is_nan(0) && top.is_nan(1) && !top.is_nan(2)) << K;
        EXPECT_EQ(top.lengths, (std::vector<std::uint32_t>{2, 0, 2}));
      }
    }
    const auto t = Guarded<Real>(1, 2).fill([] { return 1; }), W_o = Guarded<Real>(2, K).fill([] { return 1; });
    const auto bias = Guarded<Real>(1, K).fill([] { return -kMost; });
    EXPECT_TRUE(top_of(t.read(), W_o.read(), span_of(bias), 2).is_nan(0)) << "no word is possible";
  }
}

TEST(TopWords, OfNoRowsAreNoLists) {
  const Guarded<Real> none(0, 3), W_o = Guarded<Real>(3, 4).fill([] { return kInfinity; });
  const auto bias = Guarded<Real>(1, 4).fill([] { return 0; });
  EXPECT_TRUE(top_of(none.read(), W_o.read(), span_of(bias), 2).lengths.empty());
}

}  // namespace
}  // namespace rnnsearch::kernels

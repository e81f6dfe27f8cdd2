#include "rnnsearch/kernels/softmax.h"

#include "rnnsearch/kernels/rows.h"
#include "tests/kernels/guarded.h"
#include "tests/support/gradient_check.h"
#include "tests/support/test.h"

namespace rnnsearch::kernels {
namespace {

constexpr std::size_t kRows = 3;
using Matrix = std::vector<double>;

// log softmax(x)[k] = x[k] - log sum exp(x), of each row of K.
Matrix log_softmax_of(const Matrix& x, std::size_t K) {
  Matrix result = x;
  for (std::size_t first = 0; first < x.size(); first += K) {
    double largest = x[first], sum = 0;
    for (std::size_t k = 0; k < K; ++k) largest = std::max(largest, x[first + k]);
    for (std::size_t k = 0; k < K; ++k) sum += std::exp(x[first + k] - largest);
    for (std::size_t k = 0; k < K; ++k) result[first + k] = (x[first + k] - largest) - std::log(sum);
  }
  return result;
}

std::vector<std::size_t> vocabularies() {
  std::vector<std::size_t> all = lengths();
  all.push_back(30000);
  return all;
}

std::vector<Real> no_bias(std::size_t K) { return std::vector<Real>(K); }

class SoftmaxTest : public testing::Test {
 protected:
  // All three kernels on the same logits; the float bounds are the header's.
  static bool follows_the_equations(const Guarded<Real>& logits, const std::vector<std::uint32_t>& target,
                                    std::size_t K, const std::string& what) {
    const Matrix expected = log_softmax_of(logits.values(), K);
    Matrix gradient = expected, losses;
    for (double& value : gradient) value = std::exp(value);
    for (std::size_t i = 0; i < target.size(); ++i) {
      gradient[i * K + target[i]] -= 1;
      losses.push_back(-expected[i * K + target[i]]);
    }
    Guarded<Real> logs = logits, gradients = logits, again = logits;
    std::vector<double> loss(target.size()), loss_again(target.size());
    const std::vector<Real> bias = no_bias(K);
    log_softmax(bias, logs.view());
    softmax_cross_entropy({bias, gradients.view(), target, loss});
    softmax_loss({bias, again.view(), target, loss_again});
    EXPECT_EQ(loss, loss_again) << what;
    return close(logs, expected, bound(2e-6, 2e-7), "log softmax, " + what) &&
           close(gradients, gradient, bound(1e-6, 1e-5), "gradient, " + what) &&
           close(loss, losses, bound(2e-6, 2e-7), "loss, " + what);
  }
};
TEST_F(SoftmaxTest, FollowsTheEquationsAtEveryLength) {
  Random random(1);
  for (const std::size_t K : vocabularies()) {
    Guarded<Real> logits(kRows, K, K % 5, K % 4);
    logits.normal(random, 3);
    const std::vector<std::uint32_t> target{0, static_cast<std::uint32_t>(K - 1), static_cast<std::uint32_t>(K / 2)};
    ASSERT_TRUE(follows_the_equations(logits, target, K, "K = " + std::to_string(K)));
  }
}

TEST_F(SoftmaxTest, HoldsItsBoundAtTheExtremes) {
  for (const std::size_t K : {1u, 2u, 7u, 16u, 33u, 70u, 1000u, 30000u}) {
    const std::string what = ", K = " + std::to_string(K);
    const auto last = static_cast<std::uint32_t>(K - 1);
    const std::vector<std::uint32_t> target{0, last, last / 2};
    Guarded<Real> logits(kRows, K, 1);
    for (const double level : {0.0, 0.1, 1e4, -1e4}) {
      logits.fill([&] { return level; });
      ASSERT_TRUE(follows_the_equations(logits, target, K, "all equal " + std::to_string(level) + what));
    }
    int next = 0;
    logits.fill([&] { return ++next % 2 ? 1e4 : -1e4; });
    ASSERT_TRUE(follows_the_equations(logits, target, K, "+-1e4" + what));
    Random random(K);
    logits.fill([&] { return 1e4 + random.normal(); });
    ASSERT_TRUE(follows_the_equations(logits, target, K, "about 1e4" + what));
    logits.normal(random);
    for (std::size_t i = 0; i < kRows; ++i) logits(i, target[i]) = 200;
    ASSERT_TRUE(follows_the_equations(logits, target, K, "the target dominates" + what));
    ASSERT_TRUE(follows_the_equations(logits, {last, 0, 0}, K, "another word dominates" + what));
    logits.fill([] { return -std::numeric_limits<double>::infinity(); });
    for (std::size_t i = 0; i < kRows; ++i) logits(i, target[i]) = 1;
    std::vector<double> loss(kRows);
    softmax_cross_entropy({no_bias(K), logits.view(), target, loss});
    EXPECT_EQ(loss, std::vector<double>(kRows, 0.0)) << "the only word allowed is certain" << what;
    EXPECT_EQ(logits.values(), Matrix(kRows * K, 0.0)) << what;
  }
}

TEST_F(SoftmaxTest, AddsItsBiasFirst) {
  Random random(2);
  for (const std::size_t K : vocabularies()) {
    Guarded<Real> logits(kRows, K, K % 5, K % 4), bias(1, K, K % 3);
    logits.normal(random, 3);
    bias.normal(random, 2);
    Guarded<Real> sums = logits;
    const std::span<const Real> b(bias.read().row(0), K);
    add_to_rows(b, sums.view());
    const std::vector<std::uint32_t> target{0, static_cast<std::uint32_t>(K - 1), static_cast<std::uint32_t>(K / 2)};
    const auto results = [&](std::span<const Real> added, const Guarded<Real>& x) {
      Guarded<Real> logs = x, gradient = x, plain = x;
      std::vector<double> loss(kRows), again(kRows);
      log_softmax(added, logs.view());
      softmax_cross_entropy({added, gradient.view(), target, loss});
      softmax_loss({added, plain.view(), target, again});
      return joined({logs.values(), gradient.values(), plain.values(), loss, again});
    };
    ASSERT_EQ(results(b, logits), results(no_bias(K), sums)) << "K = " << K;
  }
}

TEST_F(SoftmaxTest, PassesANanOn) {
  for (const std::size_t K : {2u, 16u, 37u}) {
    for (std::size_t at = 0; at < K; ++at) {
      std::vector<Real> x(K, Real{1}), bias = no_bias(K);
      (K % 2 == 0 ? x : bias)[at] = std::numeric_limits<Real>::quiet_NaN();
      const std::vector<std::uint32_t> target{static_cast<std::uint32_t>((at + 1) % K)};
      std::vector<double> loss(1), gradient_loss(1);
      std::vector<Real> again = x;
      softmax_loss({bias, {again.data(), 1, K}, target, loss});
      softmax_cross_entropy({bias, {x.data(), 1, K}, target, gradient_loss});
      ASSERT_TRUE(std::isnan(loss[0]) && std::isnan(gradient_loss[0])) << "of " << K << ", number " << at;
      for (const Real value : x) ASSERT_TRUE(std::isnan(value)) << "became " << value;
    }
  }
}

#ifdef RNNSEARCH_DOUBLE
TEST(SoftmaxCrossEntropy, HasTheGradientOfTheSmoothedAndWeightedLoss) {
  Random random(8);
  const std::vector<double> weight{2.5, 0, 0.75}, ones(kRows, 1);
  for (const double smoothing : {0.1, 0.75}) {
    for (const std::size_t K : {1u, 2u, 23u}) {
      Guarded<Real> logits(kRows, K);
      logits.normal(random, 2);
      Matrix variables = logits.values();
      const std::vector<std::uint32_t> target{0, static_cast<std::uint32_t>(K - 1), static_cast<std::uint32_t>(K / 2)};
      const auto total = [&](double part, const std::vector<double>& w) {
        const Matrix logs = log_softmax_of(variables, K);
        double sum = 0;
        for (std::size_t i = 0; i < kRows; ++i) {
          for (std::size_t k = 0; k < K; ++k) {
            const double q = (k == target[i] ? 1 - part : 0) + part / static_cast<double>(K);
            sum -= w[i] * q * logs[i * K + k];
          }
        }
        return sum;
      };
      std::vector<double> loss(kRows);
      softmax_cross_entropy({no_bias(K), logits.view(), target, loss, smoothing, weight});
      EXPECT_NEAR(std::accumulate(loss.begin(), loss.end(), 0.0), total(0, ones), 1e-12) << "the loss is the plain one";
      support::expect_gradient(variables, logits.values(), [&] { return total(smoothing, weight); },
                               {.name = "logits"});
    }
  }
}
#endif

TEST_F(SoftmaxTest, HoldsItsBoundWhenSmoothed) {
  Random random(9);
  for (const std::size_t K : {2u, 33u, 30000u}) {
    Guarded<Real> logits(kRows, K);
    logits.normal(random, 3);
    const Matrix logs = log_softmax_of(logits.values(), K);
    const std::vector<std::uint32_t> target{0, static_cast<std::uint32_t>(K - 1), static_cast<std::uint32_t>(K / 2)};
    std::vector<double> loss(kRows);
    constexpr double kSmoothing = 0.1;
    softmax_cross_entropy({no_bias(K), logits.view(), target, loss, kSmoothing});
    const Matrix gradient = logits.values();
    for (std::size_t i = 0; i < kRows; ++i) {
      for (std::size_t k = 0; k < K; ++k) {
        const double q = (k == target[i] ? 1 - kSmoothing : 0) + kSmoothing / static_cast<double>(K);
        const double exact = std::exp(logs[i * K + k]) - q;
        ASSERT_NEAR(gradient[i * K + k], exact, 1e-6 + 1e-5 * std::abs(exact)) << "K = " << K << ", word " << k;
      }
    }
  }
}

TEST_F(SoftmaxTest, GivesTheSameBitsOnAnyNumberOfThreads) {
  expect_same_bits_on_any_number_of_threads([] {
    Random random(4);
    constexpr std::size_t kMany = 57, K = 1003;
    Guarded<Real> logits(kMany, K);
    logits.normal(random, 4);
    Guarded<Real> gradient = logits;
    std::vector<std::uint32_t> target(kMany);
    for (auto& word : target) word = static_cast<std::uint32_t>(random.below(K));
    std::vector<double> loss(kMany);
    softmax_cross_entropy({no_bias(K), gradient.view(), target, loss});
    log_softmax(no_bias(K), logits.view());
    return joined({logits.values(), gradient.values(), loss});
  });
}

TEST_F(SoftmaxTest, DoesNothingForNoRows) {
  Guarded<Real> none(0, 5);
  log_softmax(no_bias(5), none.view());
  softmax_cross_entropy({no_bias(5), none.view(), {}, {}});
  softmax_loss({no_bias(5), none.view(), {}, {}});
  EXPECT_TRUE(none.guards_hold());
}

TEST_F(SoftmaxTest, MaxoutTakesTheLargerOfEachPair) {
  Random random(5);
  for (const std::size_t l : lengths()) {
    Guarded<Real> x(kRows, 2 * l, l % 5, l % 3), t(kRows, l, l % 4), t_gradient(kRows, l, 2),
        x_gradient(kRows, 2 * l, 1, l % 6);
    x.integers(random, 2);  // many pairs are equal
    t_gradient.normal(random);
    Matrix larger, gradient;
    for (std::size_t i = 0; i < kRows; ++i) {
      for (std::size_t k = 0; k < l; ++k) {
        const double first = x(i, 2 * k), second = x(i, 2 * k + 1), g = t_gradient(i, k);
        larger.push_back(std::max(first, second));
        gradient.push_back(second > first ? 0 : g);
        gradient.push_back(second > first ? g : 0);
      }
    }
    maxout_forward(x.read(), t.view());
    maxout_backward({x.read(), t_gradient.read(), x_gradient.view()});
    ASSERT_TRUE(close(t, larger, {0.0}, "l = " + std::to_string(l)));
    ASSERT_TRUE(close(x_gradient, gradient, {0.0}, "gradient, l = " + std::to_string(l)));
  }
}

/// log((1 - share) p + share q) in double; rows of several lengths, among them -inf, and equal values.
TEST_F(SoftmaxTest, MixesDistributionsWhoseLogarithmsAreGiven) {
  constexpr double kNever = -std::numeric_limits<double>::infinity();
  Random random(7);
  for (const std::size_t K : vocabularies()) {
    Guarded<Real> from(kRows, K, K % 5, K % 4), to(kRows, K, K % 3, K % 7);
    from.normal(random, 30);
    to.normal(random, 30);
    if (K > 3) {
      from.view()(0, 0) = to.view()(0, 0);
      from.view()(0, 1) = static_cast<Real>(kNever);
      to.view()(0, 2) = static_cast<Real>(kNever);
      from.view()(0, 3) = to.view()(0, 3) = static_cast<Real>(kNever);
    }
    for (const double share : {0.5, 0.25, 0.999}) {
      const Matrix a = to.values(), b = from.values();
      Guarded<Real> mixed = to, mean = to;
      mix_log_probabilities({from.view(), share, mixed.view()});
      Matrix expected(a.size());
      for (std::size_t i = 0; i < a.size(); ++i) {
        const double most = std::max(a[i], b[i]);
        expected[i] = most == kNever
                          ? kNever
                          : most + std::log((1 - share) * std::exp(a[i] - most) + share * std::exp(b[i] - most));
      }
      const Matrix found = mixed.values();
      for (std::size_t i = 0; i < a.size(); ++i) {
        if (expected[i] == kNever) {
          EXPECT_EQ(found[i], kNever);
        } else {
          const double bound = std::is_same_v<Real, float> ? 1e-6 + 2e-7 * std::abs(expected[i]) : 1e-12;
          ASSERT_NEAR(found[i], expected[i], bound) << "K = " << K << ", share " << share;
        }
      }
      interpolate({from.view(), share, mean.view()});
      const Matrix means = mean.values();
      for (std::size_t i = 0; i < a.size(); ++i) {
        const double exact = (1 - share) * a[i] + share * b[i];
        if (!std::isfinite(exact)) continue;
        ASSERT_NEAR(means[i], exact, 1e-6 + 3e-7 * (std::abs(a[i]) + std::abs(b[i])));
      }
    }
  }
}

TEST_F(SoftmaxTest, MixesNothingWithANan) {
  const Real nan = std::numeric_limits<Real>::quiet_NaN();
  for (std::size_t k = 0; k < 40; ++k) {
    std::vector<Real> good(40, -1), bad(40, -2);
    bad[k] = nan;
    auto to_bad = bad, to_good = good;
    mix_log_probabilities({{good.data(), 1, 40}, 0.5, {to_bad.data(), 1, 40}});
    mix_log_probabilities({{bad.data(), 1, 40}, 0.5, {to_good.data(), 1, 40}});
    for (std::size_t i = 0; i < 40; ++i) {
      EXPECT_EQ(std::isnan(to_bad[i]), i == k);
      EXPECT_EQ(std::isnan(to_good[i]), i == k);
    }
  }
}

}  // namespace
}  // namespace rnnsearch::kernels

#include "rnnsearch/kernels/dropout.h"

#include "tests/kernels/guarded.h"
#include "tests/support/test.h"

namespace rnnsearch::kernels {
namespace {

constexpr std::uint64_t kKey = 0x0123456789abcdefu;

/// One unit at a time: word (unit / 64) % 4 of block 64 (unit / 256) + unit % 64.
bool is_dropped(double share, std::uint64_t sentence, std::uint32_t step, std::size_t unit) {
  const auto low = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
  const std::array<std::uint32_t, 4> words = philox(
      {low(unit / 256 * 64 + unit % 64), step, low(sentence), low(sentence >> 32)}, {low(kKey), low(kKey >> 32)});
  return words[unit / 64 % 4] < static_cast<std::uint32_t>(share * 4294967296.0);
}

TEST(DropoutKernel, DropsWhatPhiloxSaysAndDividesTheRest) {
  Random random(1);
  const std::vector<std::uint64_t> sentences{7, 1ull << 40, 0};
  const std::vector<std::uint32_t> steps{3, 0, 900};
  for (const std::size_t width : lengths()) {
    Guarded<Real> x(3, width);
    x.normal(random);
    std::vector<double> expected = x.values();
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t k = 0; k < width; ++k) {
        double& value = expected[i * width + k];
        value = is_dropped(0.3, sentences[i], steps[i] + 2, k) ? 0 : value / 0.7;
      }
    }
    drop({.share = 0.3, .key = kKey, .sentences = sentences, .steps = steps, .shift = 2}, x.view());
    if (!close(x, expected, bound(0, 1e-6), "width " + std::to_string(width))) return;
  }
}

TEST(DropoutKernel, GivesASentenceOneMaskWhereThereAreNoSteps) {
  const std::vector<std::uint64_t> sentences{5, 6, 5};
  Guarded<Real> x(3, 200);
  x.fill([] { return 1.0; });
  drop({.share = 0.5, .key = kKey, .sentences = sentences}, x.view());
  std::size_t differ = 0;
  for (std::size_t k = 0; k < 200; ++k) {
    EXPECT_EQ(x(0, k), x(2, k));
    EXPECT_EQ(x(0, k) == 0, is_dropped(0.5, 5, 0, k));
    differ += x(0, k) != x(1, k);
  }
  EXPECT_GT(differ, 60u);
}

TEST(DropoutKernel, LeavesEverythingWithoutAShareAndHidesNoNaNThatIsKept) {
  Random random(2);
  Guarded<Real> x(2, 9);
  x.normal(random);
  const std::vector<double> before = x.values();
  drop({}, x.view());
  EXPECT_EQ(x.values(), before);
  const std::vector<std::uint64_t> sentences{1, 2};
  x.fill([] { return NAN; });
  drop({.share = 0.25, .key = kKey, .sentences = sentences}, x.view());
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t k = 0; k < 9; ++k) EXPECT_EQ(std::isnan(x(i, k)), !is_dropped(0.25, i + 1, 0, k));
}

TEST(DropoutKernel, DropsWholeRowsByTheirFirstUnit) {
  Random random(3);
  std::vector<std::uint64_t> sentences;
  std::vector<std::uint32_t> steps;
  for (std::uint32_t i = 0; i < 40; ++i) {
    sentences.push_back(i % 3 == 0 ? (1ull << 40) + i : i);
    steps.push_back(i % 7);
  }
  for (const std::size_t width : lengths()) {
    for (const bool stepwise : {false, true}) {
      Guarded<Real> x(sentences.size(), width);
      x.normal(random);
      std::vector<double> expected = x.values();
      std::size_t dropped = 0;
      for (std::size_t i = 0; i < sentences.size(); ++i) {
        const bool drops = is_dropped(0.3, sentences[i], stepwise ? steps[i] + 2 : 0, 0);
        dropped += drops;
        for (std::size_t k = 0; k < width; ++k) expected[i * width + k] *= drops ? 0 : 1 / 0.7;
      }
      EXPECT_TRUE(dropped > 3 && dropped < 25) << dropped;
      DropoutMask mask{.share = 0.3, .key = kKey, .sentences = sentences, .shift = 2};
      if (stepwise) mask.steps = steps;
      drop_rows(mask, x.view());
      if (!close(x, expected, bound(0, 1e-6), "width " + std::to_string(width))) return;
    }
  }
  Guarded<Real> x(2, 9);
  x.normal(random);
  const std::vector<double> before = x.values();
  drop_rows({}, x.view());
  EXPECT_EQ(x.values(), before);
}

TEST(DropoutMasks, KeepTheirShareAndTheExpectation) {
  constexpr std::size_t R = 400, W = 1000;
  std::vector<std::uint64_t> sentences(R);
  std::vector<std::uint32_t> steps(R);
  for (std::size_t i = 0; i < R; ++i) {
    sentences[i] = i / 20;
    steps[i] = static_cast<std::uint32_t>(i % 20);
  }
  for (const double share : {0.1, 0.5, 0.9}) {
    std::vector<float> x(R * W, 1);
    drop({.share = share, .key = kKey, .sentences = sentences, .steps = steps}, {x.data(), R, W});
    double sum = 0;
    for (const float value : x) sum += static_cast<double>(value);
    const double deviation = std::sqrt(share / (1 - share) / (R * W));
    EXPECT_NEAR(sum / (R * W), 1, 4 * deviation) << share;
    for (const bool columns : {false, true}) {  // and of each row and of each column alone
      const std::size_t lines = columns ? W : R, length = columns ? R : W;
      for (std::size_t line = 0; line < lines; ++line) {
        double one = 0;
        for (std::size_t i = 0; i < length; ++i)
          one += static_cast<double>(columns ? x[i * W + line] : x[line * W + i]);
        const double of_line = std::sqrt(share / (1 - share) / static_cast<double>(length));
        ASSERT_NEAR(one / static_cast<double>(length), 1, 5.5 * of_line) << share << ", line " << line;
      }
    }
  }
}

TEST(DropoutMasks, AreTheSameOnAnyNumberOfThreads) {
  const std::vector<std::uint64_t> sentences(130, 3);
  std::vector<std::uint32_t> steps(130);
  for (std::size_t i = 0; i < steps.size(); ++i) steps[i] = static_cast<std::uint32_t>(i);
  expect_same_bits_on_any_number_of_threads([&] {
    std::vector<Real> x(130 * 300, Real{0.75});
    drop({.share = 0.4, .key = 9, .sentences = sentences, .steps = steps}, {x.data(), 130, 300});
    return std::vector<double>(x.begin(), x.end());
  });
}

}  // namespace
}  // namespace rnnsearch::kernels

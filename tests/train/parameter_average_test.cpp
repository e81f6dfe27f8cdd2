#include "rnnsearch/train/optimizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "rnnsearch/base/parallel.h"
#include "rnnsearch/base/portable.h"

namespace rnnsearch::train {
namespace {

constexpr std::size_t kSize = 40000;  // several blocks, the last not whole

std::vector<float> random_values(Random& random) {
  std::vector<float> values(kSize);
  for (float& value : values) value = static_cast<float>(random.normal());
  return values;
}

TEST(ParameterAverage, WeighsTheUpdatesAsItsRecursionSays) {
  for (const double decay : {0.05, 0.5, 0.9999}) {
    Random random(1);
    std::vector<float> parameters = random_values(random);
    ParameterAverage average(decay, kSize);
    average.begin(parameters);
    std::vector<double> expected(parameters.begin(), parameters.end());
    for (std::uint64_t update = 1; update <= 30; ++update) {
      parameters = random_values(random);
      average.follow(parameters, update);
      const double d = std::min(decay, static_cast<double>(update + 1) / static_cast<double>(update + 10));
      for (std::size_t i = 0; i < kSize; ++i) expected[i] = d * expected[i] + (1 - d) * double{parameters[i]};
    }
    for (std::size_t i = 0; i < kSize; ++i) ASSERT_NEAR(average.values()[i], expected[i], 4e-6) << i << " of " << decay;
  }
}

TEST(ParameterAverage, ExchangesEveryElement) {
  Random random(2);
  const std::vector<float> first = random_values(random), second = random_values(random);
  std::vector<float> parameters = second;
  ParameterAverage average(0.9, kSize);
  average.begin(first);
  average.exchange(parameters);
  EXPECT_EQ(parameters, first);
  EXPECT_TRUE(std::equal(second.begin(), second.end(), average.values().begin()));
  average.exchange(parameters);
  EXPECT_EQ(parameters, second);
}

TEST(ParameterAverage, HasTheSameBitsOnAnyNumberOfThreads) {
  const std::size_t before = thread_count();
  std::vector<std::vector<float>> found;
  for (const std::size_t threads : {1u, 2u, 3u}) {
    set_thread_count(threads);
    Random random(3);
    ParameterAverage average(0.7, kSize);
    average.begin(random_values(random));
    for (std::uint64_t update = 1; update <= 5; ++update) average.follow(random_values(random), update);
    found.emplace_back(average.values().begin(), average.values().end());
  }
  set_thread_count(before);
  EXPECT_EQ(found[0], found[1]);
  EXPECT_EQ(found[0], found[2]);
}

TEST(ParameterAverage, OfDecayZeroIsNone) {
  ParameterAverage average(0, kSize);
  EXPECT_TRUE(average.empty());
  std::vector<float> parameters(kSize, 1.0F);
  average.begin(parameters);
  average.follow(parameters, 1);
  average.exchange(parameters);
  EXPECT_EQ(parameters, std::vector<float>(kSize, 1.0F));
}

}  // namespace
}  // namespace rnnsearch::train

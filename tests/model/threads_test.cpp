#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "rnnsearch/base/parallel.h"
#include "rnnsearch/kernels/precision.h"
#include "tests/model/fixtures.h"
#include "tests/support/whole_gradient.h"

namespace rnnsearch::model {
namespace {

class Threads : public testing::TestWithParam<Attention> {
 protected:
  void TearDown() override { set_thread_count(allowed_cpus()); }
};

TEST_P(Threads, DoNotChangeABitOfTheGradient) {
  ModelOptions options = widths(2000, 64, 96, 80, 48);
  options.attention = GetParam();
  options.readout_rank = GetParam() == Attention::kNone ? 64 : 0;
  Random random(81);
  const Sentences source = random_sentences(random, 24, 30, options.source_words);
  const Sentences target = random_sentences(random, 24, 30, options.target_words);
  for (const auto precision :
       {kernels::Precision::kFloat32, kernels::Precision::kBFloat16, kernels::Precision::kInt8}) {
    kernels::set_precision(precision);
    std::vector<float> expected;
    Loss expected_loss;
    // more than once: the memory of the last batch is used again
    for (const std::size_t count : {1u, 2u, 3u, 1u, 3u}) {
      set_thread_count(count);
      Model model(options);
      fill(model, 82);
      Loss loss;
      for (int batch = 0; batch < 2; ++batch) loss = model.accumulate_gradient(source, target);
      if (expected.empty()) {
        expected = whole_gradient(model);
        expected_loss = loss;
        ASSERT_TRUE(std::any_of(expected.begin(), expected.end(), [](float g) { return g != 0; }));
      }
      EXPECT_EQ(whole_gradient(model), expected) << count << " threads";
      EXPECT_EQ(loss.negative_log_likelihood, expected_loss.negative_log_likelihood) << count << " threads";
      EXPECT_EQ(loss.words, expected_loss.words);
      EXPECT_EQ(model.loss(source, target).negative_log_likelihood, loss.negative_log_likelihood)
          << count << " threads";
    }
  }
  kernels::set_precision(kernels::Precision::kFloat32);
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutAttention, Threads, testing::Values(Attention::kAdditive, Attention::kNone),
                         [](const auto& chosen) { return name_of(chosen.param); });

}  // namespace
}  // namespace rnnsearch::model

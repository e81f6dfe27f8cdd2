#include "rnnsearch/kernels/machine_rates.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/products/product_tiles.h"
#include "rnnsearch/base/parallel.h"
#include "rnnsearch/kernels/precision.h"

namespace rnnsearch::kernels {
namespace {

// If the operations that a rate counts were not made, the sums would not have them.
TEST(Arithmetic, AddsAllTermsOfAllSteps) {
  for (const ProductTiles* tiles :
       {&float_tiles(), &bfloat16_tiles(), &emulated_bfloat16_tiles(), &int8_tiles(), &portable_int8_tiles()}) {
    const std::size_t count = tiles->max_rows * tiles->cols;
    for (const std::size_t steps : {0u, 1u, 7u}) {
      std::vector<float> sums(count);
      for (std::size_t i = 0; i < count; ++i) sums[i] = static_cast<float>(i);
      tiles->arithmetic(steps, sums.data());
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(sums[i], static_cast<float>(i + steps * tiles->depth_step)) << i << " after " << steps;
      }
    }
  }
}

class MachineRates : public testing::TestWithParam<Precision> {
 protected:
  void SetUp() override { set_precision(GetParam()); }
  void TearDown() override { set_precision(Precision::kFloat32); }
};

TEST_P(MachineRates, AreKnownOnOneThreadAndOnAll) {
  for (const std::size_t threads : {std::size_t{1}, thread_count()}) {
    const ProductRates rates = measure_products(threads);
    for (const double rate : {rates.registers, rates.level1, rates.level2}) {
      EXPECT_TRUE(std::isfinite(rate));
      EXPECT_GT(rate, 0);
    }
    EXPECT_TRUE(std::isfinite(rates.level3));
    EXPECT_GE(rates.level3, 0);
  }
}
INSTANTIATE_TEST_SUITE_P(OfEachPrecision, MachineRates,
                         testing::Values(Precision::kFloat32, Precision::kBFloat16, Precision::kInt8));

TEST(MemoryRate, IsKnown) {
  const double rate = measure_memory(thread_count());
  EXPECT_TRUE(std::isfinite(rate));
  EXPECT_GT(rate, 0);
}

}  // namespace
}  // namespace rnnsearch::kernels

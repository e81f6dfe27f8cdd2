#include "rnnsearch/kernels/instruction_set.h"

#include "kernels/products/product_tiles.h"
#include "rnnsearch/base/parallel.h"
#include "rnnsearch/kernels/machine_rates.h"
#include "rnnsearch/kernels/precision.h"
#include "tests/support/test.h"

namespace rnnsearch::kernels {
namespace {

// CTest runs this program once more under each limit, so that all tests beside this one see every compiled form.
TEST(InstructionSet, StaysWithinTheLimit) {
  const std::string found(instruction_set());
  RecordProperty("instruction_set", found);
  const char* const limit = std::getenv("RNNSEARCH_SIMD");
  if (!limit) GTEST_SKIP() << "RNNSEARCH_SIMD is not set; " << found << " is tested";
  const std::string order = "sse2 avx2 avx512";
  EXPECT_LE(order.find(found), order.find(limit)) << found << " runs under the limit " << limit;
}

TEST(InstructionSetDeathTest, RefusesALimitItDoesNotKnow) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a process of its own: the variable is read once
  EXPECT_EXIT(
      {
        setenv("RNNSEARCH_SIMD", "avx1024", 1);
        try {
          instruction_set();
        } catch (const std::exception& error) {
          std::fputs(error.what(), stderr);
          std::exit(3);
        }
        std::exit(0);
      },
      testing::ExitedWithCode(3), "RNNSEARCH_SIMD is 'avx1024'; set it to avx512, avx2 or sse2");
}

#if defined(__x86_64__)
TEST(InstructionSetDeathTest, LimitsAlsoWhatIsChosenAfterItWasAskedFor) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        setenv("RNNSEARCH_SIMD", "avx2", 1);
        instruction_set();
        // Two vectors of eight columns; with AVX-512 it is four of sixteen.
        std::exit(float_tiles().cols <= 16 && emulated_bfloat16_tiles().cols <= 16 ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}
#endif

// If the operations that a rate counts were not made, the sums would not have them.
TEST(Arithmetic, AddsAllTermsOfAllSteps) {
  for (const ProductTiles* tiles :
       {&float_tiles(), &bfloat16_tiles(), &emulated_bfloat16_tiles(), &int8_tiles(), &portable_int8_tiles()}) {
    const std::size_t count = tiles->max_rows * tiles->cols;
    for (const std::size_t steps : {0u, 1u, 7u}) {
      std::vector<float> sums(count);
      for (std::size_t i = 0; i < count; ++i) sums[i] = static_cast<float>(i);
      tiles->arithmetic(steps, sums.data());
      for (std::size_t i = 0; i < count; ++i)
        ASSERT_EQ(sums[i], static_cast<float>(i + steps * tiles->depth_step)) << i << " after " << steps;
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

TEST(Strips, HaveAllRowsOnceAndAreAsLongAsOneAnother) {
  struct Shape {
    std::size_t max_rows, row_step;
  };
  for (const auto [max_rows, row_step] : {Shape{32, 16}, Shape{12, 1}, Shape{6, 1}}) {
    for (std::size_t M = 1; M <= 200; ++M) {
      const Strips strips(max_rows, row_step, M);
      ASSERT_EQ(strips.first(0), 0u);
      ASSERT_EQ(strips.first(strips.count), M);
      for (std::size_t s = 0; s < strips.count; ++s) {
        ASSERT_GT(strips.rows(s), 0u) << M;
        ASSERT_LE(strips.rows(s), max_rows) << M;
        if (s + 1 == strips.count) continue;
        ASSERT_EQ(strips.rows(s) % row_step, 0u) << M;
        ASSERT_LE(strips.rows(0) - strips.rows(s), row_step) << M;
      }
    }
  }
}

TEST(Ahead, AsksForEveryLineAndRowInItsSteps) {
  const std::vector<std::byte> panel(65 * Ahead::kLine);
  const std::vector<float> c(33 * 30);
  for (const std::size_t lines : {0u, 1u, 7u, 64u}) {
    for (const std::size_t rows : {0u, 1u, 6u, 32u}) {
      for (const std::size_t steps : {1u, 2u, 3u, 40u}) {
        Ahead ahead{panel.data(), lines, c.data(), rows, 20, 30};
        const Ahead::Share share = ahead.share(steps);
        for (std::size_t step = 0; step < steps; ++step) ahead.prefetch(share);
        EXPECT_EQ(ahead.lines + ahead.rows, 0u);
        EXPECT_EQ(ahead.panel, panel.data() + lines * Ahead::kLine);
        EXPECT_EQ(ahead.c, c.data() + rows * 30);
      }
    }
  }
}

}  // namespace
}  // namespace rnnsearch::kernels

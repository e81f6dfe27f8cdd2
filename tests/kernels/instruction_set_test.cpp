#include "rnnsearch/kernels/instruction_set.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "kernels/products/product_tiles.h"

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

}  // namespace
}  // namespace rnnsearch::kernels

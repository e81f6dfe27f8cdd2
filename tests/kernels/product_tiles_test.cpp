#include "kernels/products/product_tiles.h"

#include <gtest/gtest.h>

#include <vector>

namespace rnnsearch::kernels {
namespace {

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

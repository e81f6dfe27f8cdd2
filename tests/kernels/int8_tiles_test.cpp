#include "kernels/products/product_tiles.h"

#include "rnnsearch/base/portable.h"
#include "rnnsearch/kernels/gemm.h"
#include "rnnsearch/kernels/precision.h"
#include "tests/kernels/product_forms.h"
#include "tests/support/test.h"

namespace rnnsearch::kernels {
namespace {

constexpr std::size_t kGroup = 128;  // as precision.h says

// A group as precision.h defines it: whole numbers, and what one of them stands for. An element that is nearly halfway
// between two numbers may become either of them, because the scale has a rounding error.
struct Group {
  std::vector<double> q, doubt;
  double scale = 0;

  Group(const float* from, std::size_t count, std::size_t stride) {
    double largest = 0;
    for (std::size_t i = 0; i < count; ++i)
      largest = std::max(largest, std::abs(static_cast<double>(from[i * stride])));
    scale = largest / 127;
    for (std::size_t i = 0; i < count; ++i) {
      const double exact = largest == 0 ? 0 : from[i * stride] / scale;
      q.push_back(std::nearbyint(exact));
      doubt.push_back(std::abs(std::abs(exact - q.back()) - 0.5) < 1e-4 ? 1 : 0);
    }
  }
};

class Int8 : public testing::Test {
 protected:
  void SetUp() override { set_precision(Precision::kInt8); }
  void TearDown() override { set_precision(Precision::kFloat32); }
};

// Sums of whole numbers in double.
ProductReference reference(std::size_t M, std::size_t N, std::size_t K, const std::vector<float>& a,
                           const std::vector<float>& b) {
  std::vector<double> sum(M * N), magnitude(M * N), doubt(M * N);
  for (std::size_t k = 0; k < K; k += kGroup) {
    const std::size_t here = std::min(kGroup, K - k);
    for (std::size_t i = 0; i < M; ++i) {
      const Group row(&a[i * K + k], here, 1);
      for (std::size_t j = 0; j < N; ++j) {
        const Group column(&b[k * N + j], here, N);
        double whole = 0, doubtful = 0;
        for (std::size_t n = 0; n < here; ++n) {
          whole += row.q[n] * column.q[n];
          doubtful += row.doubt[n] * (std::abs(column.q[n]) + 1) + column.doubt[n] * (std::abs(row.q[n]) + 1);
        }
        sum[i * N + j] += whole * row.scale * column.scale;
        magnitude[i * N + j] += std::abs(whole * row.scale * column.scale);
        doubt[i * N + j] += doubtful * row.scale * column.scale;
      }
    }
  }
  // three roundings of the scales, and one for each group and the old value
  return {sum, magnitude, doubt, (4 + static_cast<double>(K / kGroup + 1)) * 0x1p-24};
}

void check(std::size_t M, std::size_t N, std::size_t K) {
  check_every_form(M, N, K, [&](const auto& a, const auto& b) { return reference(M, N, K, a, b); });
}

TEST_F(Int8, ProductsAreThoseOfRoundedOperands) {
  RecordProperty("unit", std::string(int8_unit()));
  for (const std::size_t M : {1u, 6u, 7u, 17u, 40u})
    for (const std::size_t N : {1u, 16u, 63u, 64u, 70u})
      for (const std::size_t K : {1u, 3u, 127u, 128u, 129u, 300u}) check(M, N, K);
  check(13, 70, 9000);
}

TEST_F(Int8, AGroupThatIsNotFiniteIsNan) {
  std::vector<float> one(300, 1.0F);
  for (const float bad : {std::nanf(""), HUGE_VALF, -HUGE_VALF}) {
    std::vector<float> some = one;
    some[150] = bad;
    for (const bool on_the_left : {false, true}) {
      float c = 0;
      multiply({(on_the_left ? some : one).data(), 1, 300}, {(on_the_left ? one : some).data(), 300, 1}, {&c, 1, 1});
      EXPECT_TRUE(std::isnan(c));
    }
  }
}

TEST_F(Int8, TheLargestAndTheLeastNumbersAreMultipliedToo) {
  const float most = std::numeric_limits<float>::max(), one = 1;
  for (const float value : {most, -most, 0x1p-99F, 0x1p-101F, 0.0F}) {
    float c = 1;
    multiply({&value, 1, 1}, {&one, 1, 1}, {&c, 1, 1});
    EXPECT_FLOAT_EQ(c, std::abs(value) < 0x1p-100F ? 0 : value);
  }
}

// What is packed, and what a tile makes of it, in both implementations, with guards behind the memory.
TEST(Int8Tiles, HaveTheSameBitsWithAndWithoutAUnit) {
  if (int8_unit().empty()) GTEST_SKIP() << "this processor has no unit for int8";
  const ProductTiles &unit = int8_tiles(), &portable = portable_int8_tiles();
  ASSERT_NE(&unit, &portable);
  constexpr std::size_t kGuard = 64, kStride = 80;
  constexpr std::byte kUntouched{0xa5};
  Random random(3);
  for (std::size_t rows = 1; rows <= unit.max_rows; ++rows) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{16}, std::size_t{17}, unit.cols}) {
      for (const std::size_t depth : {1u, 2u, 5u, 127u, 128u, 130u, 520u}) {
        std::vector<float> a = normal_floats(random, 600 * 600), b = normal_floats(random, 600 * 600);
        for (std::size_t i = 0; i < a.size(); i += 1 + random.below(300)) {
          constexpr float kOdd[] = {0, -0.0F, 0x1p-130F, 1e30F, HUGE_VALF, NAN};
          (random.below(2) == 0 ? a : b)[i] = kOdd[random.below(random.below(20) == 0 ? 6 : 4)];
        }
        const std::size_t padded = unit.padded(depth);
        for (const bool transposed : {false, true}) {
          std::vector<std::byte> strips[2], panels[2];
          std::vector<float> sums[2];
          for (const std::size_t which : {0u, 1u}) {
            const ProductTiles& tiles = which == 0 ? unit : portable;
            auto& strip = strips[which];
            auto& panel = panels[which];
            strip.assign(tiles.strip_bytes(rows, padded) + kGuard, kUntouched);
            panel.assign(tiles.panel_bytes(padded) + kGuard, kUntouched);
            (transposed ? tiles.pack_strip_transposed : tiles.pack_strip)(rows, depth, a.data(), 600, strip.data());
            (transposed ? tiles.pack_panel_transposed : tiles.pack_panel)(count, depth, b.data(), 600, panel.data());
            for (const auto* packed : {&strip, &panel})
              ASSERT_TRUE(std::all_of(packed->end() - kGuard, packed->end(), [](auto x) { return x == kUntouched; }));
            for (const bool add : {false, true}) {
              std::vector<float> c(rows * kStride, 0.5F);
              tiles.tile(rows, count, padded, {strip.data()}, {panel.data()}, c.data(), kStride, add, {});
              for (std::size_t i = 0; i < rows; ++i)
                for (std::size_t j = count; j < kStride; ++j) ASSERT_EQ(c[i * kStride + j], 0.5F);
              for (float& value : c) value = std::isnan(value) ? 12345.0F : value;  // a NaN is a NaN
              sums[which].insert(sums[which].end(), c.begin(), c.end());
            }
          }
          ASSERT_EQ(strips[0], strips[1]) << rows << " rows, depth " << depth;
          ASSERT_EQ(panels[0], panels[1]) << count << " columns, depth " << depth;
          ASSERT_EQ(sums[0], sums[1]) << rows << " rows, " << count << " columns, depth " << depth;
        }
      }
    }
  }
}

}  // namespace
}  // namespace rnnsearch::kernels

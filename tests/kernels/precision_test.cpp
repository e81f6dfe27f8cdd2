#include "rnnsearch/kernels/precision.h"

#include "kernels/products/amx_tile.h"
#include "kernels/products/product_tiles.h"
#include "rnnsearch/base/portable.h"
#include "rnnsearch/kernels/gemm.h"
#include "tests/kernels/product_forms.h"
#include "tests/support/test.h"

namespace rnnsearch::kernels {
namespace {

float rounded(float value) {
  auto bits = std::bit_cast<std::uint32_t>(value);
  bits += 0x7fff + (bits >> 16 & 1);
  return std::bit_cast<float>(bits & 0xffff0000u);
}
std::uint16_t high_half(float value) { return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16); }
float of_high_half(std::uint16_t half) { return std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16); }

class BFloat16 : public testing::Test {
 protected:
  void SetUp() override { set_precision(Precision::kBFloat16); }
  void TearDown() override { set_precision(Precision::kFloat32); }
};

// Sums of products of rounded operands in double.
ProductReference reference(std::size_t M, std::size_t N, std::size_t K, const std::vector<float>& a,
                           const std::vector<float>& b) {
  std::vector<double> sum(M * N), magnitude(M * N);
  for (std::size_t i = 0; i < M; ++i) {
    for (std::size_t j = 0; j < N; ++j) {
      for (std::size_t k = 0; k < K; ++k) {
        const double term = static_cast<double>(rounded(a[i * K + k])) * rounded(b[k * N + j]);
        sum[i * N + j] += term;
        magnitude[i * N + j] += std::abs(term);
      }
    }
  }
  return {sum, magnitude, {}, static_cast<double>(K + 1) * 0x1p-24};
}

void check(std::size_t M, std::size_t N, std::size_t K) {
  check_every_form(M, N, K, [&](const auto& a, const auto& b) { return reference(M, N, K, a, b); });
}

TEST_F(BFloat16, ProductsAreThoseOfRoundedOperands) {
  RecordProperty("unit", std::string(bfloat16_unit()));
  for (const std::size_t M : {1u, 6u, 17u, 33u, 80u})
    for (const std::size_t N : {1u, 16u, 31u, 33u})
      for (const std::size_t K : {1u, 2u, 31u, 32u, 65u}) check(M, N, K);
  check(40, 70, 1100);
}

TEST_F(BFloat16, PassesInfinityAndNanOn) {
  const std::vector<float> one(4, 1.0F);
  for (const float bad : {std::nanf(""), HUGE_VALF}) {
    const std::vector<float> a{1, bad, 1, 1};
    float c = 0;
    multiply({a.data(), 1, 4}, {one.data(), 4, 1}, {&c, 1, 1});
    EXPECT_FALSE(std::isfinite(c));
  }
  const std::vector<float> below_normal(4, 0x1.fffep-127F), large(4, 0x1p126F);  // rounding would make it normal
  float c = 1;
  multiply({below_normal.data(), 1, 4}, {large.data(), 4, 1}, {&c, 1, 1});
  EXPECT_EQ(c, 0) << "a number below the smallest normal one counts as 0";
}

TEST(Precision, HasNames) {
  EXPECT_EQ(precision_of("f32"), Precision::kFloat32);
  EXPECT_EQ(precision_of("bf16"), Precision::kBFloat16);
  EXPECT_EQ(precision_of("auto"), bfloat16_pays() ? Precision::kBFloat16 : Precision::kFloat32);
  EXPECT_TRUE(bfloat16_unit() == "avx512-bf16" || bfloat16_pays() == (bfloat16_unit() == "amx"));
  for (const char* name : {"f32", "bf16", "int8"}) EXPECT_EQ(name_of(precision_of(name)), name);
  EXPECT_EQ(message_of([] { precision_of("fp16"); }), "precision is 'fp16'; choose f32, bf16, int8 or auto");
}

// The tile registers of AMX in plain code, as its manual defines them; rows and bytes outside the shape are refused.
struct ModelUnit {
  static inline std::size_t rows[8];
  static inline float sums[4][16][16];
  static inline std::uint16_t operands[8][16][32];

  static void shape(std::size_t upper, std::size_t lower) {
    const std::size_t all[8] = {upper, upper, lower, lower, upper, lower, 16, 16};
    std::copy_n(all, 8, rows);
  }
  template <int T>
  static void zero() {
    std::memset(sums[T], 0, sizeof(sums[T]));
  }
  template <int T>
  static void load(const void* from, std::size_t stride) {
    for (std::size_t r = 0; r < rows[T]; ++r) {
      const char* const row = static_cast<const char*>(from) + r * stride;
      if constexpr (T < 4) {
        std::memcpy(sums[T][r], row, 64);
      } else {
        std::memcpy(operands[T][r], row, 64);
      }
    }
  }
  template <int T>
  static void store(void* to, std::size_t stride) {
    for (std::size_t r = 0; r < rows[T]; ++r) std::memcpy(static_cast<char*>(to) + r * stride, sums[T][r], 64);
  }
  template <int C, int A, int B>
  static void multiply() {
    for (std::size_t m = 0; m < rows[A]; ++m) {
      for (std::size_t k = 0; k < 16; ++k) {
        for (std::size_t n = 0; n < 16; ++n) {
          for (std::size_t half = 0; half < 2; ++half)
            sums[C][m][n] += of_high_half(operands[A][m][2 * k + half]) * of_high_half(operands[B][k][2 * n + half]);
        }
      }
    }
  }
};

// Where a panel has depth k of column j.
std::size_t in_panel(std::size_t k, std::size_t j) {
  return k / 32 * 1024 + j / 16 * 512 + k % 32 / 2 * 32 + j % 16 * 2 + k % 2;
}

TEST(AmxTile, SumsEveryTermOnceInEveryShape) {
  Random random(1);
  const auto integer = [&] { return static_cast<float>(static_cast<int>(random.below(9)) - 4); };
  for (std::size_t rows = 1; rows <= 32; ++rows) {
    for (const std::size_t depth : {32u, 64u, 128u}) {
      for (const bool add : {false, true}) {
        std::vector<float> a(rows * depth), b(depth * 32), c(rows * 40);
        for (float& value : a) value = integer();
        for (float& value : b) value = integer();
        for (float& value : c) value = integer();
        std::vector<std::uint16_t> strip(rows * depth), panel(depth * 32);
        for (std::size_t k = 0; k < depth; ++k) {
          for (std::size_t i = 0; i < rows; ++i)
            strip[k / 32 * rows * 32 + i * 32 + k % 32] = high_half(a[i * depth + k]);
          for (std::size_t j = 0; j < 32; ++j) panel[in_panel(k, j)] = high_half(b[k * 32 + j]);
        }
        std::vector<float> expected = c;
        for (std::size_t i = 0; i < rows; ++i) {
          for (std::size_t j = 0; j < 32; ++j) {
            float sum = add ? c[i * 40 + j] : 0;
            for (std::size_t k = 0; k < depth; ++k) sum += a[i * depth + k] * b[k * 32 + j];
            expected[i * 40 + j] = sum;
          }
        }
        amx_full_tile<ModelUnit>(rows, depth, strip.data(), panel.data(), c.data(), 40, add, {});
        ASSERT_EQ(c, expected) << rows << " rows, depth " << depth;
      }
    }
  }
}

// What is packed for the matrix unit, read back by the layout of amx_tile.h.
TEST(AmxTile, IsPackedForAsItReads) {
  if (bfloat16_unit().empty()) GTEST_SKIP() << "this processor cannot pack bfloat16";
  const ProductTiles& tiles = *matrix_unit_tiles();
  Random random(2);
  for (const std::size_t count : {1u, 15u, 16u, 17u, 31u, 32u}) {
    for (const std::size_t depth : {1u, 2u, 31u, 32u, 33u, 95u, 127u, 128u, 129u, 161u, 300u}) {
      const std::vector<float> by_row = normal_floats(random, count * depth);
      std::vector<float> by_column(count * depth);
      for (std::size_t i = 0; i < count; ++i)
        for (std::size_t k = 0; k < depth; ++k) by_column[k * count + i] = by_row[i * depth + k];
      const std::size_t padded = tiles.padded(depth);
      const auto value = [&](std::size_t i, std::size_t k) {
        return i < count && k < depth ? high_half(rounded(by_row[i * depth + k])) : std::uint16_t{0};
      };
      for (const bool transposed : {false, true}) {
        constexpr std::size_t kGuard = 64;
        std::vector<std::uint16_t> strip(count * padded + kGuard, 0x7fc0), panel(32 * padded + kGuard, 0x7fc0);
        if (transposed) {
          tiles.pack_strip_transposed(count, depth, by_column.data(), count, strip.data());
          tiles.pack_panel_transposed(count, depth, by_row.data(), depth, panel.data());
        } else {
          tiles.pack_strip(count, depth, by_row.data(), depth, strip.data());
          tiles.pack_panel(count, depth, by_column.data(), count, panel.data());
        }
        for (std::size_t k = 0; k < padded; ++k) {
          for (std::size_t i = 0; i < count; ++i)
            ASSERT_EQ(strip[k / 32 * count * 32 + i * 32 + k % 32], value(i, k)) << count << " " << depth;
          for (std::size_t j = 0; j < 32; ++j) ASSERT_EQ(panel[in_panel(k, j)], value(j, k)) << count << " " << depth;
        }
        for (std::size_t i = 0; i < kGuard; ++i) {
          ASSERT_EQ(strip[count * padded + i], 0x7fc0) << count << " " << depth;
          ASSERT_EQ(panel[32 * padded + i], 0x7fc0) << count << " " << depth;
        }
      }
    }
  }
}

}  // namespace
}  // namespace rnnsearch::kernels

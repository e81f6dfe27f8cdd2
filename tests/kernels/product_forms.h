// Every form of a product, with operands drawn from a normal distribution, for tests that know what a product should
// be.
#pragma once

#include "rnnsearch/kernels/gemm.h"
#include "tests/support/floats.h"
#include "tests/support/test.h"

namespace rnnsearch::kernels {

/// What a product a b [M, N] should be, by elements. An element may be off by `rounding` times the sum of the absolute
/// values of its terms and its old value, and by `slack`, which may be empty.
struct ProductReference {
  std::vector<double> sum, magnitude, slack;
  double rounding;
};

/// reference_of(a, b) returns a ProductReference for a [M, K] and b [K, N], both stored row by row.
template <class ReferenceOf>
void check_every_form(std::size_t M, std::size_t N, std::size_t K, const ReferenceOf& reference_of) {
  Random random(M * 10000 + N * 100 + K);
  const std::vector<float> a = normal_floats(random, M * K), b = normal_floats(random, K * N),
                           before = normal_floats(random, M * N);
  std::vector<float> a_transposed(M * K), b_transposed(K * N);
  for (std::size_t i = 0; i < M; ++i)
    for (std::size_t k = 0; k < K; ++k) a_transposed[k * M + i] = a[i * K + k];
  for (std::size_t k = 0; k < K; ++k)
    for (std::size_t j = 0; j < N; ++j) b_transposed[j * K + k] = b[k * N + j];
  const ProductReference reference = reference_of(a, b);
  const auto expect = [&](const std::vector<float>& c, bool added, const char* form) {
    for (std::size_t i = 0; i < M * N; ++i) {
      const double expected = reference.sum[i] + (added ? static_cast<double>(before[i]) : 0.0);
      const double most = reference.rounding * (reference.magnitude[i] + std::abs(before[i])) +
                          (reference.slack.empty() ? 0.0 : reference.slack[i]);
      ASSERT_NEAR(c[i], expected, most) << form << " " << M << " x " << K << " x " << N << " element " << i;
    }
  };
  const ConstMatrixView<float> A(a.data(), M, K), B(b.data(), K, N), B_T(b_transposed.data(), N, K);
  std::vector<float> c = before;
  const MatrixView<float> C(c.data(), M, N);
  multiply(A, B, C);
  expect(c, false, "a b");
  c = before;
  multiply(A, B, C, Into::kAdd);
  expect(c, true, "a b added");
  multiply_transposed(A, B_T, C);
  expect(c, false, "a b^T");
  c = before;
  accumulate_outer({a_transposed.data(), K, M}, B, C);
  expect(c, true, "a^T b");
  PackedMatrix packed;
  packed.pack(B);
  multiply(A, packed, C);
  expect(c, false, "packed");
  c = before;
  packed.pack_transposed(B_T);
  multiply(A, packed, C, Into::kAdd);
  expect(c, true, "packed transposed, added");
}

}  // namespace rnnsearch::kernels

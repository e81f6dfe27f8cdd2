#include "rnnsearch/kernels/gemm.h"

#include "rnnsearch/base/parallel.h"
#include "rnnsearch/kernels/precision.h"
#include "tests/kernels/guarded.h"
#include "tests/support/test.h"

namespace rnnsearch::kernels {
namespace {

enum class Form { kPlain, kTransposed, kOuter };
constexpr Form kForms[] = {Form::kPlain, Form::kTransposed, Form::kOuter};

struct Product {
  Form form;
  Into into;
  std::size_t M, N, K;
  Guarded<Real> a, b, c;

  Product(Form form_, Into into_, std::size_t M_, std::size_t N_, std::size_t K_)
      : form(form_),
        into(into_),
        M(M_),
        N(N_),
        K(K_),
        a(form == Form::kOuter ? Guarded<Real>(K, M, 1, 2) : Guarded<Real>(M, K, 3, 1)),
        b(form == Form::kTransposed ? Guarded<Real>(N, K, 5, 0) : Guarded<Real>(K, N, 2, 5)),
        c(M, N, 1, 3) {}

  double a_at(std::size_t i, std::size_t k) const { return form == Form::kOuter ? a.read()(k, i) : a.read()(i, k); }
  double b_at(std::size_t k, std::size_t j) const {
    return form == Form::kTransposed ? b.read()(j, k) : b.read()(k, j);
  }
  bool adds() const { return form == Form::kOuter || into == Into::kAdd; }

  /// c as it should become: the sum, and the sum of absolute values that its rounding scales with.
  std::vector<double> expected(std::vector<double>* magnitude = nullptr) const {
    std::vector<double> sums = adds() ? c.values() : std::vector<double>(M * N, 0.0);
    if (magnitude) {
      *magnitude = sums;
      for (double& value : *magnitude) value = std::abs(value);
    }
    // A row of b at a time, so that the innermost loop becomes vector code.
    std::vector<double> row(N);
    for (std::size_t k = 0; k < K; ++k) {
      for (std::size_t j = 0; j < N; ++j) row[j] = b_at(k, j);
      for (std::size_t i = 0; i < M; ++i) {
        const double factor = a_at(i, k);
        for (std::size_t j = 0; j < N; ++j) sums[i * N + j] += factor * row[j];
        if (!magnitude) continue;
        for (std::size_t j = 0; j < N; ++j) (*magnitude)[i * N + j] += std::abs(factor * row[j]);
      }
    }
    return sums;
  }
  void run() {
    if (form == Form::kPlain) multiply(a.read(), b.read(), c.view(), into);
    if (form == Form::kTransposed) multiply_transposed(a.read(), b.read(), c.view(), into);
    if (form == Form::kOuter) accumulate_outer(a.read(), b.read(), c.view());
  }
  std::string name() const {
    const char* const forms[] = {"a b", "a b^T", "a^T b"};
    return std::string(forms[static_cast<int>(form)]) + (adds() ? " added, " : ", ") + std::to_string(M) + " x " +
           std::to_string(K) + " x " + std::to_string(N);
  }
};

// Small integers: every sum is exact in float too, so a term lost, doubled or taken from elsewhere cannot hide.
bool exact(Form form, Into into, std::size_t M, std::size_t N, std::size_t K) {
  if (form == Form::kOuter && into == Into::kOverwrite) return true;  // there is no such product
  Random random(M * 1000 + N * 10 + K);
  Product product(form, into, M, N, K);
  product.a.integers(random, 4);
  product.b.integers(random, 4);
  if (product.adds()) product.c.integers(random, 9);
  const std::vector<double> expected = product.expected();
  product.run();
  return close(product.c, expected, {0.0}, product.name());
}

TEST(Gemm, SumsEveryTermOnceInEveryShapeAcrossTheTiles) {
  const std::size_t sizes[] = {1, 2, 3, 4, 5, 6, 7, 12, 13, 63, 64, 65, 127, 128, 129, 159, 160, 161, 255, 256, 257};
  for (const std::size_t M : sizes)
    for (const std::size_t N : sizes)
      for (const Form form : kForms)
        for (const Into into : {Into::kOverwrite, Into::kAdd}) ASSERT_TRUE(exact(form, into, M, N, 1 + (M + N) % 5));
}

TEST(Gemm, SumsEveryTermOnceAtEveryDepth) {
  std::vector<std::size_t> depths = lengths();
  for (const std::size_t K : depths)
    for (const std::size_t M : {6u, 7u})  // one strip of floats, whose b is read where it lies, and two
      for (const Form form : kForms) ASSERT_TRUE(exact(form, Into::kAdd, M, 67, K));
  for (const std::size_t K : {255u, 256u, 257u, 383u, 384u, 385u, 513u})
    for (const Form form : kForms) ASSERT_TRUE(exact(form, Into::kOverwrite, 33, 130, K));
}

TEST(Gemm, OfDepthZeroIsZeroOrLeavesWhatItAddsTo) {
  for (const Form form : kForms)
    for (const Into into : {Into::kOverwrite, Into::kAdd}) ASSERT_TRUE(exact(form, into, 5, 6, 0));
}

TEST(Gemm, DoesNothingForNoRowsOrNoColumns) {
  for (const Form form : kForms) {
    for (const Into into : {Into::kOverwrite, Into::kAdd}) {
      ASSERT_TRUE(exact(form, into, 0, 5, 3));
      ASSERT_TRUE(exact(form, into, 5, 0, 3));
      ASSERT_TRUE(exact(form, into, 0, 0, 0));
    }
  }
  using Rows = ConstMatrix;
  multiply(Rows(), Rows(), {});
}

TEST(Gemm, RoundsNoMoreThanItsHeaderSays) {
  for (const Form form : kForms) {
    for (const std::size_t K : {1u, 30u, 1000u}) {
      Random random(K);
      Product product(form, Into::kAdd, 81, 131, K);
      product.a.normal(random);
      product.b.normal(random);
      product.c.normal(random);
      std::vector<double> magnitude;
      const std::vector<double> expected = product.expected(&magnitude);
      product.run();
      const std::vector<double> found = product.c.values();
      const double unit = sizeof(Real) == 4 ? 0x1p-24 : 1e-15;
      for (std::size_t i = 0; i < found.size(); ++i)
        ASSERT_LE(std::abs(found[i] - expected[i]), unit * static_cast<double>(K + 1) * magnitude[i]) << product.name();
    }
  }
}

TEST(Gemm, GivesTheSameBitsOnAnyNumberOfThreads) {
  for (const Form form : kForms) {
    for (const auto& [M, N, K] : {std::array{80, 300, 70}, std::array{161, 259, 33}, std::array{513, 129, 20},
                                  std::array{300, 520, 70}, std::array{5, 1000, 1500}}) {
      expect_same_bits_on_any_number_of_threads([&, rows = static_cast<std::size_t>(M),
                                                 cols = static_cast<std::size_t>(N),
                                                 depth = static_cast<std::size_t>(K)] {
        Random random(3);
        Product product(form, Into::kAdd, rows, cols, depth);
        product.a.normal(random);
        product.b.normal(random);
        product.c.normal(random);
        product.run();
        return product.c.values();
      });
    }
  }
}

TEST(Gemm, OfAPackedMatrixHasTheBitsOfTheProductOfWhatWasPacked) {
  for (const std::size_t M : {1u, 5u, 80u, 131u}) {
    for (const std::size_t N : {1u, 16u, 33u, 200u}) {
      for (const std::size_t K : {1u, 31u, 700u}) {
        for (const Form form : {Form::kPlain, Form::kTransposed}) {
          for (const Into into : {Into::kOverwrite, Into::kAdd}) {
            Random random(M + N + K);
            Product product(form, into, M, N, K);
            product.a.normal(random);
            product.b.normal(random);
            product.c.normal(random);
            const std::vector<double> before = product.c.values();
            product.run();
            const std::vector<double> expected = product.c.values();
            for (std::size_t i = 0; i < M; ++i)
              for (std::size_t j = 0; j < N; ++j) product.c.view()(i, j) = static_cast<Real>(before[i * N + j]);
            PackedMatrix packed;
            form == Form::kPlain ? packed.pack(product.b.read()) : packed.pack_transposed(product.b.read());
            ASSERT_EQ(packed.rows(), K);
            ASSERT_EQ(packed.cols(), N);
            multiply(product.a.read(), packed, product.c.view(), into);
            ASSERT_EQ(product.c.values(), expected) << product.name();
          }
        }
      }
    }
  }
}

TEST(Gemm, GivesARowTheSameBitsWhateverTheOtherRowsAndColumnsAre) {
  Random random(5);
  Product whole(Form::kPlain, Into::kOverwrite, 300, 90, 4500);
  whole.a.normal(random);
  whole.b.normal(random);
  whole.run();
  for (const std::size_t first : {0u, 7u, 299u}) {
    for (const std::size_t count : {1u, 2u, 6u, 13u, 40u}) {
      if (first + count > 300) continue;
      std::vector<Real> some(count * 70);
      multiply(whole.a.read().row_range(first, count), whole.b.read().columns(20, 70), {some.data(), count, 70});
      for (std::size_t i = 0; i < count; ++i)
        for (std::size_t j = 0; j < 70; ++j) ASSERT_EQ(some[i * 70 + j], whole.c.read()(first + i, 20 + j));
    }
  }
}

// Rows of a that are spread over the sets of a cache are read where they lie, others are packed: here in two slabs.
TEST(Gemm, HasTheSameBitsHoweverFarApartTheRowsOfAAre) {
  constexpr std::size_t M = 470, N = 70, K = 4500;
  Random random(9);
  Guarded<Real> near(M, K, 3, 1), far(M, K, 3, 4608 - K), b(K, N), b_transposed(N, K), first(M, N), second(M, N);
  near.normal(random);
  b.normal(random);
  for (std::size_t i = 0; i < M; ++i) std::copy_n(near.row(i).data(), K, far.row(i).data());
  for (std::size_t k = 0; k < K; ++k)
    for (std::size_t j = 0; j < N; ++j) b_transposed(j, k) = b(k, j);
  PackedMatrix packed;
  packed.pack(b.read());
  multiply(near.read(), b.read(), first.view());
  const auto expect_the_same = [&](const char* form) {
    EXPECT_EQ(second.values(), first.values()) << form;
    EXPECT_TRUE(second.guards_hold()) << form;
  };
  for (const auto* a : {&near, &far}) {
    multiply(a->read(), b.read(), second.view());
    expect_the_same("a b");
    multiply(a->read(), packed, second.view());
    expect_the_same("a b, packed");
    multiply_transposed(a->read(), b_transposed.read(), second.view());
    expect_the_same("a b^T");
  }
}

#ifndef NDEBUG
TEST(Gemm, IsNotWrittenOverItsOperands) {
  std::vector<Real> memory(40 * 40);
  const MatrixView<Real> all(memory.data(), 40, 40), left = all.columns(0, 20), right = all.columns(20, 20);
  const std::vector<Real> other(20 * 20);
  const ConstMatrix square(other.data(), 20, 20);
  multiply(left, square, right);
  multiply(right.row_range(0, 20), square, left.row_range(20, 20));
  EXPECT_DEATH(multiply(left, square, left), "apart");
  EXPECT_DEATH(parallel_for(1, [&](std::size_t) { multiply(left, square, right); }), "inside_parallel_for");
  EXPECT_DEATH(multiply(left, square, all.columns(19, 20)), "apart");
  EXPECT_DEATH(multiply(square, left.row_range(0, 20), left.row_range(10, 20)), "apart");
  PackedMatrix packed;
  packed.pack(square);
  EXPECT_DEATH(multiply(right, packed, all.columns(1, 20)), "apart");
}
#endif

class Products : public testing::Test {
 protected:
  void TearDown() override { set_precision(Precision::kFloat32); }
};

// Every slab, block, strip and panel of a large product: sums of small integers are exact.
TEST_F(Products, OfManyThousandsOfTermsLoseNone) {
  for (const Form form : kForms) ASSERT_TRUE(exact(form, Into::kAdd, 1300, 40, 9001));
  for (const Precision precision : {Precision::kFloat32, Precision::kBFloat16}) {
    set_precision(precision);  // 4 and 9 are exact in both
    for (const Form form : kForms)
      for (const Into into : {Into::kOverwrite, Into::kAdd}) ASSERT_TRUE(exact(form, into, 250, 35, 33801));
    Random random(1);
    Product product(Form::kTransposed, Into::kOverwrite, 250, 20, 33801);
    product.a.integers(random, 4);
    product.b.integers(random, 4);
    const std::vector<double> expected = product.expected();
    PackedMatrix packed;
    packed.pack_transposed(product.b.read());
    multiply(product.a.read(), packed, product.c.view());
    EXPECT_TRUE(close(product.c, expected, {0.0}, "packed"));
  }
}

// Large enough for many pieces of rows and of columns, whose panels are packed once for all, some at a time: each row
// has the bits that it has in a product of few rows, which is cut in another way.
TEST_F(Products, OfManyPiecesHaveTheBitsOfTheirRowsAlone) {
  constexpr std::size_t kFew = 6;
  set_thread_count(2);
  for (const Precision precision : {Precision::kFloat32, Precision::kBFloat16, Precision::kInt8}) {
    set_precision(precision);
    for (const Form form : {Form::kPlain, Form::kTransposed}) {
      for (const auto& [M, N, K] :
           {std::array{1000, 1010, 2200}, std::array{1300, 290, 300}, std::array{90, 2300, 300}}) {
        Random random(11);
        Product product(form, Into::kOverwrite, static_cast<std::size_t>(M), static_cast<std::size_t>(N),
                        static_cast<std::size_t>(K));
        product.a.normal(random);
        product.b.normal(random);
        product.run();
        const auto part = [&](std::size_t first, std::size_t count, MatrixView<float> c) {
          const auto rows = product.a.read().row_range(first, count);
          if (form == Form::kPlain) multiply(rows, product.b.read(), c);
          if (form == Form::kTransposed) multiply_transposed(rows, product.b.read(), c);
        };
        for (std::size_t first = 0; first < product.M; first += 23 * kFew) {
          const std::size_t count = std::min(kFew, product.M - first);
          Guarded<Real> few(count, product.N, 0, 0);
          part(first, count, few.view());
          for (std::size_t i = 0; i < count; ++i) {
            ASSERT_EQ(std::memcmp(few.read().row(i), product.c.read().row(first + i), product.N * sizeof(float)), 0)
                << product.name() << ", row " << first + i;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace rnnsearch::kernels

#include "rnnsearch/kernels/rows.h"

#include "rnnsearch/kernels/optimizer_steps.h"
#include "tests/kernels/guarded.h"
#include "tests/support/test.h"

namespace rnnsearch::kernels {
namespace {

// All of these are copies or sums in a stated order: the loops below must agree to the bit, in either precision.
constexpr Bound kExact{0.0};

// At every width: run(from, to) against expected(from, sums, j), which changes column j of a copy of `to`.
void expect_rows(std::size_t from_rows, std::size_t to_rows, double scale,
                 const std::function<void(Guarded<Real>& from, Guarded<Real>& to)>& run,
                 const std::function<void(Guarded<Real>& from, Guarded<Real>& sums, std::size_t j)>& expected) {
  Random random(1);
  for (const std::size_t W : lengths()) {
    Guarded<Real> from(from_rows, W, W % 5), to(to_rows, W, W % 3, W % 7);
    from.normal(random);
    to.normal(random, scale);
    Guarded<Real> sums = to;
    for (std::size_t j = 0; j < W; ++j) expected(from, sums, j);
    run(from, to);
    ASSERT_TRUE(close(to, sums.values(), kExact, "width " + std::to_string(W)));
  }
}

TEST(Rows, AreGatheredByIndex) {
  const std::vector<std::uint32_t> index{5, 0, 5, 2};
  expect_rows(
      6, 4, 1, [&](auto& from, auto& to) { gather_rows(from.read(), index, to.view()); },
      [&](auto& from, auto& sums, std::size_t j) {
        for (std::size_t i = 0; i < index.size(); ++i) sums(i, j) = from(index[i], j);
      });
}

TEST(Rows, AreScatteredInTheOrderGivenThoughIndicesRepeat) {
  const std::vector<std::uint32_t> index{3, 1, 3, 3, 0, 1, 3};
  expect_rows(
      7, 4, 1e-3, [&](auto& from, auto& to) { scatter_add_rows(from.read(), index, to.view()); },
      [&](auto& from, auto& sums, std::size_t j) {
        for (std::size_t i = 0; i < index.size(); ++i) sums(index[i], j) += from(i, j);
      });
}

TEST(Rows, AreCopied) {
  expect_rows(
      3, 3, 1, [](auto& from, auto& to) { copy_rows(from.read(), to.view()); },
      [](auto& from, auto& sums, std::size_t j) {
        for (std::size_t i = 0; i < 3; ++i) sums(i, j) = from(i, j);
      });
}

TEST(Rows, AreAdded) {
  expect_rows(
      3, 3, 1, [](auto& from, auto& to) { add(from.read(), to.view()); },
      [](auto& from, auto& sums, std::size_t j) {
        for (std::size_t i = 0; i < 3; ++i) sums(i, j) += from(i, j);
      });
}

TEST(Rows, ReceiveTheBias) {
  expect_rows(
      1, 3, 1, [](auto& bias, auto& to) { add_to_rows(bias.row(0), to.view()); },
      [](auto& bias, auto& sums, std::size_t j) {
        for (std::size_t i = 0; i < 3; ++i) sums(i, j) += bias(0, j);
      });
}

TEST(Rows, AreSummedFromTheFirstToTheLast) {
  expect_rows(
      9, 1, 1e3, [](auto& from, auto& sums) { add_column_sums(from.read(), sums.row(0)); },
      [](auto& from, auto& expected, std::size_t j) {
        for (std::size_t i = 0; i < 9; ++i) expected(0, j) += from(i, j);
      });
}

TEST(Rows, MayBeNone) {
  Guarded<Real> none(0, 5), table(2, 5), sums(1, 5);
  table.fill([] { return 1.5; });
  sums.fill([] { return 2.5; });
  gather_rows(table.read(), {}, none.view());
  scatter_add_rows(none.read(), {}, table.view());
  copy_rows(none.read(), none.view());
  add(none.read(), none.view());
  add_to_rows(sums.row(0), none.view());
  add_column_sums(none.read(), sums.row(0));
  EXPECT_TRUE(none.guards_hold());
  close(table, std::vector<double>(10, 1.5), kExact, "table");
  close(sums, std::vector<double>(5, 2.5), kExact, "sums");
}

TEST(Rows, HaveTheSameBitsOnAnyNumberOfThreads) {
  expect_same_bits_on_any_number_of_threads([] {
    Random random(7);
    constexpr std::size_t kRows = 300, kWidth = 201;
    Guarded<Real> from(kRows, kWidth), table(40, kWidth), gathered(kRows, kWidth), sums(1, kWidth);
    from.normal(random);
    table.normal(random);
    sums.normal(random);
    std::vector<std::uint32_t> index(kRows);
    for (auto& i : index) i = static_cast<std::uint32_t>(random.below(40));
    scatter_add_rows(from.read(), index, table.view());
    gather_rows(table.read(), index, gathered.view());
    add(from.read(), gathered.view());
    add_to_rows(table.row(3), gathered.view());
    add_column_sums(gathered.read(), sums.row(0));
    return joined({table.values(), gathered.values(), sums.values()});
  });
}

// The formulas with every operation rounded to float on its own. In double each operation on floats is so exact that
// rounding it once more gives what float arithmetic gives.
float times(float a, float b) { return static_cast<float>(static_cast<double>(a) * static_cast<double>(b)); }
float plus(float a, float b) { return static_cast<float>(static_cast<double>(a) + static_cast<double>(b)); }
float over(float a, float b) { return static_cast<float>(static_cast<double>(a) / static_cast<double>(b)); }
float root(float a) { return static_cast<float>(std::sqrt(static_cast<double>(a))); }
float normal_or_zero(float value) { return std::abs(value) < std::numeric_limits<float>::min() ? 0.0F : value; }

constexpr float kScale = 0.3F, kRate = 0.7F;

/// Gradient, parameters and two averages. Magnitudes differ, so that some averages fall below the smallest normal
/// float.
struct Arrays {
  explicit Arrays(std::size_t n) : all(4, n) {
    Random random(n);
    for (std::size_t j = 0; j < n; ++j) {
      const double magnitude = std::pow(10.0, -7.0 * static_cast<double>(j % 4));
      all(0, j) = j % 7 == 0 ? 0.0F : static_cast<float>(magnitude * random.normal());
      all(1, j) = static_cast<float>(random.normal());
      for (const std::size_t average : {2u, 3u})
        all(average, j) = j % 5 == 0 ? 1.2e-38F : static_cast<float>(magnitude * random.uniform());
    }
  }
  float* row(std::size_t i) { return all.view().row(i); }
  Guarded<float> all;
};

/// run(arrays) uses the kernel, expected(g, p, a, b) changes one element; all bits have to agree.
template <class Run, class Expected>
void expect_bits(const Run& run, const Expected& expected) {
  for (const std::size_t n : lengths()) {
    Arrays found(n), reference(n);
    for (int update = 0; update < 3; ++update) {
      run(n, found);
      for (std::size_t j = 0; j < n; ++j) {
        auto& r = reference.all;
        expected(times(kScale, r(0, j)), r(1, j), r(2, j), r(3, j));
      }
    }
    ASSERT_TRUE(found.all.guards_hold()) << n;
    ASSERT_EQ(found.all.values(), reference.all.values()) << n;
  }
}

TEST(OptimizerSteps, RoundEveryOperationOfAdadelta) {
  const float rho = 0.95F, rest = plus(1, -rho), epsilon = 1e-6F;
  expect_bits(
      [&](std::size_t n, Arrays& a) {
        adadelta({rho, epsilon, kRate, kScale}, {n, a.row(0), a.row(1), a.row(2), a.row(3)});
      },
      [&](float g, float& p, float& g2, float& d2) {
        g2 = normal_or_zero(plus(times(rho, g2), times(times(rest, g), g)));
        const float d = times(over(root(plus(d2, epsilon)), root(plus(g2, epsilon))), g);
        d2 = normal_or_zero(plus(times(rho, d2), times(times(rest, d), d)));
        p = plus(p, -times(kRate, d));
      });
}

TEST(OptimizerSteps, RoundEveryOperationOfAdam) {
  const AdamStep step{0.9F, 0.1F, 0.999F, 0.001F, 1.5F, 1e-8F, kRate, kScale};
  expect_bits(
      [&](std::size_t n, Arrays& a) {
        adam(step, {n, a.row(0), a.row(1), a.row(2), a.row(3)});
      },
      [&](float g, float& p, float& m, float& v) {
        m = normal_or_zero(plus(times(step.beta1, m), times(step.rest1, g)));
        v = normal_or_zero(plus(times(step.beta2, v), times(times(step.rest2, g), g)));
        p = plus(p, -over(times(kRate, m), plus(root(times(step.v_scale, v)), step.epsilon)));
      });
}

TEST(OptimizerSteps, RoundEveryOperationOfGradientDescent) {
  expect_bits(
      [&](std::size_t n, Arrays& a) {
        gradient_descent({0, kRate, kScale}, {n, a.row(0), a.row(1)});
      },
      [&](float g, float& p, float&, float&) { p = plus(p, -times(kRate, g)); });
  expect_bits(
      [&](std::size_t n, Arrays& a) {
        gradient_descent({0.9F, kRate, kScale}, {n, a.row(0), a.row(1), a.row(2)});
      },
      [&](float g, float& p, float& v, float&) {
        v = normal_or_zero(plus(times(0.9F, v), -times(kRate, g)));
        p = plus(p, v);
      });
}

TEST(OptimizerSteps, DecayAsOftenAsTheyAreTold) {
  constexpr float kRho = 0.95F;
  for (const std::size_t n : {1u, 15u, 64u, 70u, 129u, 256u}) {
    for (const std::uint64_t missed : {1u, 2u, 17u, 3000u}) {
      Arrays found(n), reference(n);
      decay(kRho, missed, n, found.row(2));
      for (std::size_t j = 0; j < n; ++j) {
        for (std::uint64_t time = 0; time < missed; ++time)
          reference.all(2, j) = normal_or_zero(times(kRho, reference.all(2, j)));
      }
      ASSERT_TRUE(found.all.guards_hold());
      ASSERT_EQ(found.all.values(), reference.all.values()) << n << " values, " << missed << " times";
    }
  }
}

}  // namespace
}  // namespace rnnsearch::kernels

#include "rnnsearch/kernels/gates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "tests/kernels/guarded.h"
#include "tests/support/gradient_check.h"

namespace rnnsearch::kernels {
namespace {

constexpr std::size_t kRows = 3;
using Matrix = std::vector<double>;  // [rows, cols], row after row

double sigma(double x) {
  return 1 / (1 + std::exp(-x));
}

// The equations of the header, one element at a time. x [R, 3n]
double in_block(const Matrix& x, std::size_t n, std::size_t i, std::size_t j, std::size_t block) {
  return x[i * 3 * n + block * n + j];
}

struct Gates {
  Matrix z, r, reset;
};
Gates gates_of(std::size_t n, const Matrix& x, const Matrix& recurrent, const Matrix& previous) {
  Gates gates;
  for (std::size_t i = 0; i < previous.size() / n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      gates.z.push_back(sigma(in_block(x, n, i, j, 1) + recurrent[i * 2 * n + j]));
      gates.r.push_back(sigma(in_block(x, n, i, j, 2) + recurrent[i * 2 * n + n + j]));
      gates.reset.push_back(gates.r.back() * previous[i * n + j]);
    }
  }
  return gates;
}

struct State {
  Matrix candidate, state;
};
State state_of(std::size_t n, const Matrix& x, const Matrix& recurrent, const Matrix& z, const Matrix& previous) {
  State result;
  for (std::size_t at = 0; at < previous.size(); ++at) {
    const double candidate = std::tanh(in_block(x, n, at / n, at % n, 0) + recurrent[at]);
    result.candidate.push_back(candidate);
    result.state.push_back((1 - z[at]) * previous[at] + z[at] * candidate);
  }
  return result;
}

TEST(GatesTest, ForwardFollowsTheEquations) {
  Random random(1);
  for (const std::size_t n : lengths()) {
    const std::string what = "n = " + std::to_string(n);
    Guarded<Real> x(kRows, 3 * n, n % 5), recurrent(kRows, 2 * n, 3), previous(kRows, n, n % 3, 5);
    x.grid(random, 8);
    recurrent.grid(random, 4);
    previous.grid(random, 2);
    Guarded<Real> z(kRows, n, 1), r(kRows, n, 2, 1), reset(kRows, n, n % 7, 0);
    gates_forward({x.read(), recurrent.read(), previous.read(), z.view(), r.view(), reset.view()});
    const Gates gates = gates_of(n, x.values(), recurrent.values(), previous.values());
    ASSERT_TRUE(close(z, gates.z, bound(5e-7), "z, " + what));
    ASSERT_TRUE(close(r, gates.r, bound(5e-7), "r, " + what));
    ASSERT_TRUE(close(reset, gates.reset, bound(2 * 5e-7, 1e-7), "r o h', " + what));

    Guarded<Real> product(kRows, n, 4), candidate(kRows, n, n % 6), state(kRows, n, 3, 2);
    product.grid(random, 4);
    state_forward({x.read(), product.read(), z.read(), previous.read(), candidate.view(), state.view()});
    const State expected = state_of(n, x.values(), product.values(), z.values(), previous.values());
    ASSERT_TRUE(close(candidate, expected.candidate, bound(5e-7), "h~, " + what));
    ASSERT_TRUE(close(state, expected.state, bound(1e-6), "h, " + what));
  }
}

TEST(GatesTest, BackwardFollowsTheDerivatives) {
  Random random(2);
  for (const std::size_t n : lengths()) {
    const std::string what = "n = " + std::to_string(n);
    const auto share = [&] { return random.uniform(); };
    Guarded<Real> gradient(kRows, n, n % 5), z(kRows, n, 2), candidate(kRows, n, 3, 1), previous(kRows, n, 4, 4),
        r(kRows, n, n % 3), reset_gradient(kRows, n, 6), previous_gradient(kRows, n, n % 7, 2);
    gradient.normal(random);
    z.fill(share);
    r.fill(share);
    candidate.fill([&] { return 2 * random.uniform() - 1; });
    previous.normal(random);
    reset_gradient.normal(random);
    previous_gradient.normal(random);

    Matrix x_gradient(kRows * 3 * n), carried = previous_gradient.values();
    Matrix kept = carried;  // after state_backward alone
    for (std::size_t i = 0; i < kRows; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        const double g = gradient(i, j), gate = z(i, j), h = candidate(i, j), before = previous(i, j);
        const double dr = reset_gradient(i, j), gate_r = r(i, j);
        double* const row = &x_gradient[i * 3 * n];
        row[j] = g * gate * (1 - h * h);
        row[n + j] = g * (h - before) * gate * (1 - gate);
        row[2 * n + j] = dr * before * gate_r * (1 - gate_r);
        kept[i * n + j] += g * (1 - gate);
        carried[i * n + j] = kept[i * n + j] + dr * gate_r;
      }
    }

    Guarded<Real> x(kRows, 3 * n, 1, n % 4);
    state_backward({gradient.read(), z.read(), candidate.read(), previous.read(), x.view(), previous_gradient.view()});
    for (std::size_t i = 0; i < kRows; ++i)
      for (std::size_t j = 2 * n; j < 3 * n; ++j) ASSERT_FALSE(x.was_written(i, j)) << "x_r's columns, " << what;
    const Bound allowed = bound(2e-6, 2e-6);  // a handful of roundings of terms of order 1
    ASSERT_TRUE(close(previous_gradient, kept, allowed, "dL/dh' of the state, " + what));
    Guarded<Real> reset(kRows, n, 1, 2);
    gates_backward(
        {reset_gradient.read(), r.read(), previous.read(), x.view(), previous_gradient.view(), reset.view()});
    for (std::size_t i = 0; i < kRows; ++i) {
      for (std::size_t j = 0; j < n; ++j) ASSERT_EQ(reset(i, j), r(i, j) * previous(i, j)) << "r o h', " << what;
    }
    ASSERT_TRUE(close(x, x_gradient, allowed, "dL/dx, " + what));
    ASSERT_TRUE(close(previous_gradient, carried, allowed, "dL/dh', " + what));
  }
}

#ifdef RNNSEARCH_DOUBLE
// L = weights . h + reset_weights . (r o h'), everything else an independent variable.
TEST(GatesBackward, EqualsCentralDifferencesOfTheEquations) {
  Random random(3);
  for (const std::size_t n : {1u, 5u, 17u}) {
    const std::size_t size = kRows * n;
    Guarded<Real> weights(kRows, n), reset_weights(kRows, n);
    weights.normal(random);
    reset_weights.normal(random);
    Matrix variables(6 * size + size);  // x with the recurrent products' share [R, 3n], previous [R, n]
    for (double& value : variables) value = random.normal();
    variables.resize(4 * size);
    const auto x = [&] { return Matrix(variables.begin(), variables.begin() + static_cast<std::ptrdiff_t>(3 * size)); };
    const auto previous = [&] {
      return Matrix(variables.begin() + static_cast<std::ptrdiff_t>(3 * size), variables.end());
    };
    const Matrix nothing(2 * size);
    const auto loss = [&] {
      const Gates gates = gates_of(n, x(), nothing, previous());
      const State state = state_of(n, x(), Matrix(size), gates.z, previous());
      double sum = 0;
      for (std::size_t i = 0; i < size; ++i) {
        sum += weights(i / n, i % n) * state.state[i] + reset_weights(i / n, i % n) * gates.reset[i];
      }
      return sum;
    };

    Guarded<Real> in(kRows, 3 * n), recurrent(kRows, 2 * n), product(kRows, n), before(kRows, n), z(kRows, n),
        r(kRows, n), reset(kRows, n), candidate(kRows, n), state(kRows, n), dx(kRows, 3 * n), dh(kRows, n);
    const auto zero = [] { return 0.0; };
    recurrent.fill(zero);
    product.fill(zero);
    dh.fill(zero);
    std::size_t next = 0;
    in.fill([&] { return variables[next++]; });
    before.fill([&] { return variables[next++]; });
    gates_forward({in.read(), recurrent.read(), before.read(), z.view(), r.view(), reset.view()});
    state_forward({in.read(), product.read(), z.read(), before.read(), candidate.view(), state.view()});
    state_backward({weights.read(), z.read(), candidate.read(), before.read(), dx.view(), dh.view()});
    gates_backward({reset_weights.read(), r.read(), before.read(), dx.view(), dh.view(), reset.view()});
    support::expect_gradient(variables, joined({dx.values(), dh.values()}), loss, {.name = "x and h'"});
  }
}
#endif

TEST(GatesTest, TanhHoldsItsBoundAtEveryLength) {
  Random random(4);
  for (const std::size_t n : lengths()) {
    Guarded<Real> y(kRows, n, n % 5, n % 4), gradient(kRows, n, n % 3);
    y.normal(random, 3);
    gradient.normal(random);
    Matrix expected = y.values();
    for (double& value : expected) value = std::tanh(value);
    tanh_forward(y.view());
    ASSERT_TRUE(close(y, expected, bound(5e-7), "tanh, n = " + std::to_string(n)));
    Matrix slopes = gradient.values();
    const Matrix values = y.values();
    for (std::size_t i = 0; i < slopes.size(); ++i) slopes[i] *= 1 - values[i] * values[i];
    tanh_backward({y.read(), gradient.view()});
    ASSERT_TRUE(close(gradient, slopes, bound(1e-6, 1e-6), "its slope, n = " + std::to_string(n)));
  }
}

std::vector<Real> arguments() {
  std::vector<Real> all{0, 100, 1000, std::numeric_limits<Real>::infinity()};
  for (double x = 1e-35; x < 1e-3; x *= 1.37) all.push_back(static_cast<Real>(x));
  for (double x = 0; x < 12; x += 1.0 / 4096) all.push_back(static_cast<Real>(x));
  const std::size_t half = all.size();
  for (std::size_t i = 0; i < half; ++i) all.push_back(-all[i]);
  return all;
}

TEST(GatesTest, TanhHoldsItsBoundFromTinyToInfiniteArguments) {
  const std::vector<Real> x = arguments();
  std::vector<Real> y = x;
  tanh_forward({y.data(), 1, y.size()});
  double most_units = 0, most = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double expected = std::tanh(static_cast<double>(x[i]));
    const double error = std::abs(static_cast<double>(y[i]) - expected);
    const Real near = std::abs(static_cast<Real>(expected));
    const Real unit = std::nextafter(near, Real{2}) - near;
    most = std::max(most, error);
    if (expected != 0) most_units = std::max(most_units, error / static_cast<double>(unit));
    ASSERT_LE(std::abs(y[i]), 1) << "tanh " << x[i];
    ASSERT_EQ(y[i], -y[(i + x.size() / 2) % x.size()]) << "tanh is odd, at " << x[i];
  }
  EXPECT_EQ(y[0], 0);
  EXPECT_LE(most, sizeof(Real) == 4 ? 5e-7 : 1e-15);
  EXPECT_LE(most_units, 7);
}

TEST(GatesTest, SigmaStaysBetweenZeroAndOne) {
  const std::vector<Real> x = arguments();
  const std::size_t n = x.size();
  std::vector<Real> in(3 * n), z(n), r(n), reset(n);
  const std::vector<Real> recurrent(2 * n), previous(n, Real{1});
  std::copy(x.begin(), x.end(), in.begin() + static_cast<std::ptrdiff_t>(n));
  std::copy(x.begin(), x.end(), in.begin() + static_cast<std::ptrdiff_t>(2 * n));
  gates_forward({{in.data(), 1, 3 * n},
                 {recurrent.data(), 1, 2 * n},
                 {previous.data(), 1, n},
                 {z.data(), 1, n},
                 {r.data(), 1, n},
                 {reset.data(), 1, n}});
  for (std::size_t i = 0; i < n; ++i) {
    ASSERT_NEAR(z[i], sigma(static_cast<double>(x[i])), sizeof(Real) == 4 ? 5e-7 : 1e-15) << x[i];
    ASSERT_TRUE(z[i] >= 0 && z[i] <= 1) << x[i];
    ASSERT_EQ(z[i], r[i]);
  }
}

TEST(GatesTest, TanhPassesNotANumberOn) {
  for (const std::size_t n : {1u, 16u, 37u}) {
    std::vector<Real> y(n, std::numeric_limits<Real>::quiet_NaN());
    tanh_forward({y.data(), 1, n});
    for (const Real value : y) ASSERT_TRUE(std::isnan(value)) << "became " << value;
  }
}

TEST(GatesTest, GiveTheSameBitsOnAnyNumberOfThreads) {
  expect_same_bits_on_any_number_of_threads([] {
    Random random(5);
    constexpr std::size_t kMany = 83, n = 301;
    Guarded<Real> x(kMany, 3 * n), recurrent(kMany, 2 * n), product(kMany, n), before(kMany, n), z(kMany, n),
        r(kMany, n), reset(kMany, n), candidate(kMany, n), state(kMany, n), dh(kMany, n);
    for (auto* operand : {&x, &recurrent, &product, &before, &dh}) operand->normal(random);
    gates_forward({x.read(), recurrent.read(), before.read(), z.view(), r.view(), reset.view()});
    state_forward({x.read(), product.read(), z.read(), before.read(), candidate.view(), state.view()});
    state_backward({state.read(), z.read(), candidate.read(), before.read(), x.view(), dh.view()});
    gates_backward({reset.read(), r.read(), before.read(), x.view(), dh.view(), candidate.view()});
    tanh_forward(product.view());
    tanh_backward({product.read(), reset.view()});
    return joined({z.values(), state.values(), x.values(), dh.values(), candidate.values(), reset.values()});
  });
}

TEST(GatesTest, DoNothingForNoRows) {
  Guarded<Real> wide(0, 9), two(0, 6), one(0, 3);
  gates_forward({wide.read(), two.read(), one.read(), one.view(), one.view(), one.view()});
  state_forward({wide.read(), one.read(), one.read(), one.read(), one.view(), one.view()});
  tanh_forward(one.view());
  EXPECT_TRUE(one.guards_hold());
}

}  // namespace
}  // namespace rnnsearch::kernels

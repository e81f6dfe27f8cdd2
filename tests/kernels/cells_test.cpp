#include "rnnsearch/kernels/cells.h"

#include "tests/kernels/guarded.h"
#include "tests/support/gradient_check.h"
#include "tests/support/test.h"

namespace rnnsearch::kernels {
namespace {

constexpr std::size_t kRows = 3;
using Matrix = std::vector<double>;  // [rows, cols], row after row

double sigma(double x) { return 1 / (1 + std::exp(-x)); }

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
    for (std::size_t i = 0; i < kRows; ++i)
      for (std::size_t j = 0; j < n; ++j) ASSERT_EQ(reset(i, j), r(i, j) * previous(i, j)) << "r o h', " << what;
    ASSERT_TRUE(close(x, x_gradient, allowed, "dL/dx, " + what));
    ASSERT_TRUE(close(previous_gradient, carried, allowed, "dL/dh', " + what));
  }
}

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

// ---- layer normalisation

/// The equations, in float64.
std::vector<double> normalised(std::vector<double> a) {
  const auto width = static_cast<double>(a.size());
  const double mean = std::accumulate(a.begin(), a.end(), 0.0) / width;
  double variance = 0;
  for (const double value : a) variance += (value - mean) * (value - mean) / width;
  for (double& value : a) value = (value - mean) / std::sqrt(variance + 1e-5);
  return a;
}

TEST(Normalisation, FollowsTheEquations) {
  Random random(1);
  for (const std::size_t width : lengths()) {
    Guarded<Real> a(kRows, width), g(1, width), b(1, width), v(kRows, width), y(kRows, width), inverse(kRows, 1);
    a.fill([&] { return 3 + 2 * random.normal(); });
    g.normal(random);
    b.normal(random);
    std::vector<double> expected_v, expected_y;
    for (std::size_t i = 0; i < kRows; ++i) {
      const auto row = normalised({a.row(i).begin(), a.row(i).end()});
      for (std::size_t k = 0; k < width; ++k) {
        expected_v.push_back(row[k]);
        expected_y.push_back(static_cast<double>(g(0, k)) * row[k] + static_cast<double>(b(0, k)));
      }
    }
    normalise_forward({a.read(), g.row(0), b.row(0), v.view(), inverse.view(), y.view()});
    // float: a mean of 3 leaves rounding of some 1e-6 in each difference, over a deviation that may be small in few
    // units
    const Bound allowed = sizeof(Real) == 8 ? Bound{1e-10} : Bound{width < 8 ? 1e-2 : 1e-5, 1e-5};
    const std::string what = "width " + std::to_string(width);
    if (!close(v, expected_v, allowed, what) || !close(y, expected_y, allowed, what)) return;
    EXPECT_TRUE(inverse.guards_hold());
    normalise_forward({a.read(), g.row(0), b.row(0), v.view(), inverse.view(), a.view()});
    EXPECT_EQ(a.values(), y.values()) << "in place";
  }
}

#ifdef RNNSEARCH_DOUBLE
TEST(NormalisationBackward, IsTheCentralDifference) {
  for (const std::size_t width : {1u, 2u, 7u, 33u}) {
    Random random(width);
    const auto some = [&](std::size_t count) {
      std::vector<double> values(count);
      for (double& value : values) value = random.normal();
      return values;
    };
    std::vector<double> a = some(kRows * width), g = some(width), b = some(width), share = some(kRows * width);
    std::vector<double> v(kRows * width), inverse(kRows), y(kRows * width);
    const auto view = [&](std::vector<double>& values) { return MatrixView<Real>{values.data(), kRows, width}; };
    const auto loss = [&] {
      normalise_forward({view(a), g, b, view(v), {inverse.data(), kRows, 1}, view(y)});
      return std::inner_product(y.begin(), y.end(), share.begin(), 0.0);
    };
    loss();
    std::vector<double> a_gradient = share, g_gradient(width, 0.5), b_gradient(width, -0.5);
    normalise_accumulate({view(share), view(v), g_gradient, b_gradient});
    normalise_backward({view(share), g, view(v), {inverse.data(), kRows, 1}, view(a_gradient)});
    for (std::size_t k = 0; k < width; ++k) {  // what was there before
      g_gradient[k] -= 0.5;
      b_gradient[k] += 0.5;
    }
    std::vector<double> in_place = share;
    normalise_backward({view(in_place), g, view(v), {inverse.data(), kRows, 1}, view(in_place)});
    EXPECT_EQ(in_place, a_gradient);
    // a row of two or fewer has next to no gradient, and what there is curves much
    support::expect_gradient(a, a_gradient, loss, {.epsilon = 1e-6, .tolerance = 1e-5, .floor = 1e-6, .name = "a"});
    support::expect_gradient(g, g_gradient, loss, {.name = "g"});
    support::expect_gradient(b, b_gradient, loss, {.name = "b"});
  }
}
#endif

#ifndef RNNSEARCH_DOUBLE
TEST(NormalisationOfFloats, LetsARowOfEqualNumbersPassAndKeepsANaN) {
  std::vector<float> a(2 * 20, 5.0F), g(20, 2.0F), b(20, 0.25F), v(40), y(40), inverse(2);
  a[27] = NAN;
  normalise_forward({{a.data(), 2, 20}, g, b, {v.data(), 2, 20}, {inverse.data(), 2, 1}, {y.data(), 2, 20}});
  for (std::size_t k = 0; k < 20; ++k) {
    EXPECT_EQ(y[k], 0.25F);
    EXPECT_TRUE(std::isnan(y[20 + k]));
  }
}
#endif

TEST(NormalisationOfFloats, ComputesTheSameBitsOnAnyNumberOfThreads) {
  Random random(4);
  const std::size_t rows = 150, width = 300;
  Guarded<Real> a(rows, width), g(1, width), b(1, width), dy(rows, width);
  for (auto* matrix : {&a, &g, &b, &dy}) matrix->normal(random);
  expect_same_bits_on_any_number_of_threads([&] {
    Guarded<Real> v(rows, width), y(rows, width), inverse(rows, 1), da(rows, width), dg(1, width), db(1, width);
    dg.fill([] { return 0.0; });
    db.fill([] { return 0.0; });
    normalise_forward({a.read(), g.row(0), b.row(0), v.view(), inverse.view(), y.view()});
    normalise_backward({dy.read(), g.row(0), v.read(), inverse.read(), da.view()});
    normalise_accumulate({dy.read(), v.read(), dg.row(0), db.row(0)});
    return joined({y.values(), da.values(), dg.values(), db.values()});
  });
}

}  // namespace
}  // namespace rnnsearch::kernels

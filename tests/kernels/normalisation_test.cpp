#include "rnnsearch/kernels/normalisation.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "tests/kernels/guarded.h"
#include "tests/support/gradient_check.h"

namespace rnnsearch::kernels {
namespace {

constexpr std::size_t R = 3;

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
    Guarded<Real> a(R, width), g(1, width), b(1, width), v(R, width), y(R, width), inverse(R, 1);
    a.fill([&] { return 3 + 2 * random.normal(); });
    g.normal(random);
    b.normal(random);
    std::vector<double> expected_v, expected_y;
    for (std::size_t i = 0; i < R; ++i) {
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
    std::vector<double> a = some(R * width), g = some(width), b = some(width), share = some(R * width);
    std::vector<double> v(R * width), inverse(R), y(R * width);
    const auto view = [&](std::vector<double>& values) { return MatrixView<Real>{values.data(), R, width}; };
    const auto loss = [&] {
      normalise_forward({view(a), g, b, view(v), {inverse.data(), R, 1}, view(y)});
      return std::inner_product(y.begin(), y.end(), share.begin(), 0.0);
    };
    loss();
    std::vector<double> a_gradient = share, g_gradient(width, 0.5), b_gradient(width, -0.5);
    normalise_accumulate({view(share), view(v), g_gradient, b_gradient});
    normalise_backward({view(share), g, view(v), {inverse.data(), R, 1}, view(a_gradient)});
    for (std::size_t k = 0; k < width; ++k) {  // what was there before
      g_gradient[k] -= 0.5;
      b_gradient[k] += 0.5;
    }
    std::vector<double> in_place = share;
    normalise_backward({view(in_place), g, view(v), {inverse.data(), R, 1}, view(in_place)});
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

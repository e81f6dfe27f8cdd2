// The elementary functions of vector-inl.h, compiled for each instruction set as the kernels are: their errors, and
// their bits, which are the same for vectors of any width.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/kernels/elementary_test.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/vector-inl.h"
#include "tests/support/test.h"

HWY_BEFORE_NAMESPACE();
namespace rnnsearch::kernels::HWY_NAMESPACE {

void exp_all(std::size_t n, float* x) {
  for_each(n, [&](auto d, std::size_t i) HWY_ATTR { hn::StoreU(exp_of(d, hn::LoadU(d, x + i)), d, x + i); });
}
void log1p_all(std::size_t n, float* x) {
  for_each(n, [&](auto d, std::size_t i) HWY_ATTR { hn::StoreU(log1p_of(d, hn::LoadU(d, x + i)), d, x + i); });
}
void tanh_all(std::size_t n, float* x) {
  for_each(n, [&](auto d, std::size_t i) HWY_ATTR { hn::StoreU(tanh_of(d, hn::LoadU(d, x + i)), d, x + i); });
}
void sigmoid_all(std::size_t n, float* x) {
  for_each(n, [&](auto d, std::size_t i) HWY_ATTR { hn::StoreU(sigmoid_of(d, hn::LoadU(d, x + i)), d, x + i); });
}
float sum_all(std::size_t n, const float* x) {
  return sum_of(n, [&](auto d, std::size_t i, auto sum) HWY_ATTR { return hn::Add(sum, hn::LoadU(d, x + i)); });
}

}  // namespace rnnsearch::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/dispatch.h"
#include "rnnsearch/base/portable.h"
#include "rnnsearch/kernels/instruction_set.h"

namespace rnnsearch::kernels {
namespace {

HWY_EXPORT(exp_all);
HWY_EXPORT(log1p_all);
HWY_EXPORT(tanh_all);
HWY_EXPORT(sigmoid_all);
HWY_EXPORT(sum_all);

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Accuracy {
  double most = 0;           // of the errors, in units of the last place
  std::uint64_t digest = 0;  // of the bits of all results
};

// Of every kStep-th float from `least` to `most`; with kStep = 1, of all of them, which takes minutes.
// Where a unit in the last place is less than least_unit, that is counted.
template <class Function, class Expected>
Accuracy accuracy_of(Function function, float least, float most, float least_unit, const Expected& expected) {
  constexpr std::uint32_t kStep = 1009;
  Accuracy result{0, 0xcbf29ce484222325};
  std::vector<float> x, y;
  const auto look = [&] {
    y = x;
    function(y.size(), y.data());
    for (std::size_t i = 0; i < x.size(); ++i) {
      result.digest = (result.digest ^ std::bit_cast<std::uint32_t>(y[i])) * 0x100000001b3;
      const double exact = expected(static_cast<double>(x[i]));
      const auto nearest = static_cast<float>(exact);
      if (std::isinf(nearest) && y[i] == nearest) continue;
      const float unit = std::max(least_unit, std::nextafter(std::abs(nearest), kInfinity) - std::abs(nearest));
      result.most = std::max(result.most, std::abs(y[i] - exact) / static_cast<double>(unit));
    }
    x.clear();
  };
  for (std::uint64_t bits = 0; bits <= 0xffffffff; bits += kStep) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (!(value >= least && value <= most)) continue;
    x.push_back(value);
    if (x.size() == 4111) look();  // 15 are left after whole vectors of 16: 8, 4, 2 and 1
  }
  look();
  return result;
}

double exact_sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

TEST(Elementary, FunctionsAreAccurateAndHaveTheSameBitsEverywhere) {
  const auto is = [](const char* name, const Accuracy& found, double most, std::uint64_t digest) {
    EXPECT_LE(found.most, most) << name;
    if (instruction_set() == "sse2") return;  // it has no fused multiply-add
    EXPECT_EQ(found.digest, digest) << name << " has the digest 0x" << std::hex << found.digest;
  };
  is("exp", accuracy_of(RNNSEARCH_CHOSEN(exp_all), -kInfinity, kInfinity, 0, [](double x) { return std::exp(x); }), 1.2,
     0xa6e8bf7a38d7ee43);
  is("log1p", accuracy_of(RNNSEARCH_CHOSEN(log1p_all), 0, 1, 0, [](double x) { return std::log1p(x); }), 1.5,
     0x192f15f5e03785d4);
  // The quotient of small numbers loses digits below 1e-34.
  is("tanh",
     accuracy_of(RNNSEARCH_CHOSEN(tanh_all), -kInfinity, kInfinity, 1e-41F, [](double x) { return std::tanh(x); }), 7,
     0xf18d022d9a7f6841);
  // It is half of 1 + tanh, so that its error is relative to 1.
  is("sigmoid", accuracy_of(RNNSEARCH_CHOSEN(sigmoid_all), -kInfinity, kInfinity, 0x1p-24F, exact_sigmoid), 4,
     0x710d1146f4f2db4c);
}

TEST(Elementary, ExpKeepsNaN) {
  float x[2] = {std::nanf(""), 0};
  RNNSEARCH_CHOSEN(exp_all)(2, x);
  EXPECT_TRUE(std::isnan(x[0]));
  EXPECT_EQ(x[1], 1);
}

// sum_of, written once more with plain loops.
TEST(Elementary, SumsHaveTheOrderOfThirtyTwoLanes) {
  Random random(5);
  for (const std::size_t n : {0u, 1u, 31u, 32u, 33u, 100u, 4096u, 140000u}) {
    std::vector<float> x(n);
    for (float& value : x) value = static_cast<float>(random.normal());
    float total = 0;
    for (std::size_t first = 0; first < n; first += 4096 * 32) {
      float lanes[32] = {};
      for (std::size_t i = first; i < std::min<std::size_t>(n, first + 4096 * 32); ++i) lanes[i % 32] += x[i];
      for (std::size_t half = 16; half > 0; half /= 2)
        for (std::size_t k = 0; k < half; ++k) lanes[k] += lanes[k + half];
      total += lanes[0];
    }
    EXPECT_EQ(RNNSEARCH_CHOSEN(sum_all)(n, x.data()), total) << n;
  }
}

}  // namespace
}  // namespace rnnsearch::kernels
#endif

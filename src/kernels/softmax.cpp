#include "rnnsearch/kernels/softmax.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/softmax.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/dispatch.h"
#include "kernels/softmax-inl.h"
#include "rnnsearch/base/portable.h"

HWY_BEFORE_NAMESPACE();
namespace rnnsearch::kernels::HWY_NAMESPACE {

void log_softmax_row(std::span<const Real> bias, std::span<Real> logits) {
  std::vector<Real> largest, sums;
  for (std::size_t first = 0; first < logits.size(); first += kWordsPerSum) {
    const std::size_t count = std::min(kWordsPerSum, logits.size() - first);
    const BlockSum block = block_sum(count, bias.data() + first, logits.data() + first);
    largest.push_back(block.largest);
    sums.push_back(block.sum);
  }
  const LogSum sum = log_sum(largest, sums);
  Real* const x = logits.data();
  for_each(logits.size(), [&](auto d, std::size_t i) HWY_ATTR {
    hn::StoreU(hn::Sub(above(d, x + i, sum.largest), hn::Set(d, sum.log)), d, x + i);
  });
}

// -log(exp(x - largest) / sum)
double loss_of(Real x, Real largest, Real sum) {
  return portable::log(static_cast<double>(sum)) + (static_cast<double>(largest) - static_cast<double>(x));
}

void softmax_cross_entropy(const CrossEntropy& args, std::size_t first, std::size_t last) {
  const auto& [bias, logits, target, loss, label_smoothing, weight] = args;
  const std::size_t K = logits.cols;
  assert(weight.empty() || weight.size() == logits.rows);
  assert(bias.size() == K && target.size() == logits.rows && loss.size() == logits.rows);
  const Real share = static_cast<Real>(label_smoothing / static_cast<double>(K));  // E / K
  for (std::size_t i = first; i < last; ++i) {
    Real* const row = logits.row(i);
    const Real largest = add_bias(K, bias.data(), row), x = row[target[i]];
    const Real w = weight.empty() ? 1 : weight[i];
    const Real sum = exp_and_sum(K, largest, row), factor = w / sum;
    loss[i] = loss_of(x, largest, sum);
    for_each(K, [&](auto d, std::size_t k)
                    HWY_ATTR { hn::StoreU(hn::Mul(hn::LoadU(d, row + k), hn::Set(d, factor)), d, row + k); });
    row[target[i]] -= w * static_cast<Real>(1 - label_smoothing);
    if (label_smoothing == 0) continue;
    for (std::size_t k = 0; k < K; ++k) row[k] -= w * share;
  }
}

void softmax_loss(const CrossEntropy& args, std::size_t first, std::size_t last) {
  const auto& [bias, logits, target, loss, label_smoothing, weight] = args;
  assert(bias.size() == logits.cols && target.size() == logits.rows && loss.size() == logits.rows);
  for (std::size_t i = first; i < last; ++i) {
    Real* const row = logits.row(i);
    const Real largest = add_bias(logits.cols, bias.data(), row);
    loss[i] = loss_of(row[target[i]], largest, sum_of_exp(logits.cols, largest, row));
  }
}

void mix_log_probabilities(const Mixture& args, std::size_t first, std::size_t last) {
  assert(args.from.rows == args.to.rows && args.from.cols == args.to.cols && args.share >= 0 && args.share <= 1);
  const auto log_rest = static_cast<Real>(portable::log(1 - args.share)),
             log_share = static_cast<Real>(portable::log(args.share));
  for (std::size_t row = first; row < last; ++row) {
    const Real* const from = args.from.row(row);
    Real* const to = args.to.row(row);
    for_each(args.to.cols, [&](auto d, std::size_t i) HWY_ATTR {
      const auto a = hn::Add(hn::LoadU(d, to + i), hn::Set(d, log_rest));
      const auto b = hn::Add(hn::LoadU(d, from + i), hn::Set(d, log_share));
      // The comparison with a NaN is false, so a NaN in `a` stays; one in `b` is put back at the end.
      const auto above_a = hn::Gt(b, a);
      const auto most = hn::IfThenElse(above_a, b, a), least = hn::IfThenElse(above_a, a, b);
      const auto sum = hn::Add(most, log1p_of(d, exp_of(d, hn::Sub(least, most))));
      const auto never = hn::Eq(most, hn::Set(d, -std::numeric_limits<Real>::infinity()));
      hn::StoreU(hn::IfThenElse(hn::IsNaN(b), b, hn::IfThenElse(never, most, sum)), d, to + i);
    });
  }
}

}  // namespace rnnsearch::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rnnsearch::kernels {

HWY_EXPORT(log_softmax_row);

void log_softmax(std::span<const Real> bias, std::span<Real> logits) {
  assert(bias.size() == logits.size());
  static auto* const row = RNNSEARCH_CHOSEN(log_softmax_row);
  if (!logits.empty()) row(bias, logits);
}

void log_softmax(std::span<const Real> bias, Matrix logits) {
  parallel_for(logits.rows, [&](std::size_t i) { log_softmax(bias, std::span(logits.row(i), logits.cols)); });
}

RNNSEARCH_ROW_KERNEL(softmax_cross_entropy, CrossEntropy, args.logits.rows, 1)
RNNSEARCH_ROW_KERNEL(softmax_loss, CrossEntropy, args.logits.rows, 1)
RNNSEARCH_ROW_KERNEL(mix_log_probabilities, Mixture, args.to.rows, 1)

void interpolate(const Mixture& args) {
  assert(args.from.rows == args.to.rows && args.from.cols == args.to.cols);
  const auto rest = static_cast<Real>(1 - args.share), share = static_cast<Real>(args.share);
  for_each_row(args.to.rows, args.to.cols, [&](std::size_t i) {
    const Real* from = args.from.row(i);
    Real* to = args.to.row(i);
    for (std::size_t k = 0; k < args.to.cols; ++k) to[k] = rest * to[k] + share * from[k];
  });
}

void maxout_forward(ConstMatrix x, Matrix t) {
  assert(x.rows == t.rows && x.cols == 2 * t.cols);
  for_each_row(t.rows, x.cols, [&](std::size_t i) {
    const Real* in = x.row(i);
    Real* out = t.row(i);
    for (std::size_t k = 0; k < t.cols; ++k) out[k] = in[2 * k] >= in[2 * k + 1] ? in[2 * k] : in[2 * k + 1];
  });
}

void maxout_backward(const MaxoutBackward& args) {
  assert(args.x.rows == args.t_gradient.rows && args.x.cols == 2 * args.t_gradient.cols);
  assert(args.x_gradient.cols == args.x.cols);
  for_each_row(args.x.rows, args.x.cols, [&](std::size_t i) {
    const Real* in = args.x.row(i);
    const Real* gradient = args.t_gradient.row(i);
    Real* out = args.x_gradient.row(i);
    for (std::size_t k = 0; k < args.t_gradient.cols; ++k) {
      const bool even = in[2 * k] >= in[2 * k + 1];
      out[2 * k] = even ? gradient[k] : Real{0};
      out[2 * k + 1] = even ? Real{0} : gradient[k];
    }
  });
}

}  // namespace rnnsearch::kernels
#endif

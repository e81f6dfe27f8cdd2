#include "rnnsearch/kernels/gates.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gates.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/dispatch.h"
#include "kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rnnsearch::kernels::HWY_NAMESPACE {

void gates_forward(const GatesForward& args, std::size_t first, std::size_t last) {
  const std::size_t n = args.previous.cols;
  assert(args.x.cols == 3 * n && args.recurrent.cols == 2 * n);
  for (std::size_t row = first; row < last; ++row) {
    const Real *const x = args.x.row(row), *const recurrent = args.recurrent.row(row);
    const Real* const previous = args.previous.row(row);
    Real *const z = args.z.row(row), *const r = args.r.row(row), *const reset = args.reset.row(row);
    for_each(n, [&](auto d, std::size_t i) HWY_ATTR {
      const auto sum_z = hn::Add(hn::LoadU(d, x + n + i), hn::LoadU(d, recurrent + i));
      const auto sum_r = hn::Add(hn::LoadU(d, x + 2 * n + i), hn::LoadU(d, recurrent + n + i));
      const auto gate_r = sigmoid_of(d, sum_r);
      hn::StoreU(sigmoid_of(d, sum_z), d, z + i);
      hn::StoreU(gate_r, d, r + i);
      hn::StoreU(hn::Mul(gate_r, hn::LoadU(d, previous + i)), d, reset + i);
    });
  }
}

void state_forward(const StateForward& args, std::size_t first, std::size_t last) {
  const std::size_t n = args.previous.cols;
  assert(args.x.cols == 3 * n && args.recurrent.cols == n);
  for (std::size_t row = first; row < last; ++row) {
    const Real *const x = args.x.row(row), *const recurrent = args.recurrent.row(row);
    const Real *const z = args.z.row(row), *const previous = args.previous.row(row);
    Real *const candidate = args.candidate.row(row), *const state = args.state.row(row);
    for_each(n, [&](auto d, std::size_t i) HWY_ATTR {
      const auto h = tanh_of(d, hn::Add(hn::LoadU(d, x + i), hn::LoadU(d, recurrent + i)));
      const auto before = hn::LoadU(d, previous + i);
      hn::StoreU(h, d, candidate + i);
      hn::StoreU(hn::MulAdd(hn::LoadU(d, z + i), hn::Sub(h, before), before), d, state + i);
    });
  }
}

void state_backward(const StateBackward& args, std::size_t first, std::size_t last) {
  const std::size_t n = args.gradient.cols;
  assert(args.x.cols == 3 * n);
  for (std::size_t row = first; row < last; ++row) {
    const Real *const gradient = args.gradient.row(row), *const z = args.z.row(row);
    const Real *const candidate = args.candidate.row(row), *const previous = args.previous.row(row);
    Real *const x = args.x.row(row), *const previous_gradient = args.previous_gradient.row(row);
    for_each(n, [&](auto d, std::size_t i) HWY_ATTR {
      const auto one = hn::Set(d, Real{1});
      const auto g = hn::LoadU(d, gradient + i), gate = hn::LoadU(d, z + i), h = hn::LoadU(d, candidate + i);
      const auto keep = hn::Sub(one, gate);
      const auto dz = hn::Mul(g, hn::Sub(h, hn::LoadU(d, previous + i)));
      hn::StoreU(hn::Mul(hn::Mul(g, gate), hn::NegMulAdd(h, h, one)), d, x + i);
      hn::StoreU(hn::Mul(dz, hn::Mul(gate, keep)), d, x + n + i);
      hn::StoreU(hn::MulAdd(g, keep, hn::LoadU(d, previous_gradient + i)), d, previous_gradient + i);
    });
  }
}

void gates_backward(const GatesBackward& args, std::size_t first, std::size_t last) {
  const std::size_t n = args.reset_gradient.cols;
  assert(args.x.cols == 3 * n);
  for (std::size_t row = first; row < last; ++row) {
    const Real *const reset_gradient = args.reset_gradient.row(row), *const r = args.r.row(row);
    const Real* const previous = args.previous.row(row);
    Real *const x = args.x.row(row), *const previous_gradient = args.previous_gradient.row(row);
    Real* const reset = args.reset.row(row);
    for_each(n, [&](auto d, std::size_t i) HWY_ATTR {
      const auto g = hn::LoadU(d, reset_gradient + i), gate = hn::LoadU(d, r + i);
      const auto keep = hn::Sub(hn::Set(d, Real{1}), gate);
      const auto before = hn::LoadU(d, previous + i);
      const auto dr = hn::Mul(hn::Mul(g, before), hn::Mul(gate, keep));
      hn::StoreU(hn::Mul(gate, before), d, reset + i);
      hn::StoreU(dr, d, x + 2 * n + i);
      hn::StoreU(hn::MulAdd(g, gate, hn::LoadU(d, previous_gradient + i)), d, previous_gradient + i);
    });
  }
}

void tanh_forward(const Matrix& y, std::size_t first, std::size_t last) {
  for (std::size_t row = first; row < last; ++row) {
    Real* const value = y.row(row);
    for_each(y.cols,
             [&](auto d, std::size_t i) HWY_ATTR { hn::StoreU(tanh_of(d, hn::LoadU(d, value + i)), d, value + i); });
  }
}

void tanh_backward(const TanhBackward& args, std::size_t first, std::size_t last) {
  for (std::size_t row = first; row < last; ++row) {
    const Real* const y = args.y.row(row);
    Real* const gradient = args.gradient.row(row);
    for_each(args.y.cols, [&](auto d, std::size_t i) HWY_ATTR {
      const auto value = hn::LoadU(d, y + i);
      const auto slope = hn::NegMulAdd(value, value, hn::Set(d, Real{1}));
      hn::StoreU(hn::Mul(hn::LoadU(d, gradient + i), slope), d, gradient + i);
    });
  }
}

}  // namespace rnnsearch::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rnnsearch::kernels {

RNNSEARCH_ROW_KERNEL(gates_forward, GatesForward, args.previous.rows, rows_per_piece(4 * args.previous.cols))
RNNSEARCH_ROW_KERNEL(state_forward, StateForward, args.previous.rows, rows_per_piece(4 * args.previous.cols))
RNNSEARCH_ROW_KERNEL(state_backward, StateBackward, args.gradient.rows, rows_per_piece(4 * args.gradient.cols))
RNNSEARCH_ROW_KERNEL(gates_backward, GatesBackward, args.reset_gradient.rows,
                     rows_per_piece(4 * args.reset_gradient.cols))
RNNSEARCH_ROW_KERNEL(tanh_forward, Matrix, args.rows, rows_per_piece(4 * args.cols))
RNNSEARCH_ROW_KERNEL(tanh_backward, TanhBackward, args.y.rows, rows_per_piece(4 * args.y.cols))

}  // namespace rnnsearch::kernels
#endif

#include "rnnsearch/kernels/cells.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cells.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/dispatch.h"
#include "kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rnnsearch::kernels::HWY_NAMESPACE {

void lstm_forward(const LstmForward& args, std::size_t first, std::size_t last) {
  const std::size_t n = args.cell.cols;
  assert(args.gates.cols == 4 * n);
  for (std::size_t row = first; row < last; ++row) {
    Real* const gates = args.gates.row(row);
    const Real* const previous_cell = args.previous_cell.row(row);
    Real *const cell = args.cell.row(row), *const cell_tanh = row_or_null(args.cell_tanh, row),
                *const state = row_or_null(args.state, row);
    for_each(n, [&](auto d, std::size_t k) HWY_ATTR {
      const auto g = tanh_of(d, hn::LoadU(d, gates + k)), i = sigmoid_of(d, hn::LoadU(d, gates + n + k));
      const auto f = sigmoid_of(d, hn::LoadU(d, gates + 2 * n + k)), o = sigmoid_of(d, hn::LoadU(d, gates + 3 * n + k));
      const auto c = hn::MulAdd(f, hn::LoadU(d, previous_cell + k), hn::Mul(i, g));
      hn::StoreU(g, d, gates + k);
      hn::StoreU(i, d, gates + n + k);
      hn::StoreU(f, d, gates + 2 * n + k);
      hn::StoreU(o, d, gates + 3 * n + k);
      hn::StoreU(c, d, cell + k);
      if (!state) return;
      const auto bounded = tanh_of(d, c);
      hn::StoreU(bounded, d, cell_tanh + k);
      hn::StoreU(hn::Mul(o, bounded), d, state + k);
    });
  }
}

void lstm_backward(const LstmBackward& args, std::size_t first, std::size_t last) {
  const std::size_t n = args.cell_gradient.cols;
  assert(args.gates.cols == 4 * n && args.gates_gradient.cols == 4 * n);
  for (std::size_t row = first; row < last; ++row) {
    const Real *const gates = args.gates.row(row), *const previous_cell = args.previous_cell.row(row),
                      *const cell_tanh = row_or_null(args.cell_tanh, row),
                      *const state_gradient = row_or_null(args.state_gradient, row),
                      *const cell_gradient = args.cell_gradient.row(row);
    Real *const gates_gradient = args.gates_gradient.row(row), *const previous_cell_gradient =
                                                                   args.previous_cell_gradient.row(row);
    for_each(n, [&](auto d, std::size_t k) HWY_ATTR {
      const auto one = hn::Set(d, Real{1});
      const auto slope = [&](auto gate) HWY_ATTR { return hn::Mul(gate, hn::Sub(one, gate)); };
      const auto g = hn::LoadU(d, gates + k), i = hn::LoadU(d, gates + n + k);
      const auto f = hn::LoadU(d, gates + 2 * n + k), o = hn::LoadU(d, gates + 3 * n + k);
      auto dc = hn::LoadU(d, cell_gradient + k);
      if (state_gradient) {
        const auto bounded = hn::LoadU(d, cell_tanh + k), dh = hn::LoadU(d, state_gradient + k);
        dc = hn::MulAdd(hn::Mul(dh, o), hn::NegMulAdd(bounded, bounded, one), dc);
        hn::StoreU(hn::Mul(hn::Mul(dh, bounded), slope(o)), d, gates_gradient + 3 * n + k);
      }
      hn::StoreU(hn::Mul(hn::Mul(dc, i), hn::NegMulAdd(g, g, one)), d, gates_gradient + k);
      hn::StoreU(hn::Mul(hn::Mul(dc, g), slope(i)), d, gates_gradient + n + k);
      hn::StoreU(hn::Mul(hn::Mul(dc, hn::LoadU(d, previous_cell + k)), slope(f)), d, gates_gradient + 2 * n + k);
      hn::StoreU(hn::MulAdd(dc, f, hn::LoadU(d, previous_cell_gradient + k)), d, previous_cell_gradient + k);
    });
  }
}

void lstm_output_forward(const LstmOutputForward& args, std::size_t first, std::size_t last) {
  const std::size_t n = args.state.cols;
  assert(args.gates.cols == 4 * n);
  for (std::size_t row = first; row < last; ++row) {
    const Real* const gates = args.gates.row(row);
    Real *const y_tanh = args.y_tanh.row(row), *const state = args.state.row(row);
    for_each(n, [&](auto d, std::size_t k) HWY_ATTR {
      const auto bounded = tanh_of(d, hn::LoadU(d, y_tanh + k));
      hn::StoreU(bounded, d, y_tanh + k);
      hn::StoreU(hn::Mul(hn::LoadU(d, gates + 3 * n + k), bounded), d, state + k);
    });
  }
}

void lstm_output_backward(const LstmOutputBackward& args, std::size_t first, std::size_t last) {
  const std::size_t n = args.state_gradient.cols;
  assert(args.gates.cols == 4 * n && args.gates_gradient.cols == 4 * n);
  for (std::size_t row = first; row < last; ++row) {
    const Real *const gates = args.gates.row(row), *const y_tanh = args.y_tanh.row(row),
                      *const state_gradient = args.state_gradient.row(row);
    Real *const gates_gradient = args.gates_gradient.row(row), *const y_gradient = args.y_gradient.row(row);
    for_each(n, [&](auto d, std::size_t k) HWY_ATTR {
      const auto one = hn::Set(d, Real{1}), o = hn::LoadU(d, gates + 3 * n + k);
      const auto bounded = hn::LoadU(d, y_tanh + k), dh = hn::LoadU(d, state_gradient + k);
      hn::StoreU(hn::Mul(hn::Mul(dh, bounded), hn::Mul(o, hn::Sub(one, o))), d, gates_gradient + 3 * n + k);
      hn::StoreU(hn::Mul(hn::Mul(dh, o), hn::NegMulAdd(bounded, bounded, one)), d, y_gradient + k);
    });
  }
}

void reset_after_forward(const ResetAfterForward& args, std::size_t first, std::size_t last) {
  const std::size_t n = args.state.cols;
  assert(args.x.cols == 3 * n && args.u.cols == 3 * n);
  for (std::size_t row = first; row < last; ++row) {
    const Real *const x = args.x.row(row), *const u = args.u.row(row), *const previous = args.previous.row(row);
    Real *const z = args.z.row(row), *const r = args.r.row(row), *const candidate = args.candidate.row(row),
                *const state = args.state.row(row);
    for_each(n, [&](auto d, std::size_t k) HWY_ATTR {
      const auto gate_z = sigmoid_of(d, hn::Add(hn::LoadU(d, x + n + k), hn::LoadU(d, u + n + k)));
      const auto gate_r = sigmoid_of(d, hn::Add(hn::LoadU(d, x + 2 * n + k), hn::LoadU(d, u + 2 * n + k)));
      const auto h = tanh_of(d, hn::MulAdd(gate_r, hn::LoadU(d, u + k), hn::LoadU(d, x + k)));
      const auto before = hn::LoadU(d, previous + k);
      hn::StoreU(gate_z, d, z + k);
      hn::StoreU(gate_r, d, r + k);
      hn::StoreU(h, d, candidate + k);
      hn::StoreU(hn::MulAdd(gate_z, hn::Sub(h, before), before), d, state + k);
    });
  }
}

void reset_after_backward(const ResetAfterBackward& args, std::size_t first, std::size_t last) {
  const std::size_t n = args.gradient.cols;
  assert(args.x_gradient.cols == 3 * n && args.u_gradient.cols == 3 * n);
  for (std::size_t row = first; row < last; ++row) {
    const Real *const gradient = args.gradient.row(row), *const u = args.u.row(row),
                      *const previous = args.previous.row(row), *const z = args.z.row(row), *const r = args.r.row(row),
                      *const candidate = args.candidate.row(row);
    Real *const x_gradient = args.x_gradient.row(row), *const u_gradient = args.u_gradient.row(row),
                *const previous_gradient = args.previous_gradient.row(row);
    for_each(n, [&](auto d, std::size_t k) HWY_ATTR {
      const auto one = hn::Set(d, Real{1});
      const auto dh = hn::LoadU(d, gradient + k), gate_z = hn::LoadU(d, z + k), gate_r = hn::LoadU(d, r + k);
      const auto h = hn::LoadU(d, candidate + k), keep_z = hn::Sub(one, gate_z);
      const auto dz = hn::Mul(hn::Mul(dh, hn::Sub(h, hn::LoadU(d, previous + k))), hn::Mul(gate_z, keep_z));
      const auto sum = hn::Mul(hn::Mul(dh, gate_z), hn::NegMulAdd(h, h, one));
      const auto dr = hn::Mul(hn::Mul(sum, hn::LoadU(d, u + k)), hn::Mul(gate_r, hn::Sub(one, gate_r)));
      hn::StoreU(sum, d, x_gradient + k);
      hn::StoreU(dz, d, x_gradient + n + k);
      hn::StoreU(dr, d, x_gradient + 2 * n + k);
      hn::StoreU(hn::Mul(sum, gate_r), d, u_gradient + k);
      hn::StoreU(dz, d, u_gradient + n + k);
      hn::StoreU(dr, d, u_gradient + 2 * n + k);
      hn::StoreU(hn::MulAdd(dh, keep_z, hn::LoadU(d, previous_gradient + k)), d, previous_gradient + k);
    });
  }
}

void relu_forward(const Matrix& y, std::size_t first, std::size_t last) {
  for (std::size_t row = first; row < last; ++row) {
    Real* const value = y.row(row);
    for (std::size_t k = 0; k < y.cols; ++k) value[k] = value[k] < 0 ? Real{0} : value[k];
  }
}

void relu_backward(const ReluBackward& args, std::size_t first, std::size_t last) {
  for (std::size_t row = first; row < last; ++row) {
    const Real* const value = args.y.row(row);
    Real* const gradient = args.gradient.row(row);
    for (std::size_t k = 0; k < args.y.cols; ++k) gradient[k] = value[k] > 0 ? gradient[k] : Real{0};
  }
}

}  // namespace rnnsearch::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rnnsearch::kernels {

RNNSEARCH_ROW_KERNEL(lstm_forward, LstmForward, args.cell.rows, rows_per_piece(4 * args.cell.cols))
RNNSEARCH_ROW_KERNEL(lstm_backward, LstmBackward, args.cell_gradient.rows, rows_per_piece(4 * args.cell_gradient.cols))
RNNSEARCH_ROW_KERNEL(lstm_output_forward, LstmOutputForward, args.state.rows, rows_per_piece(4 * args.state.cols))
RNNSEARCH_ROW_KERNEL(lstm_output_backward, LstmOutputBackward, args.state_gradient.rows,
                     rows_per_piece(4 * args.state_gradient.cols))
RNNSEARCH_ROW_KERNEL(reset_after_forward, ResetAfterForward, args.state.rows, rows_per_piece(4 * args.state.cols))
RNNSEARCH_ROW_KERNEL(reset_after_backward, ResetAfterBackward, args.gradient.rows,
                     rows_per_piece(4 * args.gradient.cols))
RNNSEARCH_ROW_KERNEL(relu_forward, Matrix, args.rows, rows_per_piece(args.cols))
RNNSEARCH_ROW_KERNEL(relu_backward, ReluBackward, args.y.rows, rows_per_piece(args.y.cols))

}  // namespace rnnsearch::kernels
#endif

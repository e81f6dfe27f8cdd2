#include "rnnsearch/kernels/cells.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cells.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>

#include "kernels/dispatch.h"
#include "kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rnnsearch::kernels::HWY_NAMESPACE {

// The arguments are copied, because the compiler would otherwise read them again after every store.

void gates_forward(const GatesForward& args, std::size_t first, std::size_t last) {
  const GatesForward a = args;
  const std::size_t n = a.previous.cols;
  assert(a.x.cols == 3 * n && a.recurrent.cols == 2 * n);
  for_rows(first, last, n, [&](auto at) HWY_ATTR {
    const auto r = sigmoid_of(at.d, hn::Add(at.load(a.x, 2), at.load(a.recurrent, 1)));
    at.store(sigmoid_of(at.d, hn::Add(at.load(a.x, 1), at.load(a.recurrent))), a.z);
    at.store(r, a.r);
    at.store(hn::Mul(r, at.load(a.previous)), a.reset);
  });
}

void state_forward(const StateForward& args, std::size_t first, std::size_t last) {
  const StateForward a = args;
  const std::size_t n = a.previous.cols;
  assert(a.x.cols == 3 * n && a.recurrent.cols == n);
  for_rows(first, last, n, [&](auto at) HWY_ATTR {
    const auto h = tanh_of(at.d, hn::Add(at.load(a.x), at.load(a.recurrent))), before = at.load(a.previous);
    at.store(h, a.candidate);
    at.store(hn::MulAdd(at.load(a.z), hn::Sub(h, before), before), a.state);
  });
}

void state_backward(const StateBackward& args, std::size_t first, std::size_t last) {
  const StateBackward a = args;
  const std::size_t n = a.gradient.cols;
  assert(a.x.cols == 3 * n);
  for_rows(first, last, n, [&](auto at) HWY_ATTR {
    const auto g = at.load(a.gradient), z = at.load(a.z), h = at.load(a.candidate), one = at.one();
    const auto dz = hn::Mul(g, hn::Sub(h, at.load(a.previous))), keep = hn::Sub(one, z);
    at.store(hn::Mul(hn::Mul(g, z), hn::NegMulAdd(h, h, one)), a.x);
    at.store(hn::Mul(dz, hn::Mul(z, keep)), a.x, 1);
    at.store(hn::MulAdd(g, keep, at.load(a.previous_gradient)), a.previous_gradient);
  });
}

void gates_backward(const GatesBackward& args, std::size_t first, std::size_t last) {
  const GatesBackward a = args;
  const std::size_t n = a.reset_gradient.cols;
  assert(a.x.cols == 3 * n);
  for_rows(first, last, n, [&](auto at) HWY_ATTR {
    const auto g = at.load(a.reset_gradient), r = at.load(a.r), before = at.load(a.previous);
    const auto dr = hn::Mul(hn::Mul(g, before), at.slope(r));
    at.store(hn::Mul(r, before), a.reset);
    at.store(dr, a.x, 2);
    at.store(hn::MulAdd(g, r, at.load(a.previous_gradient)), a.previous_gradient);
  });
}

void lstm_forward(const LstmForward& args, std::size_t first, std::size_t last) {
  const LstmForward a = args;
  const std::size_t n = a.cell.cols;
  assert(a.gates.cols == 4 * n);
  for_rows(first, last, n, [&](auto at) HWY_ATTR {
    const auto g = tanh_of(at.d, at.load(a.gates)), i = sigmoid_of(at.d, at.load(a.gates, 1));
    const auto f = sigmoid_of(at.d, at.load(a.gates, 2)), o = sigmoid_of(at.d, at.load(a.gates, 3));
    const auto c = hn::MulAdd(f, at.load(a.previous_cell), hn::Mul(i, g));
    at.store(g, a.gates);
    at.store(i, a.gates, 1);
    at.store(f, a.gates, 2);
    at.store(o, a.gates, 3);
    at.store(c, a.cell);
    if (!a.state.data) return;
    const auto bounded = tanh_of(at.d, c);
    at.store(bounded, a.cell_tanh);
    at.store(hn::Mul(o, bounded), a.state);
  });
}

// A row of a matrix that may be absent.
template <class Element>
Element* row_or_null(const MatrixView<Element>& matrix, std::size_t i) {
  return matrix.data ? matrix.row(i) : nullptr;
}

// With pointers to its rows, which GCC makes faster code of where there are so many.
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
  const LstmOutputForward a = args;
  assert(a.gates.cols == 4 * a.state.cols);
  for_rows(first, last, a.state.cols, [&](auto at) HWY_ATTR {
    const auto bounded = tanh_of(at.d, at.load(a.y_tanh));
    at.store(bounded, a.y_tanh);
    at.store(hn::Mul(at.load(a.gates, 3), bounded), a.state);
  });
}

void lstm_output_backward(const LstmOutputBackward& args, std::size_t first, std::size_t last) {
  const LstmOutputBackward a = args;
  const std::size_t n = a.state_gradient.cols;
  assert(a.gates.cols == 4 * n && a.gates_gradient.cols == 4 * n);
  for_rows(first, last, n, [&](auto at) HWY_ATTR {
    const auto o = at.load(a.gates, 3), bounded = at.load(a.y_tanh), dh = at.load(a.state_gradient);
    at.store(hn::Mul(hn::Mul(dh, bounded), at.slope(o)), a.gates_gradient, 3);
    at.store(hn::Mul(hn::Mul(dh, o), hn::NegMulAdd(bounded, bounded, at.one())), a.y_gradient);
  });
}

void reset_after_forward(const ResetAfterForward& args, std::size_t first, std::size_t last) {
  const ResetAfterForward a = args;
  const std::size_t n = a.state.cols;
  assert(a.x.cols == 3 * n && a.u.cols == 3 * n);
  for_rows(first, last, n, [&](auto at) HWY_ATTR {
    const auto z = sigmoid_of(at.d, hn::Add(at.load(a.x, 1), at.load(a.u, 1)));
    const auto r = sigmoid_of(at.d, hn::Add(at.load(a.x, 2), at.load(a.u, 2)));
    const auto h = tanh_of(at.d, hn::MulAdd(r, at.load(a.u), at.load(a.x))), before = at.load(a.previous);
    at.store(z, a.z);
    at.store(r, a.r);
    at.store(h, a.candidate);
    at.store(hn::MulAdd(z, hn::Sub(h, before), before), a.state);
  });
}

void reset_after_backward(const ResetAfterBackward& args, std::size_t first, std::size_t last) {
  const ResetAfterBackward a = args;
  const std::size_t n = a.gradient.cols;
  assert(a.x_gradient.cols == 3 * n && a.u_gradient.cols == 3 * n);
  for_rows(first, last, n, [&](auto at) HWY_ATTR {
    const auto dh = at.load(a.gradient), z = at.load(a.z), r = at.load(a.r), h = at.load(a.candidate);
    const auto dz = hn::Mul(hn::Mul(dh, hn::Sub(h, at.load(a.previous))), at.slope(z));
    const auto sum = hn::Mul(hn::Mul(dh, z), hn::NegMulAdd(h, h, at.one()));
    const auto dr = hn::Mul(hn::Mul(sum, at.load(a.u)), at.slope(r));
    at.store(sum, a.x_gradient);
    at.store(dz, a.x_gradient, 1);
    at.store(dr, a.x_gradient, 2);
    at.store(hn::Mul(sum, r), a.u_gradient);
    at.store(dz, a.u_gradient, 1);
    at.store(dr, a.u_gradient, 2);
    at.store(hn::MulAdd(dh, hn::Sub(at.one(), z), at.load(a.previous_gradient)), a.previous_gradient);
  });
}

void tanh_forward(const Matrix& args, std::size_t first, std::size_t last) {
  const Matrix y = args;
  for_rows(first, last, y.cols, [&](auto at) HWY_ATTR { at.store(tanh_of(at.d, at.load(y)), y); });
}

void tanh_backward(const TanhBackward& args, std::size_t first, std::size_t last) {
  const TanhBackward a = args;
  for_rows(first, last, a.y.cols, [&](auto at) HWY_ATTR {
    const auto y = at.load(a.y);
    at.store(hn::Mul(at.load(a.gradient), hn::NegMulAdd(y, y, at.one())), a.gradient);
  });
}

void relu_forward(const Matrix& args, std::size_t first, std::size_t last) {
  const Matrix y = args;
  for_rows(first, last, y.cols, [&](auto at) HWY_ATTR {
    const auto value = at.load(y), zero = hn::Zero(at.d);
    at.store(hn::IfThenElse(hn::Lt(value, zero), zero, value), y);
  });
}

void relu_backward(const ReluBackward& args, std::size_t first, std::size_t last) {
  const ReluBackward a = args;
  for_rows(first, last, a.y.cols, [&](auto at) HWY_ATTR {
    const auto zero = hn::Zero(at.d);
    at.store(hn::IfThenElse(hn::Gt(at.load(a.y), zero), at.load(a.gradient), zero), a.gradient);
  });
}

void normalise_forward(const NormaliseForward& args, std::size_t first, std::size_t last) {
  const std::size_t W = args.a.cols;
  assert(args.g.size() == W && args.b.size() == W && args.y.cols == W && args.normalised.cols == W);
  const auto width = static_cast<Real>(W);
  const Real *const g = args.g.data(), *const b = args.b.data();
  for (std::size_t row = first; row < last; ++row) {
    const Real* const a = args.a.row(row);
    Real *const normalised = args.normalised.row(row), *const y = args.y.row(row);
    const Real mean =
        sum_of(W, [&](auto d, std::size_t k, auto sum) HWY_ATTR { return hn::Add(sum, hn::LoadU(d, a + k)); }) / width;
    // Computed from the differences and not from the squares of a, which would lose digits if the mean is large.
    const Real squares = sum_of(W, [&](auto d, std::size_t k, auto sum) HWY_ATTR {
      const auto difference = hn::Sub(hn::LoadU(d, a + k), hn::Set(d, mean));
      return hn::MulAdd(difference, difference, sum);
    });
    const Real inverse = 1 / std::sqrt(squares / width + static_cast<Real>(1e-5));
    for_each(W, [&](auto d, std::size_t k) HWY_ATTR {
      const auto value = hn::Mul(hn::Sub(hn::LoadU(d, a + k), hn::Set(d, mean)), hn::Set(d, inverse));
      hn::StoreU(value, d, normalised + k);
      hn::StoreU(hn::MulAdd(hn::LoadU(d, g + k), value, hn::LoadU(d, b + k)), d, y + k);
    });
    args.inverse_deviation(row, 0) = inverse;
  }
}

// With t = g o dL/dy and the normalised row v: dL/da = (t - mean(t) - v mean(t o v)) / sqrt(sigma^2 + epsilon)
void normalise_backward(const NormaliseBackward& args, std::size_t first, std::size_t last) {
  const std::size_t W = args.y_gradient.cols;
  assert(args.g.size() == W && args.normalised.cols == W && args.a_gradient.cols == W);
  const auto width = static_cast<Real>(W);
  const Real* const g = args.g.data();
  for (std::size_t row = first; row < last; ++row) {
    const Real *const y_gradient = args.y_gradient.row(row), *const normalised = args.normalised.row(row);
    const Real inverse_deviation = args.inverse_deviation(row, 0);
    Real* const a_gradient = args.a_gradient.row(row);
    const auto t = [&](auto d, std::size_t k)
                       HWY_ATTR { return hn::Mul(hn::LoadU(d, g + k), hn::LoadU(d, y_gradient + k)); };
    const Real mean =
        sum_of(W, [&](auto d, std::size_t k, auto sum) HWY_ATTR { return hn::Add(sum, t(d, k)); }) / width;
    const Real along = sum_of(W, [&](auto d, std::size_t k, auto sum)
                                     HWY_ATTR { return hn::MulAdd(t(d, k), hn::LoadU(d, normalised + k), sum); }) /
                       width;
    for_each(W, [&](auto d, std::size_t k) HWY_ATTR {
      const auto centred = hn::Sub(t(d, k), hn::Set(d, mean));
      const auto rest = hn::NegMulAdd(hn::LoadU(d, normalised + k), hn::Set(d, along), centred);
      hn::StoreU(hn::Mul(rest, hn::Set(d, inverse_deviation)), d, a_gradient + k);
    });
  }
}

// Of columns [first, last).
void normalise_accumulate(const NormaliseAccumulate& args, std::size_t first, std::size_t last) {
  Real *const g_gradient = args.g_gradient.data() + first, *const b_gradient = args.b_gradient.data() + first;
  for (std::size_t row = 0; row < args.y_gradient.rows; ++row) {
    const Real *const y_gradient = args.y_gradient.row(row) + first, *const v = args.normalised.row(row) + first;
    for_each(last - first, [&](auto d, std::size_t k) HWY_ATTR {
      const auto dy = hn::LoadU(d, y_gradient + k);
      hn::StoreU(hn::MulAdd(dy, hn::LoadU(d, v + k), hn::LoadU(d, g_gradient + k)), d, g_gradient + k);
      hn::StoreU(hn::Add(dy, hn::LoadU(d, b_gradient + k)), d, b_gradient + k);
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
RNNSEARCH_ROW_KERNEL(normalise_forward, NormaliseForward, args.a.rows, rows_per_piece(4 * args.a.cols))
RNNSEARCH_ROW_KERNEL(normalise_backward, NormaliseBackward, args.y_gradient.rows,
                     rows_per_piece(4 * args.y_gradient.cols))
RNNSEARCH_ROW_KERNEL(normalise_accumulate, NormaliseAccumulate, args.y_gradient.cols, kColumnsPerPiece)

}  // namespace rnnsearch::kernels
#endif

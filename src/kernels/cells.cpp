#include "rnnsearch/kernels/cells.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cells.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/cells_rows.h"
#include "kernels/partition.h"
#include "kernels/row_tables.h"
#include "kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rnnsearch::kernels::HWY_NAMESPACE {

template <class T>
void lstm_forward_row(std::size_t n, T* gates, const T* previous_cell, T* cell, T* cell_tanh, T* state) {
  for_each<T>(n, [&](auto d, std::size_t k) HWY_ATTR {
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

template <class T>
void lstm_backward_row(std::size_t n, const T* gates, const T* previous_cell, const T* cell_tanh,
                       const T* state_gradient, const T* cell_gradient, T* gates_gradient, T* previous_cell_gradient) {
  for_each<T>(n, [&](auto d, std::size_t k) HWY_ATTR {
    const auto one = hn::Set(d, T{1});
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

template <class T>
void lstm_output_forward_row(std::size_t n, const T* gates, T* y_tanh, T* state) {
  for_each<T>(n, [&](auto d, std::size_t k) HWY_ATTR {
    const auto bounded = tanh_of(d, hn::LoadU(d, y_tanh + k));
    hn::StoreU(bounded, d, y_tanh + k);
    hn::StoreU(hn::Mul(hn::LoadU(d, gates + 3 * n + k), bounded), d, state + k);
  });
}

template <class T>
void lstm_output_backward_row(std::size_t n, const T* gates, const T* y_tanh, const T* state_gradient,
                              T* gates_gradient, T* y_gradient) {
  for_each<T>(n, [&](auto d, std::size_t k) HWY_ATTR {
    const auto one = hn::Set(d, T{1}), o = hn::LoadU(d, gates + 3 * n + k);
    const auto bounded = hn::LoadU(d, y_tanh + k), dh = hn::LoadU(d, state_gradient + k);
    hn::StoreU(hn::Mul(hn::Mul(dh, bounded), hn::Mul(o, hn::Sub(one, o))), d, gates_gradient + 3 * n + k);
    hn::StoreU(hn::Mul(hn::Mul(dh, o), hn::NegMulAdd(bounded, bounded, one)), d, y_gradient + k);
  });
}

template <class T>
void reset_after_forward_row(std::size_t n, const T* x, const T* u, const T* previous, T* z, T* r, T* candidate,
                             T* state) {
  for_each<T>(n, [&](auto d, std::size_t k) HWY_ATTR {
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

template <class T>
void reset_after_backward_row(std::size_t n, const T* gradient, const T* u, const T* previous, const T* z, const T* r,
                              const T* candidate, T* x_gradient, T* u_gradient, T* previous_gradient) {
  for_each<T>(n, [&](auto d, std::size_t k) HWY_ATTR {
    const auto one = hn::Set(d, T{1});
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

template <class T>
constexpr CellsRows<T> kCellsRows = {lstm_forward_row<T>,        lstm_backward_row<T>,
                                     lstm_output_forward_row<T>, lstm_output_backward_row<T>,
                                     reset_after_forward_row<T>, reset_after_backward_row<T>};
RNNSEARCH_ROW_TABLE(float_cells, kCellsRows<float>)
RNNSEARCH_ROW_TABLE(double_cells, kCellsRows<double>)

}  // namespace rnnsearch::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rnnsearch::kernels {

RNNSEARCH_CHOOSE_ROW_TABLE(float_cells, CellsRows<float>)
RNNSEARCH_CHOOSE_ROW_TABLE(double_cells, CellsRows<double>)

template <class Real>
void lstm_forward(const LstmForward<Real>& of) {
  const std::size_t n = of.cell.cols;
  assert(of.gates.cols == 4 * n);
  for_each_row(of.cell.rows, 4 * n, [&](std::size_t i) {
    row_table<CellsRows<Real>>().lstm_forward(n, of.gates.row(i), of.previous_cell.row(i), of.cell.row(i),
                                              row_or_null(of.cell_tanh, i), row_or_null(of.state, i));
  });
}

template <class Real>
void lstm_backward(const LstmBackward<Real>& of) {
  const std::size_t n = of.cell_gradient.cols;
  assert(of.gates.cols == 4 * n && of.gates_gradient.cols == 4 * n);
  for_each_row(of.cell_gradient.rows, 4 * n, [&](std::size_t i) {
    row_table<CellsRows<Real>>().lstm_backward(
        n, of.gates.row(i), of.previous_cell.row(i), row_or_null(of.cell_tanh, i), row_or_null(of.state_gradient, i),
        of.cell_gradient.row(i), of.gates_gradient.row(i), of.previous_cell_gradient.row(i));
  });
}

template <class Real>
void lstm_output_forward(const LstmOutputForward<Real>& of) {
  const std::size_t n = of.state.cols;
  assert(of.gates.cols == 4 * n);
  for_each_row(of.state.rows, 4 * n, [&](std::size_t i) {
    row_table<CellsRows<Real>>().lstm_output_forward(n, of.gates.row(i), of.y_tanh.row(i), of.state.row(i));
  });
}

template <class Real>
void lstm_output_backward(const LstmOutputBackward<Real>& of) {
  const std::size_t n = of.state_gradient.cols;
  assert(of.gates.cols == 4 * n && of.gates_gradient.cols == 4 * n);
  for_each_row(of.state_gradient.rows, 4 * n, [&](std::size_t i) {
    row_table<CellsRows<Real>>().lstm_output_backward(n, of.gates.row(i), of.y_tanh.row(i), of.state_gradient.row(i),
                                                      of.gates_gradient.row(i), of.y_gradient.row(i));
  });
}

template <class Real>
void reset_after_forward(const ResetAfterForward<Real>& of) {
  const std::size_t n = of.state.cols;
  assert(of.x.cols == 3 * n && of.u.cols == 3 * n);
  for_each_row(of.state.rows, 4 * n, [&](std::size_t i) {
    row_table<CellsRows<Real>>().reset_after_forward(n, of.x.row(i), of.u.row(i), of.previous.row(i), of.z.row(i),
                                                     of.r.row(i), of.candidate.row(i), of.state.row(i));
  });
}

template <class Real>
void reset_after_backward(const ResetAfterBackward<Real>& of) {
  const std::size_t n = of.gradient.cols;
  assert(of.x_gradient.cols == 3 * n && of.u_gradient.cols == 3 * n);
  for_each_row(of.gradient.rows, 4 * n, [&](std::size_t i) {
    row_table<CellsRows<Real>>().reset_after_backward(
        n, of.gradient.row(i), of.u.row(i), of.previous.row(i), of.z.row(i), of.r.row(i), of.candidate.row(i),
        of.x_gradient.row(i), of.u_gradient.row(i), of.previous_gradient.row(i));
  });
}

template <class Real>
void relu_forward(MatrixView<Real> y) {
  for_each_row(y.rows, y.cols, [&](std::size_t i) {
    Real* row = y.row(i);
    for (std::size_t k = 0; k < y.cols; ++k) row[k] = row[k] < 0 ? Real{0} : row[k];
  });
}

template <class Real>
void relu_backward(ConstMatrixView<Real> y, MatrixView<Real> gradient) {
  for_each_row(y.rows, y.cols, [&](std::size_t i) {
    const Real* value = y.row(i);
    Real* row = gradient.row(i);
    for (std::size_t k = 0; k < y.cols; ++k) row[k] = value[k] > 0 ? row[k] : Real{0};
  });
}

#define RNNSEARCH_INSTANTIATE(Real)                                    \
  template void lstm_forward(const LstmForward<Real>&);                \
  template void lstm_backward(const LstmBackward<Real>&);              \
  template void lstm_output_forward(const LstmOutputForward<Real>&);   \
  template void lstm_output_backward(const LstmOutputBackward<Real>&); \
  template void reset_after_forward(const ResetAfterForward<Real>&);   \
  template void reset_after_backward(const ResetAfterBackward<Real>&); \
  template void relu_forward(MatrixView<Real>);                        \
  template void relu_backward(ConstMatrixView<Real>, MatrixView<Real>);
RNNSEARCH_INSTANTIATE(float)
RNNSEARCH_INSTANTIATE(double)
#undef RNNSEARCH_INSTANTIATE

}  // namespace rnnsearch::kernels
#endif

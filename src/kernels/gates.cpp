#include "rnnsearch/kernels/gates.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gates.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/gates_rows.h"
#include "kernels/partition.h"
#include "kernels/row_tables.h"
#include "kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rnnsearch::kernels::HWY_NAMESPACE {

template <class T>
void gates_forward_row(std::size_t n, const T* x, const T* recurrent, const T* previous, T* z, T* r, T* reset) {
  for_each<T>(n, [&](auto d, std::size_t i) HWY_ATTR {
    const auto sum_z = hn::Add(hn::LoadU(d, x + n + i), hn::LoadU(d, recurrent + i));
    const auto sum_r = hn::Add(hn::LoadU(d, x + 2 * n + i), hn::LoadU(d, recurrent + n + i));
    const auto gate_r = sigmoid_of(d, sum_r);
    hn::StoreU(sigmoid_of(d, sum_z), d, z + i);
    hn::StoreU(gate_r, d, r + i);
    hn::StoreU(hn::Mul(gate_r, hn::LoadU(d, previous + i)), d, reset + i);
  });
}

template <class T>
void state_forward_row(std::size_t n, const T* x, const T* recurrent, const T* z, const T* previous, T* candidate,
                       T* state) {
  for_each<T>(n, [&](auto d, std::size_t i) HWY_ATTR {
    const auto h = tanh_of(d, hn::Add(hn::LoadU(d, x + i), hn::LoadU(d, recurrent + i)));
    const auto before = hn::LoadU(d, previous + i);
    hn::StoreU(h, d, candidate + i);
    hn::StoreU(hn::MulAdd(hn::LoadU(d, z + i), hn::Sub(h, before), before), d, state + i);
  });
}

template <class T>
void state_backward_row(std::size_t n, const T* gradient, const T* z, const T* candidate, const T* previous, T* x,
                        T* previous_gradient) {
  for_each<T>(n, [&](auto d, std::size_t i) HWY_ATTR {
    const auto one = hn::Set(d, T{1});
    const auto g = hn::LoadU(d, gradient + i);
    const auto gate = hn::LoadU(d, z + i);
    const auto h = hn::LoadU(d, candidate + i);
    const auto keep = hn::Sub(one, gate);
    const auto dz = hn::Mul(g, hn::Sub(h, hn::LoadU(d, previous + i)));
    hn::StoreU(hn::Mul(hn::Mul(g, gate), hn::NegMulAdd(h, h, one)), d, x + i);
    hn::StoreU(hn::Mul(dz, hn::Mul(gate, keep)), d, x + n + i);
    hn::StoreU(hn::MulAdd(g, keep, hn::LoadU(d, previous_gradient + i)), d, previous_gradient + i);
  });
}

template <class T>
void gates_backward_row(std::size_t n, const T* reset_gradient, const T* r, const T* previous, T* x,
                        T* previous_gradient, T* reset) {
  for_each<T>(n, [&](auto d, std::size_t i) HWY_ATTR {
    const auto g = hn::LoadU(d, reset_gradient + i);
    const auto gate = hn::LoadU(d, r + i);
    const auto keep = hn::Sub(hn::Set(d, T{1}), gate);
    const auto before = hn::LoadU(d, previous + i);
    const auto dr = hn::Mul(hn::Mul(g, before), hn::Mul(gate, keep));
    hn::StoreU(hn::Mul(gate, before), d, reset + i);
    hn::StoreU(dr, d, x + 2 * n + i);
    hn::StoreU(hn::MulAdd(g, gate, hn::LoadU(d, previous_gradient + i)), d, previous_gradient + i);
  });
}

template <class T>
void tanh_forward_row(std::size_t n, T* y) {
  for_each<T>(n, [&](auto d, std::size_t i) HWY_ATTR { hn::StoreU(tanh_of(d, hn::LoadU(d, y + i)), d, y + i); });
}

template <class T>
void tanh_backward_row(std::size_t n, const T* y, T* gradient) {
  for_each<T>(n, [&](auto d, std::size_t i) HWY_ATTR {
    const auto value = hn::LoadU(d, y + i);
    const auto slope = hn::NegMulAdd(value, value, hn::Set(d, T{1}));
    hn::StoreU(hn::Mul(hn::LoadU(d, gradient + i), slope), d, gradient + i);
  });
}

template <class T>
constexpr GatesRows<T> kGatesRows = {gates_forward_row<T>,  state_forward_row<T>, state_backward_row<T>,
                                     gates_backward_row<T>, tanh_forward_row<T>,  tanh_backward_row<T>};
RNNSEARCH_ROW_TABLE(float_gates, kGatesRows<float>)
RNNSEARCH_ROW_TABLE(double_gates, kGatesRows<double>)

}  // namespace rnnsearch::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rnnsearch::kernels {

RNNSEARCH_CHOOSE_ROW_TABLE(float_gates, GatesRows<float>)
RNNSEARCH_CHOOSE_ROW_TABLE(double_gates, GatesRows<double>)

template <class Real>
void gates_forward(const GatesForward<Real>& of) {
  const std::size_t n = of.previous.cols;
  assert(of.x.cols == 3 * n && of.recurrent.cols == 2 * n);
  for_each_row(of.previous.rows, 4 * n, [&](std::size_t i) {
    row_table<GatesRows<Real>>().gates_forward(n, of.x.row(i), of.recurrent.row(i), of.previous.row(i), of.z.row(i),
                                               of.r.row(i), of.reset.row(i));
  });
}

template <class Real>
void state_forward(const StateForward<Real>& of) {
  const std::size_t n = of.previous.cols;
  assert(of.x.cols == 3 * n && of.recurrent.cols == n);
  for_each_row(of.previous.rows, 4 * n, [&](std::size_t i) {
    row_table<GatesRows<Real>>().state_forward(n, of.x.row(i), of.recurrent.row(i), of.z.row(i), of.previous.row(i),
                                               of.candidate.row(i), of.state.row(i));
  });
}

template <class Real>
void state_backward(const StateBackward<Real>& of) {
  const std::size_t n = of.gradient.cols;
  assert(of.x.cols == 3 * n);
  for_each_row(of.gradient.rows, 4 * n, [&](std::size_t i) {
    row_table<GatesRows<Real>>().state_backward(n, of.gradient.row(i), of.z.row(i), of.candidate.row(i),
                                                of.previous.row(i), of.x.row(i), of.previous_gradient.row(i));
  });
}

template <class Real>
void gates_backward(const GatesBackward<Real>& of) {
  const std::size_t n = of.reset_gradient.cols;
  assert(of.x.cols == 3 * n);
  for_each_row(of.reset_gradient.rows, 4 * n, [&](std::size_t i) {
    row_table<GatesRows<Real>>().gates_backward(n, of.reset_gradient.row(i), of.r.row(i), of.previous.row(i),
                                                of.x.row(i), of.previous_gradient.row(i), of.reset.row(i));
  });
}

template <class Real>
void tanh_forward(MatrixView<Real> y) {
  for_each_row(y.rows, 4 * y.cols, [&](std::size_t i) { row_table<GatesRows<Real>>().tanh_forward(y.cols, y.row(i)); });
}

template <class Real>
void tanh_backward(ConstMatrixView<Real> y, MatrixView<Real> gradient) {
  for_each_row(y.rows, 4 * y.cols,
               [&](std::size_t i) { row_table<GatesRows<Real>>().tanh_backward(y.cols, y.row(i), gradient.row(i)); });
}

#define RNNSEARCH_INSTANTIATE(Real)                         \
  template void gates_forward(const GatesForward<Real>&);   \
  template void state_forward(const StateForward<Real>&);   \
  template void state_backward(const StateBackward<Real>&); \
  template void gates_backward(const GatesBackward<Real>&); \
  template void tanh_forward(MatrixView<Real>);             \
  template void tanh_backward(ConstMatrixView<Real>, MatrixView<Real>);
RNNSEARCH_INSTANTIATE(float)
RNNSEARCH_INSTANTIATE(double)
#undef RNNSEARCH_INSTANTIATE

}  // namespace rnnsearch::kernels
#endif

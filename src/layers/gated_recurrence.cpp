#include "rnnsearch/layers/gated_recurrence.h"

#include "rnnsearch/kernels/gates.h"
#include "rnnsearch/kernels/gemm.h"
#include "rnnsearch/kernels/rows.h"

namespace rnnsearch::layers {

template <class Real>
void gated_step_forward(const kernels::PackedMatrix<Real>& U, const GatedStep<Real>& step, MatrixView<Real> scratch) {
  const std::size_t R = step.previous.rows, n = step.previous.cols;
  const MatrixView<Real> reset = scratch.row_range(0, R).columns(0, n);
  const MatrixView<Real> through_reset = scratch.row_range(0, R).columns(n, n);
  kernels::gates_forward<Real>({step.x, step.extra, step.recurrent, step.previous, step.z, step.r, reset});
  kernels::multiply<Real>(reset, U, through_reset);
  kernels::state_forward<Real>({step.x, step.extra, through_reset, step.z, step.previous, step.candidate, step.state});
}

template <class Real>
void gated_step_backward(const kernels::PackedMatrix<Real>& U_transposed, const GatedStepBackward<Real>& step,
                         MatrixView<Real> scratch) {
  kernels::state_backward<Real>(
      {step.state_gradient, step.z, step.candidate, step.previous, step.x_gradient, step.previous_gradient});
  const MatrixView<Real> reset_gradient = scratch.row_range(0, step.previous.rows);
  kernels::multiply<Real>(step.x_gradient.columns(0, U_transposed.rows()), U_transposed, reset_gradient);
  kernels::gates_backward<Real>({reset_gradient, step.r, step.previous, step.x_gradient, step.recurrent_gradient,
                                 step.previous_gradient, step.reset});
}

#define RNNSEARCH_INSTANTIATE(Real)                                                                               \
  template void gated_step_forward(const kernels::PackedMatrix<Real>&, const GatedStep<Real>&, MatrixView<Real>); \
  template void gated_step_backward(const kernels::PackedMatrix<Real>&, const GatedStepBackward<Real>&,           \
                                    MatrixView<Real>);
RNNSEARCH_INSTANTIATE(float)
RNNSEARCH_INSTANTIATE(double)
#undef RNNSEARCH_INSTANTIATE

}  // namespace rnnsearch::layers

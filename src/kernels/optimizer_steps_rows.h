// The formulas of the optimisers, compiled for each instruction set.
#pragma once

#include "rnnsearch/kernels/optimizer_steps.h"

namespace rnnsearch::kernels {

/// See the functions of optimizer_steps.h with these names.
struct OptimizerSteps {
  decltype(&kernels::adadelta) adadelta;
  decltype(&kernels::adam) adam;
  decltype(&kernels::gradient_descent) gradient_descent;
  decltype(&kernels::momentum_descent) momentum_descent;
  decltype(&kernels::decay) decay;
};

}  // namespace rnnsearch::kernels

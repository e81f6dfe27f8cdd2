// The kinds of layers that an option names; readout.h and soft_attention.h have their equations.
#pragma once

#include "rnnsearch/base/option.h"

namespace rnnsearch::layers {

enum class WindowKind { kGlobal, kLocalM, kLocalP };
constexpr auto names_of(WindowKind) { return in_order<WindowKind>({"global", "local-m", "local-p"}); }

enum class ReadoutKind { kMaxout, kTanh, kLinear, kMlp };
constexpr auto names_of(ReadoutKind) { return in_order<ReadoutKind>({"maxout", "tanh", "linear", "mlp"}); }

}  // namespace rnnsearch::layers

#include "rnnsearch/kernels/precision.h"

#include <atomic>
#include <cassert>
#include <cstddef>

#include "kernels/dispatch.h"
#include "kernels/products/product_tiles.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/kernels/instruction_set.h"

namespace rnnsearch::kernels {
namespace {

std::atomic<Precision> chosen = Precision::kFloat32;

}  // namespace

void set_precision(Precision precision) { chosen = precision; }

Precision precision() { return chosen; }

Precision precision_of(const std::string& name) {
  if (name == "f32") return Precision::kFloat32;
  if (name == "bf16") return Precision::kBFloat16;
  if (name == "int8") return Precision::kInt8;
  if (name == "auto") return bfloat16_pays() ? Precision::kBFloat16 : Precision::kFloat32;
  throw Error("precision is '{}'; choose f32, bf16, int8 or auto", name);
}

std::string name_of(Precision precision) {
  return precision == Precision::kInt8 ? "int8" : precision == Precision::kBFloat16 ? "bf16" : "f32";
}

std::string arithmetic() {
  std::string name = name_of(precision());
  if (precision() == Precision::kBFloat16) name += bfloat16_unit() == "amx" ? "-amx" : "-avx512";
  return instruction_set() == "sse2" ? name + "-sse2" : name;
}

const ProductTiles& current_tiles() {
  switch (precision()) {
    case Precision::kInt8:
      return int8_tiles();
    case Precision::kBFloat16:
      return bfloat16_tiles();
    default:
      return float_tiles();
  }
}

void round_to_bfloat16(ConstMatrixView<float> from, MatrixView<BFloat16> to) {
  assert(from.rows == to.rows && from.cols == to.cols);
  for_each_row(from.rows, from.cols, [&](std::size_t i) {
    for (std::size_t j = 0; j < from.cols; ++j) to.row(i)[j] = nearest_bfloat16(from.row(i)[j]);
  });
}

}  // namespace rnnsearch::kernels

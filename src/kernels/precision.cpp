#include "rnnsearch/kernels/precision.h"

#include <atomic>

#include "kernels/bfloat16_tiles.h"
#include "kernels/product_tiles.h"
#include "rnnsearch/base/error.h"

namespace rnnsearch::kernels {
namespace {

std::atomic<Precision> chosen = Precision::kFloat32;

}  // namespace

void set_precision(Precision precision) {
  chosen = precision;
}

Precision precision() {
  return chosen;
}

Precision precision_of(const std::string& name) {
  if (name == "f32") return Precision::kFloat32;
  if (name == "bf16") return Precision::kBFloat16;
  if (name == "auto") return bfloat16_unit().empty() ? Precision::kFloat32 : Precision::kBFloat16;
  throw Error(text_of("precision is '", name, "'; choose f32, bf16 or auto"));
}

std::string name_of(Precision precision) {
  return precision == Precision::kBFloat16 ? "bf16" : "f32";
}

const ProductTiles& current_tiles() {
  return precision() == Precision::kBFloat16 ? bfloat16_tiles() : float_tiles();
}

}  // namespace rnnsearch::kernels

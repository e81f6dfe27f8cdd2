#include "cli/options/precision.h"

#include <algorithm>
#include <iostream>

#include "rnnsearch/base/error.h"
#include "rnnsearch/comm/meet.h"
#include "rnnsearch/kernels/instruction_set.h"

namespace rnnsearch::cli {
namespace {

void warn_of_emulation() {
  if (kernels::instruction_set() == "sse2") {
    std::cerr << "[rnnsearch] this processor, or RNNSEARCH_SIMD, allows SSE2 alone, which has no fused multiply-add: "
                 "results have other last digits than on any other processor\n";
  }
  if (kernels::precision() == kernels::Precision::kBFloat16 && kernels::bfloat16_unit().empty()) {
    std::cerr
        << "[rnnsearch] precision bf16: this processor has no bfloat16 unit that may be used, so its products are "
           "emulated, slower than f32, with the same results as of AVX512-BF16; choose --precision f32 unless you "
           "compare results\n";
  }
  if (kernels::precision() == kernels::Precision::kInt8 && kernels::int8_unit().empty()) {
    std::cerr << "[rnnsearch] precision int8: this processor has no AVX512-VNNI that may be used, so its products are "
                 "emulated, far slower than f32; choose --precision f32 unless you compare results\n";
  }
}

}  // namespace

void add_precision(Options& options, std::string& precision, ModelUse use) {
  precision = "auto";
  std::string help =
      "precision of the matrix products. f32: float32; bf16: factors rounded to bfloat16, sums in float32; auto: bf16 "
      "where the processor multiplies it faster, otherwise f32";
  std::vector<std::string> choices = {"f32", "bf16", "auto"};
  if (use == ModelUse::kTraining) {
    help += "; a resumed run keeps the precision of its checkpoint";
  } else {
    help += "; int8: factors rounded to 8 bits with a scale for each 128, for processors with AVX512-VNNI";
    choices.insert(choices.end() - 1, "int8");
  }
  options.add("precision", precision, Later::kFree, Choices{choices}, help);
}

kernels::Precision set_precision(const std::string& asked, const comm::Communicator& communicator) {
  const std::string agreed =
      comm::at_root(communicator, [&] { return kernels::name_of(kernels::precision_of(asked)); });
  kernels::set_precision(kernels::precision_of(agreed));
  const auto hosts = communicator.hosts(), names = communicator.gather(kernels::arithmetic());
  comm::root_does(communicator, [&] {
    check_arithmetic_is_one(names, hosts);
    warn_of_emulation();
  });
  return kernels::precision();
}

void check_arithmetic_is_one(const std::vector<std::string>& names, const std::vector<std::string>& hosts) {
  const auto other = std::find_if(names.begin(), names.end(), [&](const auto& name) { return name != names.front(); });
  if (other == names.end()) return;
  const auto rank = static_cast<std::size_t>(other - names.begin());
  const bool has_sse2 = (names.front() + *other).find("sse2") != std::string::npos;
  throw Error(
      "{} (rank 0) computes in {} and {} (rank {}) in {}, so they would round sums differently; {}set "
      "RNNSEARCH_SIMD={} on all hosts",
      hosts.front(), names.front(), hosts[rank], rank, *other, has_sse2 ? "" : "give --precision f32, or ",
      has_sse2 ? "sse2" : "avx512");
}

}  // namespace rnnsearch::cli

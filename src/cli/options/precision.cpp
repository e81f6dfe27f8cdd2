#include "cli/options/precision.h"

#include <iostream>

#include "rnnsearch/base/error.h"
#include "rnnsearch/comm/meet.h"

namespace rnnsearch::cli {
namespace {

void warn_of_emulation() {
  if (kernels::precision() == kernels::Precision::kBFloat16 && kernels::bfloat16_unit().empty()) {
    std::cerr
        << "[rnnsearch] precision bf16: this processor has no bfloat16 unit that may be used, so its products are "
           "emulated, slower than f32; choose --precision f32 unless you compare results\n";
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
  const auto hosts = communicator.hosts();
  const auto units = communicator.gather(std::string(kernels::bfloat16_unit()));
  const std::string agreed = comm::at_root(communicator, [&] {
    const auto precision = kernels::precision_of(asked);
    if (precision == kernels::Precision::kBFloat16) check_units_are_one(units, hosts);
    return kernels::name_of(precision);
  });
  kernels::set_precision(kernels::precision_of(agreed));
  if (communicator.is_root()) warn_of_emulation();
  return kernels::precision();
}

void check_units_are_one(const std::vector<std::string>& units, const std::vector<std::string>& hosts) {
  const auto unit_of = [&](std::size_t rank) { return units[rank].empty() ? "no bfloat16 unit" : units[rank]; };
  for (std::size_t rank = 1; rank < units.size(); ++rank) {
    if (units[rank] == units.front()) continue;
    // The best that both can do: the vector unit; without any, emulation of bf16, and f32 under auto.
    const char* const limit = units[rank].empty() || units.front().empty() ? "avx2" : "avx512";
    throw Error(
        "precision bf16: {} (rank 0) has {}, {} (rank {}) has {}, so they would round sums differently; give "
        "--precision f32, or set RNNSEARCH_SIMD={} on all hosts",
        hosts.front(), unit_of(0), hosts[rank], rank, unit_of(rank), limit);
  }
}

std::optional<std::string> bfloat16_unit_in_use() {
  if (kernels::precision() != kernels::Precision::kBFloat16) return {};
  const auto unit = kernels::bfloat16_unit();
  return std::string(unit.empty() ? "emulated" : unit);
}

std::string precision_in_use() {
  const std::string name = kernels::name_of(kernels::precision());
  if (kernels::precision() == kernels::Precision::kFloat32) return name;
  const auto unit = kernels::precision() == kernels::Precision::kInt8 ? kernels::int8_unit() : kernels::bfloat16_unit();
  return fmt::format("{} ({})", name, unit.empty() ? "emulated" : unit);
}

}  // namespace rnnsearch::cli

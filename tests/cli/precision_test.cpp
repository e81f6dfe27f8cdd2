#include "cli/options/precision.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rnnsearch/base/error.h"

namespace rnnsearch::cli {
namespace {

std::string refusal(const std::vector<std::string>& units) {
  std::vector<std::string> hosts;
  for (std::size_t rank = 0; rank < units.size(); ++rank) hosts.push_back(fmt::format("node{}", rank));
  try {
    check_units_are_one(units, hosts);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Precision, TakesRanksThatMultiplyAlike) {
  EXPECT_EQ(refusal({"amx"}), "");
  EXPECT_EQ(refusal({"amx", "amx", "amx"}), "");
  EXPECT_EQ(refusal({"", ""}), "");
}

TEST(Precision, RefusesRanksThatMultiplyDifferentlyAndNamesTheFirst) {
  EXPECT_EQ(refusal({"amx", "amx", "avx512-bf16", ""}),
            "precision bf16: node0 (rank 0) has amx, node2 (rank 2) has avx512-bf16, so they would round sums "
            "differently; give --precision f32, or set RNNSEARCH_SIMD=avx512 on all hosts");
  EXPECT_EQ(refusal({"", "amx"}),
            "precision bf16: node0 (rank 0) has no bfloat16 unit, node1 (rank 1) has amx, so they would round sums "
            "differently; give --precision f32, or set RNNSEARCH_SIMD=avx2 on all hosts");
}

TEST(Precision, IsSaidWithItsUnit) {
  kernels::set_precision(kernels::Precision::kFloat32);
  EXPECT_EQ(precision_in_use(), "f32");
  EXPECT_EQ(bfloat16_unit_in_use(), std::nullopt);
  kernels::set_precision(kernels::Precision::kBFloat16);
  const std::string unit(kernels::bfloat16_unit().empty() ? "emulated" : kernels::bfloat16_unit());
  EXPECT_EQ(precision_in_use(), "bf16 (" + unit + ")");
  EXPECT_EQ(bfloat16_unit_in_use(), unit);
  kernels::set_precision(kernels::Precision::kInt8);
  EXPECT_EQ(precision_in_use(), kernels::int8_unit().empty() ? "int8 (emulated)" : "int8 (avx512-vnni)");
  EXPECT_EQ(bfloat16_unit_in_use(), std::nullopt);
  kernels::set_precision(kernels::precision_of("auto"));
  EXPECT_EQ(precision_in_use(), kernels::bfloat16_pays() ? "bf16 (" + unit + ")" : "f32");
  kernels::set_precision(kernels::Precision::kFloat32);
}

}  // namespace
}  // namespace rnnsearch::cli

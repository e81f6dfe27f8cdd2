#include "cli/options/common.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rnnsearch/base/error.h"

namespace rnnsearch::cli {
namespace {

std::string refusal(const std::vector<std::string>& names) {
  std::vector<std::string> hosts;
  for (std::size_t rank = 0; rank < names.size(); ++rank) hosts.push_back(fmt::format("node{}", rank));
  try {
    check_arithmetic_is_one(names, hosts);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Precision, TakesRanksThatComputeAlike) {
  EXPECT_EQ(refusal({"bf16-amx"}), "");
  EXPECT_EQ(refusal({"f32", "f32", "f32"}), "");
}

TEST(Precision, RefusesRanksThatComputeDifferentlyAndNamesTheFirst) {
  EXPECT_EQ(refusal({"bf16-amx", "bf16-amx", "bf16-avx512", "bf16-avx512"}),
            "node0 (rank 0) computes in bf16-amx and node2 (rank 2) in bf16-avx512, so they would round sums "
            "differently; give --precision f32, or set RNNSEARCH_SIMD=avx512 on all hosts");
  EXPECT_EQ(refusal({"f32-sse2", "f32"}),
            "node0 (rank 0) computes in f32-sse2 and node1 (rank 1) in f32, so they would round sums differently; set "
            "RNNSEARCH_SIMD=sse2 on all hosts");
}

}  // namespace
}  // namespace rnnsearch::cli

#include "comm/launch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "rnnsearch/base/error.h"

namespace rnnsearch::comm {
namespace {

using Variables = std::map<std::string, std::string>;

Lookup lookup_in(const Variables& variables) {
  return [&variables](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
}

std::string refusal(const Variables& variables, int world) {
  try {
    check_launch(lookup_in(variables), world);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Launch, RefusesTheCopiesOfAnSrunWithoutPmix) {
  const Variables step = {{"SLURM_NTASKS", "4"}, {"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "4"}};
  EXPECT_FALSE(has_launcher(lookup_in(step)));
  EXPECT_THAT(refusal(step, 1), testing::HasSubstr("srun started 4 processes"));
}

TEST(Launch, RefusesOneProcessWithoutALauncherInABatchScript) {
  EXPECT_THAT(refusal({{"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "0"}}, 1), testing::HasSubstr("mpirun -n 1"));
}

TEST(Launch, AcceptsOneRankThatWasAskedFor) {
  EXPECT_EQ(refusal({{"SLURM_NTASKS", "4"}, {"OMPI_COMM_WORLD_SIZE", "1"}}, 1), "");
  EXPECT_EQ(refusal({{"SLURM_NTASKS", "4"}, {"SLURM_STEP_ID", "2"}, {"SLURM_STEP_NUM_TASKS", "1"}}, 1), "");
  EXPECT_EQ(refusal({{"SLURM_NTASKS", "1"}}, 1), "");
  EXPECT_EQ(refusal({}, 1), "");
}

TEST(Launch, AcceptsAWorldOfSeveralRanks) {
  EXPECT_EQ(
      refusal({{"SLURM_NTASKS", "4"}, {"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "4"}, {"PMIX_RANK", "0"}}, 4),
      "");
}

}  // namespace
}  // namespace rnnsearch::comm

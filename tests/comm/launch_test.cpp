#include "rnnsearch/comm/launch.h"

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

Launch launch_in(const Variables& variables) {
  return launch_of(lookup_in(variables));
}

std::string refusal(const Variables& variables, int world) {
  try {
    check_launch(lookup_in(variables), world);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

Variables operator+(Variables one, const Variables& other) {
  one.insert(other.begin(), other.end());
  return one;
}

const Variables kBatchScript = {{"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "0"}};
// The variables of `srun -n 4` without a protocol that MPI speaks.
const Variables kStepOfFour = {
    {"SLURM_NTASKS", "4"}, {"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_PROCID", "3"}};
const Variables kMpirunOfOne = {{"OMPI_COMM_WORLD_SIZE", "1"}, {"OMPI_COMM_WORLD_RANK", "0"}, {"PMIX_RANK", "0"}};
const Variables kMpirunOfThree = {{"OMPI_COMM_WORLD_SIZE", "3"}, {"OMPI_COMM_WORLD_RANK", "2"}, {"PMIX_RANK", "2"}};

void expect(const Variables& variables, bool by_launcher, long processes, long rank, bool needs_mpi) {
  const Launch launch = launch_in(variables);
  EXPECT_EQ(launch.by_launcher, by_launcher);
  EXPECT_EQ(launch.processes, processes);
  EXPECT_EQ(launch.rank, rank);
  EXPECT_EQ(launch.needs_mpi, needs_mpi);
}

TEST(Launch, NeedsNoMpiWithoutALauncher) {
  expect({}, false, 1, 0, false);
  expect(kBatchScript, false, 1, 0, false);
  expect({{"OMPI_COMM_WORLD_SIZE", ""}, {"PMI_RANK", ""}}, false, 1, 0, false);
}

TEST(Launch, NeedsNoMpiForASingleRankOfALauncher) {
  expect(kMpirunOfOne, true, 1, 0, false);
  expect({{"PMI_RANK", "0"}, {"PMI_SIZE", "1"}}, true, 1, 0, false);
  expect({{"PMIX_RANK", "0"}, {"SLURM_STEP_ID", "2"}, {"SLURM_STEP_NUM_TASKS", "1"}}, true, 1, 0, false);
}

TEST(Launch, KnowsTheRanksOfEveryLauncher) {
  expect(kMpirunOfThree, true, 3, 2, true);
  expect({{"PMI_RANK", "1"}, {"PMI_SIZE", "5"}}, true, 5, 1, true);              // Hydra, PALS, srun --mpi=pmi2
  expect(kStepOfFour + Variables{{"PMIX_RANK", "3"}}, true, 4, 3, true);         // srun --mpi=pmix
  expect({{"PMIX_RANK", "6"}, {"PMIX_NAMESPACE", "prun@1"}}, true, 1, 6, true);  // it does not say how many
}

TEST(Launch, CountsTheProcessesOfAStepThatMpiCannotReach) {
  expect(kStepOfFour, false, 4, 3, false);
}

TEST(Launch, BelievesMpirunRatherThanTheStepThatStartedItsDaemons) {
  const Variables daemons = {{"SLURM_STEP_ID", "1"}, {"SLURM_STEP_NUM_TASKS", "2"}, {"SLURM_PROCID", "1"}};
  expect(kMpirunOfThree + daemons, true, 3, 2, true);
  expect(Variables{{"PMI_RANK", "7"}, {"PMI_SIZE", "8"}} + daemons, true, 8, 7, true);
}

TEST(Launch, LetsMpiDecideWhereVariablesWereInherited) {
  // A script that `mpirun -n 1` started calls `srun --mpi=pmix -n 4`, which passes the environment on.
  EXPECT_TRUE(launch_in(kMpirunOfOne + kStepOfFour).needs_mpi);
}

TEST(Launch, NamesThePlaceOfARank) {
  EXPECT_THAT(place(lookup_in(kMpirunOfThree)), testing::StartsWith("rank 2 on "));
  EXPECT_THAT(place(lookup_in({{"PMI_RANK", "1"}})), testing::StartsWith("rank 1 on "));
  EXPECT_THAT(place(lookup_in({})), testing::StartsWith("a rank on "));
}

TEST(Launch, RefusesTheCopiesOfAnSrunWithoutPmix) {
  EXPECT_THAT(refusal(kStepOfFour, 1), testing::HasSubstr("srun started 4 processes"));
  EXPECT_THAT(refusal(kStepOfFour + Variables{{"PMI_RANK", "3"}, {"PMI_SIZE", "4"}}, 1),
              testing::HasSubstr("srun started 4 processes"));
}

TEST(Launch, RefusesOneProcessWithoutALauncherInABatchScript) {
  EXPECT_THAT(refusal(kBatchScript, 1), testing::HasSubstr("mpirun -n 1"));
}

TEST(Launch, RefusesTheCopiesOfAnotherMpisMpirun) {
  EXPECT_THAT(refusal(kMpirunOfThree, 1), testing::HasSubstr("OMPI_COMM_WORLD_SIZE says that a launcher started 3"));
  EXPECT_THAT(refusal({{"PMI_RANK", "1"}, {"PMI_SIZE", "5"}}, 1), testing::HasSubstr("belongs to a different MPI"));
}

TEST(Launch, AcceptsOneRankThatWasAskedFor) {
  EXPECT_EQ(refusal(kBatchScript + kMpirunOfOne, 1), "");
  EXPECT_EQ(refusal(kBatchScript + Variables{{"PMI_RANK", "0"}, {"PMI_SIZE", "1"}}, 1), "");
  EXPECT_EQ(refusal({{"SLURM_NTASKS", "4"}, {"SLURM_STEP_ID", "2"}, {"SLURM_STEP_NUM_TASKS", "1"}}, 1), "");
  EXPECT_EQ(refusal({{"SLURM_NTASKS", "1"}}, 1), "");
  EXPECT_EQ(refusal({}, 1), "");
}

TEST(Launch, AcceptsAWorldOfSeveralRanks) {
  EXPECT_EQ(refusal(kStepOfFour + Variables{{"PMIX_RANK", "3"}}, 4), "");
  EXPECT_EQ(refusal(kMpirunOfThree, 3), "");
}

}  // namespace
}  // namespace rnnsearch::comm

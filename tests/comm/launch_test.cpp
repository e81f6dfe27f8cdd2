#include "rnnsearch/comm/launch.h"

#include "comm/progress_thread.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/comm/meet.h"
#include "tests/support/communicator.h"
#include "tests/support/test.h"

namespace rnnsearch::comm {
namespace {

using support::lookup_in;
using Variables = std::map<std::string, std::string>;

Launch launch_in(const Variables& variables) { return launch_of(lookup_in(variables)); }

std::string refusal(const Variables& variables, int ranks, const std::string& mpi = "Open MPI v4.1.4") {
  return message_of([&] { check_launch(lookup_in(variables), ranks, mpi); });
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
  EXPECT_EQ(launch.may_be_several(), needs_mpi || processes > 1);
}

TEST(Launch, NeedsNoMpiWithoutALauncher) {
  expect({}, false, 1, 0, false);
  expect(kBatchScript, false, 1, 0, false);
  expect({{"OMPI_COMM_WORLD_SIZE", ""}, {"PMI_RANK", ""}}, false, 1, 0, false);
}

TEST(Launch, NeedsNoMpiForASingleRankOfALauncher) {
  expect(kMpirunOfOne, true, 1, 0, false);
  expect({{"PMI_RANK", "0"}, {"PMI_SIZE", "1"}}, true, 1, 0, false);
  expect({{"FLUX_TASK_RANK", "0"}, {"FLUX_JOB_SIZE", "1"}}, true, 1, 0, false);
  expect({{"PMIX_RANK", "0"}, {"SLURM_STEP_ID", "2"}, {"SLURM_STEP_NUM_TASKS", "1"}}, true, 1, 0, false);
}

TEST(Launch, KnowsTheRanksOfEveryLauncher) {
  expect(kMpirunOfThree, true, 3, 2, true);
  expect({{"PMI_RANK", "1"}, {"PMI_SIZE", "5"}}, true, 5, 1, true);              // Hydra, PALS, srun --mpi=pmi2
  expect(kStepOfFour + Variables{{"PMIX_RANK", "3"}}, true, 4, 3, true);         // srun --mpi=pmix
  expect({{"PMIX_RANK", "6"}, {"PMIX_NAMESPACE", "prun@1"}}, true, 1, 6, true);  // it does not say how many
  expect({{"PMI_PORT", "n1:3000"}, {"PMI_ID", "2"}}, true, 1, 2, true);          // mpiexec.hydra -pmi-port, likewise
  expect({{"MV2_COMM_WORLD_RANK", "1"}, {"MV2_COMM_WORLD_SIZE", "2"}}, true, 2, 1, true);
  const Variables flux = {{"FLUX_TASK_RANK", "3"}, {"FLUX_JOB_SIZE", "4"}};
  expect(flux, true, 4, 3, true);
  expect(flux + Variables{{"PMI_RANK", "3"}, {"PMI_SIZE", "4"}, {"PMI_FD", "9"}}, true, 4, 3, true);
  const Variables pals = {{"PALS_RANKID", "5"}, {"PALS_NODEID", "1"}, {"PALS_LOCAL_RANKID", "1"}};
  expect(pals, true, 1, 5, true);
  expect(pals + Variables{{"PMI_RANK", "5"}, {"PMI_SIZE", "8"}}, true, 8, 5, true);
}

TEST(Launch, CountsTheProcessesOfAStepThatMpiCannotReach) { expect(kStepOfFour, false, 4, 3, false); }

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
  EXPECT_THAT(rank_name(lookup_in(kMpirunOfThree)), StartsWith("rank 2 on "));
  EXPECT_THAT(rank_name(lookup_in({{"PMI_RANK", "1"}})), StartsWith("rank 1 on "));
  EXPECT_THAT(rank_name(lookup_in({})), StartsWith("a rank on "));
}

TEST(Launch, RefusesAProcessThatIsOneOfSeveralThatMpiDoesNotKnow) {
  const std::string open_mpi = "Open MPI v4.1.4", mpich = "MPICH Version: 4.0.2",
                    intel = "Intel(R) MPI Library 2021.16 for Linux* OS",
                    cray = "MPI VERSION    : CRAY MPICH version 8.1.25.17 (ANL base 3.4a2)";
  const Variables hydra = {{"PMI_RANK", "3"}, {"PMI_SIZE", "4"}};
  for (const auto& [variables, mpi, said] : std::vector<std::tuple<Variables, std::string, std::string>>{
           {kStepOfFour, open_mpi, "srun started 4 processes"},  // an srun without PMIx
           {kStepOfFour + hydra, open_mpi, "srun started 4 processes"},
           {kStepOfFour, open_mpi, "srun --mpi=pmix"},
           {kStepOfFour, mpich, "srun --mpi=pmi2"},
           {kStepOfFour, intel, "srun --mpi=pmi2"},
           {kStepOfFour, cray, "srun --mpi=cray_shasta"},
           {kBatchScript, mpich, "srun --mpi=pmi2"},
           {kBatchScript, intel, "srun --mpi=pmi2"},
           {kBatchScript, open_mpi, "mpirun -n 1"},
           {kMpirunOfThree, open_mpi, "OMPI_COMM_WORLD_SIZE says that a launcher started 3"},
           {{{"PMI_RANK", "1"}, {"PMI_SIZE", "5"}}, open_mpi, "belongs to a different MPI"}}) {
    EXPECT_THAT(refusal(variables, 1, mpi), HasSubstr(said));
    if (mpi != open_mpi) {
      EXPECT_THAT(refusal(variables, 1, mpi), Not(HasSubstr("Open MPI")));
    }
  }
}

TEST(Launch, LetsTheFirstOfSeveralSpeakWhereItKnowsOfTheOthers) {
  const auto refuse = [](const Variables& variables) { check_launch(lookup_in(variables), 1, "Open MPI v4.1.4"); };
  EXPECT_THROW(refuse(kMpirunOfThree), AgreedError);
  EXPECT_THROW(refuse(kStepOfFour), AgreedError);
  EXPECT_THROW(refuse(kBatchScript), AgreedError);
  const Variables second = {{"PMIX_RANK", "1"}, {"PMIX_NAMESPACE", "prun@1"}};
  EXPECT_THAT(refusal(second, 1), HasSubstr("PMIX_RANK says that this is process 1 of several"));
  try {
    refuse(second);
  } catch (const AgreedError&) {
    FAIL() << "the first process cannot speak for it";
  } catch (const Error&) {
  }
}

TEST(Launch, AcceptsOneRankThatWasAskedForAndSeveral) {
  for (const Variables& variables :
       std::vector<Variables>{{{"PMIX_RANK", "0"}, {"SLURM_NTASKS", "4"}},  // the launcher does not count
                              kBatchScript + kMpirunOfOne,
                              kBatchScript + Variables{{"PMI_RANK", "0"}, {"PMI_SIZE", "1"}},
                              {{"SLURM_NTASKS", "4"}, {"SLURM_STEP_ID", "2"}, {"SLURM_STEP_NUM_TASKS", "1"}},
                              {{"SLURM_NTASKS", "1"}},
                              {}}) {
    EXPECT_EQ(refusal(variables, 1), "nothing was thrown");
  }
  EXPECT_EQ(refusal(kStepOfFour + Variables{{"PMIX_RANK", "3"}}, 4), "nothing was thrown");
  EXPECT_EQ(refusal(kMpirunOfThree, 3), "nothing was thrown");
}

void wait_with_limit(double limit, int milliseconds) {
  set_log_sink([](std::string_view line) { std::cerr << line << "\n"; });
  {
    const TimeLimit time_limit(limit, "this takes too long");
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  }
  std::cerr << "in time\n";
  std::_Exit(0);
}

TEST(TimeLimit, EndsTheProcessThatWaitsLonger) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(wait_with_limit(0.2, 60000), testing::ExitedWithCode(1), "^this takes too long\n$");
}

TEST(TimeLimit, LeavesOneThatIsInTimeAlone) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(wait_with_limit(60, 10), testing::ExitedWithCode(0), "^in time\n$");
}

TEST(TimeLimit, OfZeroSecondsIsNone) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(wait_with_limit(0, 300), testing::ExitedWithCode(0), "^in time\n$");
}

}  // namespace
}  // namespace rnnsearch::comm

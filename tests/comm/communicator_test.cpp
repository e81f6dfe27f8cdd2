// A process that is alone, as one without a launcher is. Many ranks: communicator_mpi_test.cpp.
#include "rnnsearch/comm/communicator.h"

#include <mpi.h>
#include <unistd.h>

#include "rnnsearch/base/file.h"
#include "rnnsearch/comm/launch.h"
#include "tests/support/test.h"

namespace rnnsearch::comm {
namespace {

bool mpi_was_initialised() {
  int begun = 0;
  MPI_Initialized(&begun);
  return begun != 0;
}

class ProcessAlone : public testing::Test {
 protected:
  // These tests may themselves run in a job.
  void SetUp() override {
    for (const char* name :
         {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "PMI_SIZE", "PMI_RANK", "PMIX_RANK", "FLUX_JOB_SIZE",
          "FLUX_TASK_RANK", "PALS_RANKID", "SLURM_NTASKS", "SLURM_STEP_ID", "SLURM_STEP_NUM_TASKS"}) {
      ::unsetenv(name);
    }
  }
  void TearDown() override { EXPECT_FALSE(mpi_was_initialised()); }
};

TEST_F(ProcessAlone, AnswersEveryCollectiveWithoutMpi) {
  Environment environment;
  const Communicator& communicator = environment.communicator();
  EXPECT_EQ(communicator.rank(), 0);
  EXPECT_EQ(communicator.size(), 1);
  EXPECT_TRUE(communicator.is_root());

  std::vector<float> values(300007);
  std::iota(values.begin(), values.end(), -5.0F);
  const auto before = values;
  const auto ticket = communicator.begin_all_reduce(values);
  communicator.wait(ticket);
  communicator.all_reduce(values);
  communicator.broadcast(std::span<float>(values));
  EXPECT_EQ(values, before);

  std::vector<double> doubles{1.5, -2, std::numeric_limits<double>::infinity()};
  const auto doubles_before = doubles;
  communicator.all_reduce(doubles);
  communicator.max(doubles);
  EXPECT_EQ(doubles, doubles_before);

  std::vector<std::uint64_t> bits{5, 0, 7};
  communicator.wait(communicator.begin_or_reduce(bits));
  communicator.broadcast(std::span<std::uint64_t>(bits));
  EXPECT_EQ(bits, (std::vector<std::uint64_t>{5, 0, 7}));

  std::string text = std::string("a line\n\0 and more", 17);
  const std::string text_before = text;
  communicator.broadcast(text);
  EXPECT_EQ(text, text_before);
  EXPECT_EQ(communicator.gather(text), std::vector<std::string>{text});
  communicator.barrier();
  communicator.wait_for_all();

  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  EXPECT_EQ(communicator.hosts(), std::vector<std::string>{host});
  EXPECT_EQ(communicator.traffic().bytes_sent, 0u);
  {
    const Activity activity(communicator, "tests");
    communicator.set_stall_timeout(1);
  }
  communicator.abandon();
  environment.finish();
}

TEST_F(ProcessAlone, IsWhatMpirunWithOneProcessMakes) {
  ::setenv("OMPI_COMM_WORLD_SIZE", "1", 1);
  ::setenv("OMPI_COMM_WORLD_RANK", "0", 1);
  ::setenv("PMIX_RANK", "0", 1);
  ::setenv("SLURM_NTASKS", "4", 1);
  Environment environment;
  EXPECT_EQ(environment.communicator().size(), 1);
  environment.finish();
}

TEST_F(ProcessAlone, NamesItsMpiLibraryWithoutStartingIt) { EXPECT_THAT(library(), HasSubstr("MPI")); }

TEST_F(ProcessAlone, RefusesTheTasksThatAJobGrantedInVain) {
  ::setenv("SLURM_NTASKS", "4", 1);
  EXPECT_THROW(Environment(), Error);
}

TEST_F(ProcessAlone, RefusesAStartTimeoutThatIsNoNumber) {
  EXPECT_THROW(start_timeout([](const char*) { return "soon"; }), UsageError);
}

TEST_F(ProcessAlone, EndsWithTheExitCodeOfAnAbort) {
  const auto abort_with = [](int exit_code) {
    Environment environment;
    Environment::abort(exit_code);
  };
  EXPECT_EXIT(abort_with(7), testing::ExitedWithCode(7), "");
  EXPECT_EXIT(abort_with(85), testing::ExitedWithCode(85), "");
}

TEST_F(ProcessAlone, LetsAnExceptionPass) {
  EXPECT_THROW(
      {
        Environment environment;
        throw Error("as a command does");
      },
      Error);
}

TEST_F(ProcessAlone, LeavesTheTemporaryFolderEmpty) {
  const Scratch scratch;
  const char* const former = std::getenv("TMPDIR");
  const std::string kept = former ? former : "";
  ::setenv("TMPDIR", scratch.path().c_str(), 1);
  {
    Environment environment;
    environment.communicator().barrier();
    library();
    EXPECT_TRUE(std::filesystem::is_empty(scratch.path()));
    environment.finish();
  }
  EXPECT_TRUE(std::filesystem::is_empty(scratch.path()));
  kept.empty() ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", kept.c_str(), 1);
}

TEST(Hosts, CountsTheRanksOfAHostWhereAllHostsAreAlike) {
  EXPECT_EQ(ranks_of_each_host({"a"}), 1);
  EXPECT_EQ(ranks_of_each_host({"a", "a"}), 2);
  EXPECT_EQ(ranks_of_each_host({"a", "b", "c"}), 1);
  EXPECT_EQ(ranks_of_each_host({"a", "a", "b", "b", "c", "c"}), 2);
  EXPECT_EQ(ranks_of_each_host({"a", "a", "a", "b", "b", "b"}), 3);
  EXPECT_EQ(ranks_of_each_host({"a", "b", "a", "b"}), 1);            // dealt out in turn
  EXPECT_EQ(ranks_of_each_host({"a", "a", "b", "b", "a", "a"}), 1);  // the first host again
  EXPECT_EQ(ranks_of_each_host({"a", "a", "b"}), 1);
  EXPECT_EQ(ranks_of_each_host({"a", "a", "b", "b", "b", "b"}), 1);
  EXPECT_EQ(ranks_of_each_host({"a", "a", "b", "c"}), 1);
}

TEST(Hosts, AreNumberedWhereMachinesShareAName) {
  EXPECT_THAT(distinct_hosts({"c", "c", "d", "c", "c"}, {"x", "y", "x", "x", "z"}),
              ElementsAre("c", "c#2", "d", "c", "c#3"));
}

}  // namespace
}  // namespace rnnsearch::comm

#include "rnnsearch/train/trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "rnnsearch/base/error.h"
#include "tests/support/message_of.h"

namespace rnnsearch::train {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

comm::Lookup of(const std::map<std::string, std::string>& values) {
  return [values](const char* name) -> const char* {
    const auto found = values.find(name);
    return found == values.end() ? nullptr : found->second.c_str();
  };
}

TEST(JobEnd, IsNotKnownOutsideAJob) {
  for (const auto& environment : {of({}), of({{"RNNSEARCH_END_TIME", ""}}), of({{"SLURM_JOB_END_TIME", "0"}})}) {
    const auto deadline = deadline_of({}, environment, 1000);
    EXPECT_FALSE(deadline.unix_seconds);
    EXPECT_THAT(deadline.line, IsEmpty());
  }
}

TEST(JobEnd, LeavesTwoMinutesUnlessToldOtherwise) {
  EXPECT_EQ(deadline_of({}, of({{"SLURM_JOB_END_TIME", "10000"}}), 1000).unix_seconds, 9880);
  EXPECT_EQ(deadline_of(0.5, of({{"SLURM_JOB_END_TIME", "10000"}}), 1000).unix_seconds, 9970);
  EXPECT_EQ(deadline_of(0, of({{"SLURM_JOB_END_TIME", "10000.5"}}), 1000).unix_seconds, 10000.5);
}

TEST(JobEnd, IsWhatTheUserSaysBeforeWhatSlurmSays) {
  const auto both = of({{"SLURM_JOB_END_TIME", "10000"}, {"RNNSEARCH_END_TIME", "20000"}});
  EXPECT_EQ(deadline_of(1, both, 1000).unix_seconds, 19940);
  EXPECT_FALSE(deadline_of({}, of({{"SLURM_JOB_END_TIME", "10000"}, {"RNNSEARCH_END_TIME", "0"}}), 1000).unix_seconds);
}

TEST(JobEnd, RefusesWhatIsNoTime) {
  for (const char* text : {"soon", "12:30", "-5", "nan", "1e300", "10000 ", "0x10"}) {
    EXPECT_THAT(message_of([&] {
                  deadline_of({}, of({{"RNNSEARCH_END_TIME", text}}), 1000);
                }),
                AllOf(HasSubstr("RNNSEARCH_END_TIME"), HasSubstr(text), HasSubstr("seconds since 1970")))
        << text;
  }
}

TEST(JobEnd, RefusesAJobWithoutTimeToTrain) {
  EXPECT_THAT(message_of([] {
                deadline_of(10, of({{"SLURM_JOB_END_TIME", "10000"}}), 9400);
              }),
              AllOf(HasSubstr("10 minutes"), HasSubstr("--stop-before")));
  EXPECT_TRUE(deadline_of(10, of({{"SLURM_JOB_END_TIME", "10000"}}), 9399).unix_seconds);
}

}  // namespace
}  // namespace rnnsearch::train

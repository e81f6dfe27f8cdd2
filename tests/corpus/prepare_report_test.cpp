#include "rnnsearch/corpus/prepare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

namespace rnnsearch::corpus {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(PrepareReport, NamesTheReasonsForWhichPairsWereDropped) {
  PrepareReport report;
  report.pairs_read = 1200;
  report.pairs_kept = 1199;
  report.dropped[Drop::kRepeated] = 1;
  report.sets = {{"test/a\x1b[2J", 3}};
  std::ostringstream out;
  print(report, "c.h5", out);
  EXPECT_THAT(out.str(), HasSubstr("pairs read     1,200\npairs kept     1,199\npairs dropped  1: "));
  EXPECT_THAT(out.str(), Not(HasSubstr("\x1b")));  // a name of somebody else's corpus
}

}  // namespace
}  // namespace rnnsearch::corpus

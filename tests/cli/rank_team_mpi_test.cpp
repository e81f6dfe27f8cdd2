#include "cli/rank_team.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/file.h"
#include "rnnsearch/corpus/prepare.h"
#include "tests/support/message_of.h"
#include "tests/support/mpi_main.h"
#include "tests/support/watchdog.h"

namespace rnnsearch::cli {
namespace {

using testing::HasSubstr;

using support::communicator;

/// A folder that all ranks see.
std::filesystem::path shared_folder() {
  std::string path;
  if (communicator().is_root()) {
    path = (std::filesystem::temp_directory_path() / "rnnsearch-XXXXXX").string();
    if (!::mkdtemp(path.data())) throw Error("cannot make a temporary folder");
  }
  communicator().broadcast(path);
  return path;
}

TEST(RankTeam, PreparesTheCorpusOfOneProcess) {
  const support::Watchdog watchdog(300, text_of("preparing, rank ", communicator().rank()));
  const std::filesystem::path folder = shared_folder();
  corpus::PrepareOptions options;
  options.train = {{folder / "source", folder / "target"}};
  options.output = folder / "several.h5";
  options.pipeline.tokenizer = "none";
  options.cleaning.drop_repeated = true;
  options.source_words = 400;
  if (communicator().is_root()) {
    std::ofstream source(options.train[0].source), target(options.train[0].target);
    for (int i = 0; i < 25000; ++i) {
      source << "a" << i % 8000 % 421 << " b" << i % 8000 << "\n";
      target << "x y" << i % 8000 % 100 << "\n";
    }
  }
  communicator().barrier();
  RankTeam team(communicator());
  corpus::prepare(options, team);
  if (communicator().is_root()) {
    corpus::PrepareOptions one = options;
    one.output = folder / "one.h5";
    EXPECT_EQ(corpus::prepare(one).dropped[corpus::Drop::kRepeated], 17000U);
    EXPECT_TRUE(read_file(one.output) == read_file(options.output));
    std::fstream(options.train[0].target, std::ios::in | std::ios::out).seekp(120000) << '\xff';
  }
  options.overwrite = true;
  communicator().barrier();
  EXPECT_THAT(message_of([&] { corpus::prepare(options, team); }), HasSubstr("target, line "));
  communicator().barrier();
  if (communicator().is_root()) std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace rnnsearch::cli

int main(int argc, char** argv) {
  return rnnsearch::support::run_mpi_tests(argc, argv);
}

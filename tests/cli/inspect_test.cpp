#include "rnnsearch/cli/command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rnnsearch/train/checkpoint.h"
#include "tests/cli/run.h"
#include "tests/support/change_sealed.h"
#include "tests/support/message_of.h"
#include "tests/support/scratch.h"

namespace rnnsearch::cli {
namespace {

/// Of a small model after one logged update.
void save(const std::filesystem::path& path) {
  model::ModelOptions options;
  options.source_words = options.target_words = 5;
  options.embedding = options.state = options.alignment = options.maxout = 2;
  const model::Model model(options);
  const auto optimizer = train::make_optimizer({}, model.parameters().size());
  const corpus::Vocabulary vocabulary({"<unk>", "<s>", "</s>", "a", "b"});
  const train::History history{{{1, 2.5, 1, 100}}, {}};
  train::save_checkpoint(path, {model, *optimizer, {}, history, vocabulary, vocabulary, {}, {}});
}

TEST(Inspect, ListsTheParametersOfTheModelHoweverTheirGroupIsLinked) {
  const Scratch scratch;
  const std::filesystem::path path = scratch / "checkpoint.h5";
  save(path);
  const auto shown = [&] {
    testing::internal::CaptureStdout();
    EXPECT_EQ(run(make_inspect(), {path.string(), "--json", "-"}), 0);
    return testing::internal::GetCapturedStdout();
  };
  const std::string good = shown();
  EXPECT_THAT(good, testing::HasSubstr("\"decoder/W_z\""));
  support::change_sealed(path, [](hid_t file) {
    for (const char* loop : {"/parameters/loop", "/parameters/decoder/first", "/parameters/decoder/second"}) {
      H5Lcreate_hard(file, "/parameters", file, loop, H5P_DEFAULT, H5P_DEFAULT);
    }
  });
  EXPECT_EQ(shown(), good);
}

TEST(Inspect, RefusesAHistoryWhoseColumnsHaveOtherLengths) {
  const Scratch scratch;
  const std::filesystem::path path = scratch / "checkpoint.h5";
  save(path);
  support::change_sealed(path, [](hid_t file) {
    H5Ldelete(file, "/history/learning_rate", H5P_DEFAULT);
    H5Lcreate_hard(file, "/history/validation/bleu", file, "/history/learning_rate", H5P_DEFAULT, H5P_DEFAULT);
  });
  EXPECT_THAT(message_of([&] {
                run(make_inspect(), {path.string(), "--history"});
              }),
              testing::HasSubstr("/history/learning_rate has 0 values for 1 updates"));
}

}  // namespace
}  // namespace rnnsearch::cli

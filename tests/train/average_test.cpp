#include "rnnsearch/train/checkpoint.h"

#include "rnnsearch/base/file.h"
#include "rnnsearch/storage/sealed_file.h"
#include "tests/support/change_sealed.h"
#include "tests/support/test.h"
#include "tests/support/tiny_corpus.h"
#include "tests/train/tiny_training.h"

namespace rnnsearch::train {
namespace {

namespace fs = std::filesystem;

/// What saving a checkpoint needs, all of it to be changed before.
struct SavedRun {
  const corpus::Corpus& corpus;
  TrainOptions options = tiny_options();
  model::ModelOptions model_options = tiny_model_options(corpus);
  corpus::Vocabulary target_vocabulary = corpus.target_vocabulary();
  corpus::TextPipeline pipeline = corpus.pipeline();
  std::string fingerprint = corpus.fingerprint();
  std::uint64_t former = 0;  // the update of the checkpoint before

  /// Parameters drawn from `seed`.
  std::vector<float> save(const fs::path& path, std::uint64_t update, std::uint64_t seed) const {
    model::Model model(model_options);
    model.initialise(seed);
    const auto optimizer = make_optimizer(options, model.parameters().size());
    TrainingState state;
    state.update = update;
    state.former_checkpoint = former;
    state.corpus_fingerprint = fingerprint;
    save_checkpoint(
        path, {model, *optimizer, state, History(), corpus.source_vocabulary(), target_vocabulary, pipeline, options});
    return {model.parameters().begin(), model.parameters().end()};
  }
};

class Average : public ScratchTest {
 protected:
  std::string refusal(const std::vector<fs::path>& paths, bool overwrite = false) {
    return message_of([&] { average_checkpoints(paths, output_, overwrite); });
  }

  corpus::Corpus corpus_{support::make_tiny_corpus(scratch_.path())};
  SavedRun run_{corpus_};
  fs::path a_ = scratch_ / "update-00000010.h5", b_ = scratch_ / "update-00000020.h5", c_ = scratch_ / "c.h5";
  fs::path output_ = scratch_ / "mean.h5";
};

TEST_F(Average, IsTheMeanOfEveryParameterToTheRoundingOfAFloat) {
  const std::vector<std::vector<float>> each{run_.save(a_, 10, 1), run_.save(b_, 20, 2), run_.save(c_, 30, 3)};
  const auto averaged = average_checkpoints(std::vector{b_, a_, c_}, output_, false);
  EXPECT_THAT(averaged.checkpoints, ElementsAre("c.h5", "update-00000020.h5", "update-00000010.h5"));
  const auto loaded = load_model(output_);
  const auto mean = loaded.model.parameters();
  ASSERT_EQ(mean.size(), each[0].size());
  EXPECT_EQ(averaged.parameters, mean.size());
  std::size_t different = 0;
  for (std::size_t i = 0; i < mean.size(); ++i) {
    ASSERT_EQ(mean[i], static_cast<float>((double{each[2][i]} + double{each[1][i]} + double{each[0][i]}) / 3)) << i;
    different += mean[i] != each[0][i];
  }
  EXPECT_GT(different, mean.size() / 2);
  EXPECT_EQ(loaded.update, 30U);
  EXPECT_EQ(loaded.target_vocabulary.words(), corpus_.target_vocabulary().words());
  EXPECT_EQ(loaded.pipeline, corpus_.pipeline());
  const auto file = storage::open_sealed(output_, "checkpoint");
  const std::string of = file.text_attribute("/", "average_of");
  for (const fs::path& path : {a_, b_, c_})
    EXPECT_THAT(of, HasSubstr(path.filename().string() + " (digest " + storage::sealed_digest(path, "checkpoint")));
}

TEST_F(Average, OfEqualsIsTheSame) {
  const auto each = run_.save(a_, 10, 7);
  run_.save(b_, 20, 7);
  run_.save(c_, 30, 7);
  average_checkpoints(std::vector{a_, b_, c_}, output_, false);
  EXPECT_EQ(bytes_of(load_model(output_).model.parameters()), bytes_of(each));
}

TEST_F(Average, IsNothingToResumeFrom) {
  run_.save(a_, 10, 1);
  run_.save(b_, 20, 2);
  average_checkpoints(std::vector{a_, b_}, output_, false);
  EXPECT_THAT(message_of([&] { FromCheckpoint(output_, corpus_.fingerprint(), run_.options, run_.model_options); }),
              AllOf(HasSubstr("is the mean of update-00000020.h5"), HasSubstr("holds no optimizer state")));
}

TEST_F(Average, IsRefusedForCheckpointsOfDifferentTrainings) {
  run_.save(a_, 10, 1);
  const auto refusal_after = [&](const std::function<void(SavedRun&)>& change) {
    SavedRun other{corpus_};
    change(other);
    other.save(b_, 20, 2);
    const std::string sentence = refusal({a_, b_});
    EXPECT_THAT(sentence, HasSubstr("are not from the same training"));
    EXPECT_FALSE(fs::exists(output_));
    return sentence;
  };
  EXPECT_THAT(refusal_after([](SavedRun& run) { run.model_options.state = 25; }),
              HasSubstr("state is 25 in the first and 24"));
  EXPECT_THAT(refusal_after([](SavedRun& run) { run.options.seed = 9; }), HasSubstr("seed is 9 in the first and 1"));
  EXPECT_THAT(refusal_after([](SavedRun& run) { run.options.optimizer = OptimizerKind::kAdadelta; }),
              HasSubstr("optimizer"));
  EXPECT_THAT(refusal_after([](SavedRun& run) { run.options.momentum = 0.5; }), HasSubstr("momentum is 0.5 in the"));
  EXPECT_THAT(refusal_after([](SavedRun& run) { run.fingerprint = "0123"; }),
              HasSubstr("the corpus with fingerprint 0123, the second on"));
  EXPECT_THAT(refusal_after([](SavedRun& run) {
                auto words = run.target_vocabulary.words();
                words.back() = "another";
                run.target_vocabulary = corpus::Vocabulary(words, run.target_vocabulary.counts());
              }),
              HasSubstr("their target vocabularies differ"));
  EXPECT_THAT(refusal_after([](SavedRun& run) { run.pipeline.lowercase = true; }),
              HasSubstr("their text pipelines differ"));
  SavedRun longer{corpus_};  // limits may change from one attempt to the next
  longer.options.max_updates = 99;
  longer.options.learning_rate = 0.5;
  longer.save(b_, 20, 2);
  EXPECT_EQ(refusal({a_, b_}), "nothing was thrown");
}

TEST_F(Average, OfTheNewestCheckpointsIsRefusedWhereSomeBetweenThemAreGone) {
  run_.save(a_, 10, 1);
  run_.former = 10;
  run_.save(b_, 20, 2);
  run_.former = 30;
  run_.save(c_, 40, 3);
  average_checkpoints(std::vector{b_, a_}, output_, false, true);
  EXPECT_THAT(
      message_of([&] {
        average_checkpoints(std::vector{c_, b_, a_}, output_, true, true);
      }),
      AllOf(HasSubstr("the checkpoint before " + c_.string() + " was of update 30 and is gone"),
            HasSubstr("update-00000020.h5 is older and was kept as the best"), HasSubstr("--keep-checkpoints 3")));
  EXPECT_EQ(average_checkpoints(std::vector{c_, b_, a_}, output_, true).update, 40U) << "they were named one by one";
}

TEST_F(Average, IsRefusedForFilesThatCannotBeAveraged) {
  run_.save(a_, 10, 1);
  run_.save(b_, 20, 2);
  run_.save(c_, 20, 2);
  EXPECT_THAT(refusal({a_}), HasSubstr("at least two checkpoints, but the number given is 1"));
  EXPECT_THAT(refusal({b_, a_, c_}), HasSubstr("are both from update 20"));
  EXPECT_THAT(refusal({a_, a_}), HasSubstr("are both from update 10"));
  EXPECT_THAT(refusal({a_, scratch_ / "corpus.h5"}), HasSubstr("rnnsearch-corpus"));
  EXPECT_THAT(refusal({a_, scratch_ / "missing.h5"}), HasSubstr("No such file"));
  EXPECT_FALSE(fs::exists(output_));
  average_checkpoints(std::vector{a_, b_}, output_, false);
  const fs::path mean = output_;
  output_ = scratch_ / "again.h5";
  EXPECT_THAT(refusal({a_, mean}), HasSubstr("is itself the mean of checkpoints (update-00000020.h5"));
}

TEST_F(Average, ReadsTheParametersOfItsModelAlone) {
  const std::vector<std::vector<float>> each{run_.save(a_, 10, 1), run_.save(b_, 20, 2)};
  for (const fs::path& path : {a_, b_}) {
    support::change_sealed(path, [](hid_t file) {
      H5Lcreate_hard(file, "/parameters", file, "/parameters/loop", H5P_DEFAULT, H5P_DEFAULT);
      H5Lcreate_hard(file, "/parameters", file, "/parameters/decoder/loop", H5P_DEFAULT, H5P_DEFAULT);
      const hid_t space = H5Screate(H5S_SCALAR);
      H5Dclose(H5Dcreate2(file, "/parameters/scalar", H5T_IEEE_F32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
      H5Sclose(space);
    });
  }
  EXPECT_EQ(average_checkpoints(std::vector{a_, b_}, output_, false).parameters, each[0].size());
  EXPECT_EQ(load_model(output_).model.parameters()[0], (each[0][0] + each[1][0]) / 2);
  EXPECT_FALSE(storage::open_sealed(output_, "checkpoint").exists("/parameters/scalar"));
}

TEST_F(Average, IsRefusedForParametersOfAnotherShape) {
  run_.save(a_, 10, 1);
  run_.save(b_, 20, 2);
  const auto with_shape = [&](const std::vector<hsize_t>& extents) {
    support::change_sealed(a_, [&](hid_t file) {
      H5Ldelete(file, "/parameters/attention/W_a", H5P_DEFAULT);
      const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
      H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY);
      const hid_t space = H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr);
      H5Dclose(
          H5Dcreate2(file, "/parameters/attention/W_a", H5T_IEEE_F32LE, space, H5P_DEFAULT, creation, H5P_DEFAULT));
      H5Sclose(space);
      H5Pclose(creation);
    });
    const std::string sentence = refusal({a_, b_});
    EXPECT_FALSE(fs::exists(output_));
    return sentence;
  };
  EXPECT_THAT(with_shape({}), HasSubstr("attention/W_a holds an array of shape []"));
  EXPECT_THAT(with_shape({3, 4, 5}), HasSubstr("attention/W_a holds an array of shape [3, 4, 5]"));
  EXPECT_THAT(with_shape({3, 4}), HasSubstr("attention/W_a does not have the shape that the model's options require"));
  EXPECT_THAT(with_shape({3}), HasSubstr("attention/W_a does not have the shape that the model's options require"));
}

TEST_F(Average, ReplacesAFileOnlyWhenAsked) {
  run_.save(a_, 10, 1);
  run_.save(b_, 20, 2);
  write_file_atomically(output_, "dear to somebody");
  EXPECT_THAT(refusal({a_, b_}), HasSubstr("--overwrite"));
  EXPECT_EQ(read_file(output_), "dear to somebody");
  EXPECT_EQ(refusal({a_, b_}, true), "nothing was thrown");
  EXPECT_EQ(load_model(output_).update, 20U);
  output_ = b_;
  EXPECT_THAT(refusal({a_, b_}, true), HasSubstr("is one of the checkpoints"));
  EXPECT_EQ(load_model(b_).update, 20U);
}

}  // namespace
}  // namespace rnnsearch::train

#include "rnnsearch/train/trainer.h"

#include "rnnsearch/corpus/prepare.h"
#include "rnnsearch/train/checkpoint.h"
#include "tests/model/fixtures.h"
#include "tests/support/test.h"
#include "tests/train/tiny_training.h"

namespace rnnsearch::train {
namespace {

/// A corpus with these words, in this order of frequency; the target's are written with a bar, unless `joint`.
corpus::Corpus corpus_of(const std::filesystem::path& folder, const std::vector<std::string>& words, bool joint,
                         bool lowercase = false) {
  std::filesystem::create_directory(folder);
  {
    std::ofstream source(folder / "source"), target(folder / "target");
    for (std::size_t i = 0; i < words.size(); ++i) {
      for (std::size_t times = words.size() - i; times > 0; --times) {
        source << words[i] << '\n';
        target << words[i] << (joint ? "" : "|") << '\n';
      }
    }
  }
  corpus::PrepareOptions options;
  options.train = {{folder / "source", folder / "target"}};
  options.output = folder / "corpus.h5";
  options.pipeline.tokenizer = "none";
  options.pipeline.lowercase = lowercase;
  options.joint_vocabulary = joint;
  corpus::prepare(options);
  return corpus::Corpus(options.output);
}

struct System {
  std::string name;
  bool joint = false;
  std::string settings;
  /// The parameters that have a row (or a column, or a number) for each word, and their dimension that counts them.
  std::map<std::string, std::size_t> of_source, of_target;
};

std::ostream& operator<<(std::ostream& out, const System& system) { return out << system.name; }

class Transfer : public testing::TestWithParam<System> {
 protected:
  Transfer() {
    options_.optimizer = OptimizerKind::kAdam;
    save(former_corpus(), former_, "former.h5");
  }

  const corpus::Corpus& former_corpus() const { return former_corpus_; }
  model::ModelOptions options_for(const corpus::Corpus& corpus) const {
    return model::with(tiny_model_options(corpus), GetParam().settings);
  }
  void save(const corpus::Corpus& corpus, std::optional<model::Model>& model, const std::string& name) {
    model.emplace(options_for(corpus));
    model->initialise(1);
    optimizer_ = make_optimizer(options_, model->parameters().size());
    std::vector<float> gradient(model->parameters().size());
    for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] = static_cast<float>(i % 17) - 8;
    for (int i = 0; i < 3; ++i) optimizer_->update(model->parameters(), gradient, 0.1, 1);
    TrainingState state;
    state.update = 3;
    state.corpus_fingerprint = corpus.fingerprint();
    save_checkpoint(scratch_ / name, checkpoint_source(corpus, *model, *optimizer_, state, options_));
  }
  /// Element (i, j) of a parameter in a block.
  static float at(const model::Parameter& parameter, std::span<const float> block, std::size_t i, std::size_t j) {
    return block[parameter.offset + i * parameter.stride + j];
  }
  /// Expects in `found` what the words say: an element of a word that both models have, or of none, is that of `then`,
  /// any other one that of `fresh`. Returns how many are of either kind.
  std::pair<std::size_t, std::size_t> expect_by_words(const corpus::Corpus& corpus, const model::Model& now,
                                                      std::span<const float> then, std::span<const float> fresh,
                                                      std::span<const float> found) {
    std::pair<std::size_t, std::size_t> counts;
    for (const auto& parameter : now.layout().parameters) {
      const auto& former = former_->layout().find(parameter.name);
      const auto place_of = [&](std::size_t index, std::size_t dimension) -> std::optional<std::size_t> {
        const auto in = [&](const auto& of_side, const auto& words, const auto& former_words) {
          const auto entry = of_side.find(parameter.name);
          if (entry == of_side.end() || entry->second != dimension) return std::optional(index);
          const auto place = std::find(former_words.begin(), former_words.end(), words[index]);
          if (place == former_words.end()) return std::optional<std::size_t>();
          return std::optional(static_cast<std::size_t>(place - former_words.begin()));
        };
        if (GetParam().of_source.contains(parameter.name)) {
          return in(GetParam().of_source, corpus.source_vocabulary().words(),
                    former_corpus().source_vocabulary().words());
        }
        return in(GetParam().of_target, corpus.target_vocabulary().words(),
                  former_corpus().target_vocabulary().words());
      };
      const bool is_list = parameter.shape.size() == 1;
      for (std::size_t i = 0; i < parameter.rows(); ++i) {
        for (std::size_t j = 0; j < parameter.cols(); ++j) {
          const auto row = is_list ? std::optional(i) : place_of(i, 0);
          const auto column = place_of(j, is_list ? 0 : 1);
          const bool copied = row && column;
          ++(copied ? counts.first : counts.second);
          const float expected = copied ? at(former, then, *row, *column) : at(parameter, fresh, i, j);
          EXPECT_EQ(at(parameter, found, i, j), expected) << parameter.name << ' ' << i << ' ' << j;
        }
      }
    }
    return counts;
  }

  Scratch scratch_;
  TrainOptions options_;
  corpus::Corpus former_corpus_ = corpus_of(scratch_ / "former", {"a", "b", "c", "d", "e"}, GetParam().joint);
  std::optional<model::Model> former_;
  std::unique_ptr<Optimizer> optimizer_;
};

TEST_P(Transfer, CopiesWhatBelongsToWordsOfBothOrToNone) {
  const auto corpus = corpus_of(scratch_ / "now", {"f", "c", "g", "a", "h", "i"}, GetParam().joint);
  model::Model now(options_for(corpus)), fresh(options_for(corpus));
  now.initialise(2), fresh.initialise(2);
  const auto optimizer = make_optimizer(options_, now.parameters().size());
  const auto transferred = transfer(scratch_ / "former.h5", corpus, options_, now, optimizer.get());
  EXPECT_EQ(transferred.update, 3U);
  for (const Match& match : {transferred.source, transferred.target}) {
    EXPECT_EQ(match.words, 9U);
    EXPECT_EQ(match.found, 5U);  // <unk>, <s>, </s>, c, a
    EXPECT_EQ(match.other_words, 8U);
  }
  EXPECT_EQ(transferred.other_text, "");
  const auto [copied, anew] = expect_by_words(corpus, now, former_->parameters(), fresh.parameters(), now.parameters());
  EXPECT_GT(anew, 4U * 12);  // four words
  EXPECT_GT(copied, anew);

  EXPECT_EQ(optimizer->steps, 3U);
  const auto accumulators = optimizer->accumulators(), former = optimizer_->accumulators();
  ASSERT_EQ(accumulators.size(), 2U);
  const std::vector<float> zeros(now.parameters().size());
  for (std::size_t i = 0; i < 2; ++i) expect_by_words(corpus, now, former[i].values, zeros, accumulators[i].values);
}

TEST_P(Transfer, LeavesTheOptimizerAloneUnlessAsked) {
  model::Model now(options_for(former_corpus()));
  now.initialise(2);
  transfer(scratch_ / "former.h5", former_corpus(), options_, now);
  EXPECT_TRUE(bytes_of(now.parameters()) == bytes_of(former_->parameters()));
}

const System kRnnsearch{"RNNsearch",
                        false,
                        "",
                        {{"encoder/embedding", 0}},
                        {{"decoder/embedding", 0}, {"readout/W_o", 1}, {"readout/b_w", 0}}};
const System kTarget{"TiedTarget",
                     false,
                     "tied-embeddings=target maxout=16",
                     {{"encoder/embedding", 0}},
                     {{"decoder/embedding", 0}, {"readout/b_w", 0}}};
const System kAll{"TiedAll", true, "tied-embeddings=all maxout=16", {}, {{"embedding", 0}, {"readout/b_w", 0}}};
const System kFactored{"FactoredReadout",
                       false,
                       "readout-rank=5",
                       {{"encoder/embedding", 0}},
                       {{"decoder/embedding", 0}, {"readout/W_o", 1}, {"readout/b_w", 0}}};
INSTANTIATE_TEST_SUITE_P(Systems, Transfer, testing::Values(kRnnsearch, kTarget, kAll, kFactored),
                         [](const auto& system) { return system.param.name; });

using TransferOfRnnsearch = Transfer;
INSTANTIATE_TEST_SUITE_P(One, TransferOfRnnsearch, testing::Values(kRnnsearch),
                         [](const auto& system) { return system.param.name; });

TEST_P(TransferOfRnnsearch, AllowsAnotherDropoutAndInitialisation) {
  auto options = options_for(former_corpus());
  options.dropout = 0.3;
  options.initialization = model::Initialization::kXavier;
  model::Model now(options);
  transfer(scratch_ / "former.h5", former_corpus(), options_, now);
  EXPECT_EQ(expect_by_words(former_corpus(), now, former_->parameters(), {}, now.parameters()).second, 0U);
}

TEST_P(TransferOfRnnsearch, RefusesAnotherModelWithBothValues) {
  auto options = options_for(former_corpus());
  options.embedding = 20;
  model::Model wide(options);
  EXPECT_THAT(message_of([&] { transfer(scratch_ / "former.h5", former_corpus(), options_, wide); }),
              AllOf(HasSubstr("former.h5 has embedding = 16"), HasSubstr("this training has embedding = 20"),
                    HasSubstr("--config")));
  options = options_for(former_corpus());
  options.state_word = model::StateWord::kPrevious;  // the same shapes
  model::Model other(options);
  EXPECT_THAT(message_of([&] { transfer(scratch_ / "former.h5", former_corpus(), options_, other); }),
              HasSubstr("state-word = current"));
}

TEST_P(TransferOfRnnsearch, RefusesAnotherOptimizerOrNone) {
  model::Model now(options_for(former_corpus()));
  TrainOptions adadelta = options_;
  adadelta.optimizer = OptimizerKind::kAdadelta;
  auto optimizer = make_optimizer(adadelta, now.parameters().size());
  EXPECT_THAT(message_of([&] { transfer(scratch_ / "former.h5", former_corpus(), adadelta, now, optimizer.get()); }),
              AllOf(HasSubstr("optimizer = adam"), HasSubstr("adadelta"), HasSubstr("--initial-optimizer")));
  std::filesystem::copy(scratch_ / "former.h5", scratch_ / "update-00000003.h5");
  TrainingState state;
  state.update = 4;
  state.corpus_fingerprint = former_corpus().fingerprint();
  save_checkpoint(scratch_ / "update-00000004.h5",
                  checkpoint_source(former_corpus(), *former_, *optimizer_, state, options_));
  const std::filesystem::path both[]{scratch_ / "update-00000003.h5", scratch_ / "update-00000004.h5"};
  average_checkpoints(both, scratch_ / "mean.h5", false);
  optimizer = make_optimizer(options_, now.parameters().size());
  EXPECT_THAT(message_of([&] { transfer(scratch_ / "mean.h5", former_corpus(), options_, now, optimizer.get()); }),
              AllOf(HasSubstr("is the mean of update-00000004.h5"), HasSubstr("--initial-optimizer")));
  transfer(scratch_ / "mean.h5", former_corpus(), options_, now);
  EXPECT_TRUE(bytes_of(now.parameters()) == bytes_of(former_->parameters()));
}

TEST_P(TransferOfRnnsearch, SaysHowTheTextWasSplitOtherwise) {
  const auto corpus = corpus_of(scratch_ / "lower", {"a", "B"}, false, true);
  model::Model now(options_for(corpus));
  EXPECT_EQ(transfer(scratch_ / "former.h5", corpus, options_, now).other_text, "lowercase no then and yes now");
}

}  // namespace
}  // namespace rnnsearch::train

// Diverse beam search against a slow one in float64, written from the paper.
#include "rnnsearch/decode/translate.h"

#include "rnnsearch/decode/ensemble.h"
#include "tests/decode/random_model.h"
#include "tests/decode/reference_search.h"
#include "tests/support/test.h"

namespace rnnsearch::decode {
namespace {

/// Algorithm 1 of Vijayakumar et al. (2016): at each step the groups choose in turn, and the log-probability of a word
/// loses `strength` for each time an earlier group chose it at this step. A group is a beam search of its own, whose
/// ended hypotheses leave it.
std::vector<reference::Hypothesis> diverse_search(reference::Space& space, std::size_t beam, std::size_t groups,
                                                  double strength) {
  std::vector<std::vector<reference::Hypothesis>> live(groups, std::vector<reference::Hypothesis>(1));
  std::vector<std::size_t> wanted(groups, beam / groups);
  std::vector<reference::Hypothesis> finished;
  for (std::size_t t = 0; t < space.settings().longest; ++t) {
    std::map<WordId, double> times_chosen;
    for (std::size_t g = 0; g < groups; ++g) {
      std::vector<std::pair<reference::Hypothesis, WordId>> all;
      for (const reference::Hypothesis& hypothesis : live[g]) {
        for (WordId word = 0; word < space.after(hypothesis.words).log_probabilities.size(); ++word) {
          if (!space.allowed(t, word)) continue;
          const auto times = times_chosen.find(word);
          const double penalty = times == times_chosen.end() ? 0 : strength * times->second;
          all.emplace_back(space.extended(hypothesis, word, penalty), word);
        }
      }
      std::stable_sort(all.begin(), all.end(),
                       [](const auto& a, const auto& b) { return a.first.ranked > b.first.ranked; });
      all.resize(std::min(all.size(), wanted[g]));
      live[g].clear();
      for (const auto& [hypothesis, word] : all) {
        ++times_chosen[word];
        (hypothesis.finished ? finished : live[g]).push_back(hypothesis);
        if (hypothesis.finished) --wanted[g];
      }
    }
  }
  if (finished.empty()) {
    for (const auto& group : live) finished.insert(finished.end(), group.begin(), group.end());
  }
  std::stable_sort(finished.begin(), finished.end(),
                   [](const auto& a, const auto& b) { return a.log_probability > b.log_probability; });
  std::set<Words> seen;
  std::erase_if(finished, [&](const auto& found) { return !seen.insert(found.words).second; });
  return finished;
}

TEST(Groups, FindWhatDiverseBeamSearchFinds) {
  auto model = random_model({.target_words = 13, .seed = 1});
  const Sentences source = some_sentences(30, 6);
  std::size_t differ = 0;
  for (const auto& [beam, groups, strength] :
       std::vector<std::tuple<std::size_t, std::size_t, double>>{{4, 2, 0.5}, {6, 3, 1.0}, {3, 3, 2.0}, {6, 2, 0.0}}) {
    SearchOptions options{.beam = beam, .n_best = beam, .retry_below = 0, .batch_sentences = 7};
    const auto plain = translate(model, source, options);
    options.groups = groups;
    options.diversity = strength;
    const auto found = translate(model, source, options);
    for (std::size_t i = 0; i < source.size(); ++i) {
      reference::Space space = space_of(model, source[i]);
      expect_same(found[i], diverse_search(space, beam, groups, strength), fmt::format("sentence {}", i));
      differ += found[i].front().words != plain[i].front().words || found[i].size() != plain[i].size() ? 1 : 0;
    }
  }
  EXPECT_GT(differ, 10u);
}

// That the numbers are right is in reference_test.cpp.

TEST(Ensemble, OfOneModelIsThatModelToTheBit) {
  auto model = random_model({.seed = 1});
  const Sentences source = some_sentences(20, 7);
  const SearchOptions options{.beam = 4, .n_best = 4, .coverage_penalty = 0.2, .alignments = true};
  for (const EnsembleMean of : {EnsembleMean::kProbabilities, EnsembleMean::kLogarithms}) {
    const Ensemble one({&model}, {7.5}, of);
    expect_same_bits(translate(one, source, options), translate(model, source, options));
    EXPECT_EQ(score(one, source, source), model.score(source, source));
  }
}

TEST(Ensemble, HasTheLongestOfItsModelsSources) {
  auto with_end = random_model({.seed = 1}), without = random_model({.seed = 2, .source_end = false});
  const Ensemble both({&without, &with_end}, {1, 1}, EnsembleMean::kLogarithms);
  EXPECT_EQ(both.source_length(3), 4u);
  EXPECT_EQ(both.source_length(0), 1u);
  const auto translations = translate(both, some_sentences(5, 4), {.beam = 2, .alignments = true});
  const Sentences source = some_sentences(5, 4);
  for (std::size_t i = 0; i < source.size(); ++i) {
    const Translation& best = translations[i][0];
    const std::size_t Tx = source.length(i) + 1;
    ASSERT_EQ(best.alignment.size(), best.word_scores.size() * Tx);
    for (std::size_t k = 0; k < best.word_scores.size(); ++k) {
      float sum = 0;
      for (std::size_t j = 0; j < Tx; ++j) sum += best.alignment[k * Tx + j];
      EXPECT_NEAR(sum, 1, 1e-5) << "the model that does not read </s> gives it no weight";
      EXPECT_LE(best.alignment[k * Tx + Tx - 1], 0.5 + 1e-5);
    }
  }
}

TEST(Ensemble, IsNanWhereOneOfItsModelsIs) {
  for (const EnsembleMean of : {EnsembleMean::kProbabilities, EnsembleMean::kLogarithms}) {
    for (const bool first_is_nan : {true, false}) {
      auto good = random_model({.seed = 1}), bad = random_model({.seed = 2});
      bad.parameters()[bad.layout().find("readout/b_w").offset] = std::numeric_limits<float>::quiet_NaN();
      const Ensemble ensemble({first_is_nan ? &bad : &good, first_is_nan ? &good : &bad}, {1, 1}, of);
      EXPECT_TRUE(translate(ensemble, some_sentences(3, 4), {.beam = 2})[0].at(0).is_nan());
      EXPECT_TRUE(std::isnan(score(ensemble, some_sentences(1, 4), some_sentences(1, 4))[0]));
    }
  }
}

}  // namespace
}  // namespace rnnsearch::decode

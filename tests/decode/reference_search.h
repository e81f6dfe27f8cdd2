// Beam search and the scores of its hypotheses, in float64 and from their definitions. It is slow and simple on
// purpose: every hypothesis is run through the reference models from its beginning, and tests compare decode with the
// result.
//
// The search is BeamSearch.search of the released code of Bahdanau, Cho and Bengio (2015): at each step the best
// continuations of all hypotheses are kept, as many as the beam is wide; those that end leave it, and it shrinks by
// them. The scores are those of Wu et al. (2016), Google's neural machine translation system, section 7, equation 14:
//   s(Y, X) = log P(Y|X) / lp(Y) + cp(X, Y)
//   lp(Y) = (5 + |Y|)^alpha / (5 + 1)^alpha
//   cp(X, Y) = beta sum_j log(min(sum_i p_ij, 1)), with p_ij the attention of the i-th target word to the j-th source
//   word
// plus a constant for each word (Murray and Chiang 2018). </s> is a word.
#pragma once

#include "rnnsearch/decode/translate.h"
#include "rnnsearch/model/model.h"
#include "tests/model/systems.h"
#include "tests/support/test.h"

namespace rnnsearch::reference {

struct System {
  Parameters parameters;
  model::ModelOptions options;
  double weight = 1;  // in an ensemble
};

struct SearchSettings {
  std::size_t beam = 1;
  std::size_t shortest = 0, longest = 10;  // words before </s>; words with </s>
  bool divide_by_length = false;
  double alpha = 0, beta = 0, bonus = 0;
  bool average_logarithms = false;  // of an ensemble, in place of probabilities
};

struct Hypothesis {
  std::vector<WordId> words;  // without </s>
  bool finished = false;
  Vector word_scores;                      // [words, </s> if finished]
  std::vector<Vector> p;                   // [words, </s> if finished][Tx]; empty vectors without attention
  double log_probability = 0, ranked = 0;  // ranked: less what groups subtract
  double length_penalty = 1, coverage_penalty = 0, word_bonus = 0, score = 0;
};

/// The distribution of the word after a prefix, and what the models attend to when they write it.
struct Step {
  Vector log_probabilities, p;
};

/// All translations of a source, step by step.
class Space {
 public:
  Space(std::span<const System> systems, std::span<const WordId> source, const SearchSettings& settings)
      : systems_(systems.begin(), systems.end()), source_(source.begin(), source.end()), settings_(settings) {}

  const Step& after(const std::vector<WordId>& prefix) {
    const auto [found, is_new] = steps_.try_emplace(prefix);
    Step& step = found->second;
    if (!is_new) return step;
    double weights = 0, attending = 0;
    for (const System& system : systems_) {
      weights += system.weight;
      if (system.parameters.count("attention/v_a") > 0) attending += system.weight;
    }
    for (const System& system : systems_) {
      const auto trace = model::systems::System(system.parameters, system.options).run(source_, prefix);
      const Vector& log_p = trace.log_probabilities.at(prefix.size());
      step.log_probabilities.resize(log_p.size(), 0.0);
      for (std::size_t k = 0; k < log_p.size(); ++k) {
        step.log_probabilities[k] +=
            system.weight / weights * (settings_.average_logarithms ? log_p[k] : std::exp(log_p[k]));
      }
      const Vector& alpha = trace.alpha.at(prefix.size());
      step.p.resize(std::max(step.p.size(), alpha.size()), 0.0);
      for (std::size_t j = 0; j < alpha.size(); ++j) step.p[j] += system.weight / attending * alpha[j];
    }
    if (!settings_.average_logarithms) {
      for (double& value : step.log_probabilities) value = std::log(value);
    }
    return step;
  }

  const SearchSettings& settings() const { return settings_; }
  bool allowed(std::size_t words_before, WordId word) const {
    return word != kStart && (word != kEnd || words_before >= settings_.shortest);
  }

  /// penalty: taken from the rank of the hypothesis.
  Hypothesis extended(const Hypothesis& hypothesis, WordId word, double penalty = 0) {
    const Step& step = after(hypothesis.words);
    Hypothesis next = hypothesis;
    next.word_scores.push_back(step.log_probabilities.at(word));
    next.p.push_back(step.p);
    next.log_probability += step.log_probabilities[word];
    next.ranked += step.log_probabilities[word] - penalty;
    next.finished = word == kEnd;
    if (!next.finished) next.words.push_back(word);
    return next;
  }

  void rank(std::vector<Hypothesis>& hypotheses) const {
    for (Hypothesis& hypothesis : hypotheses) {
      const auto length = static_cast<double>(hypothesis.word_scores.size());
      hypothesis.length_penalty = std::pow(5 + length, settings_.alpha) / std::pow(5.0 + 1.0, settings_.alpha);
      if (settings_.divide_by_length) hypothesis.length_penalty = length;
      for (std::size_t j = 0; settings_.beta != 0 && j < hypothesis.p.front().size(); ++j) {
        double sum = 0;
        for (const Vector& row : hypothesis.p) sum += row[j];
        hypothesis.coverage_penalty += settings_.beta * std::log(std::min(sum, 1.0));
      }
      hypothesis.word_bonus = settings_.bonus * length;
      hypothesis.score =
          hypothesis.log_probability / hypothesis.length_penalty + hypothesis.coverage_penalty + hypothesis.word_bonus;
    }
    std::stable_sort(hypotheses.begin(), hypotheses.end(),
                     [](const auto& a, const auto& b) { return a.score > b.score; });
  }

 private:
  std::vector<System> systems_;
  std::vector<WordId> source_;
  SearchSettings settings_;
  std::map<std::vector<WordId>, Step> steps_;
};

/// The finished hypotheses, best first, or those that were cut off if none is.
inline std::vector<Hypothesis> beam_search(std::span<const System> systems, std::span<const WordId> source,
                                           const SearchSettings& settings) {
  Space space(systems, source, settings);
  std::vector<Hypothesis> live(1), finished;
  for (std::size_t step = 0; step < settings.longest && !live.empty(); ++step) {
    struct Continuation {
      double log_probability;
      std::size_t of;
      WordId word;
    };
    std::vector<Continuation> all;
    for (std::size_t i = 0; i < live.size(); ++i) {
      const Vector& log_p = space.after(live[i].words).log_probabilities;
      for (WordId word = 0; word < log_p.size(); ++word) {
        if (space.allowed(step, word)) all.push_back({live[i].log_probability + log_p[word], i, word});
      }
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.log_probability > b.log_probability; });
    all.resize(std::min(all.size(), settings.beam - finished.size()));
    std::vector<Hypothesis> next;
    for (const Continuation& best : all) {
      Hypothesis hypothesis = space.extended(live[best.of], best.word);
      (hypothesis.finished ? finished : next).push_back(std::move(hypothesis));
    }
    live = std::move(next);
  }
  std::vector<Hypothesis>& result = finished.empty() ? live : finished;
  space.rank(result);
  return std::move(result);
}

/// All that the limits allow, best first.
inline std::vector<Hypothesis> exhaustive_search(std::span<const System> systems, std::span<const WordId> source,
                                                 const SearchSettings& settings) {
  Space space(systems, source, settings);
  std::vector<Hypothesis> layer(1), all;
  for (std::size_t step = 0; step < settings.longest; ++step) {
    std::vector<Hypothesis> longer;
    for (const Hypothesis& hypothesis : layer) {
      const std::size_t words = space.after(hypothesis.words).log_probabilities.size();
      for (WordId word = 0; word < words; ++word) {
        if (!space.allowed(step, word)) continue;
        Hypothesis next = space.extended(hypothesis, word);
        (next.finished ? all : longer).push_back(std::move(next));
      }
    }
    layer = std::move(longer);
  }
  space.rank(all);
  return all;
}

}  // namespace rnnsearch::reference

namespace rnnsearch::decode {

using Words = std::vector<WordId>;

inline reference::System system_of(const model::Model& model, double weight = 1) {
  return {model::named(model), model.options(), weight};
}

/// Of one model, with the limits that translate has by default.
inline reference::Space space_of(const model::Model& model, std::span<const WordId> source) {
  const reference::System systems[]{system_of(model)};
  return {systems, source, {.shortest = (source.size() + 1) / 2, .longest = 3 * (source.size() + 1)}};
}

/// Words, ends and log-probabilities are those of the reference.
inline void expect_same(const std::vector<Translation>& found, const std::vector<reference::Hypothesis>& expected,
                        const std::string& what) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  for (std::size_t k = 0; k < found.size(); ++k) {
    ASSERT_EQ(found[k].words, expected[k].words) << what << ", translation " << k;
    EXPECT_EQ(found[k].finished, expected[k].finished) << what << ", translation " << k;
    EXPECT_NEAR(found[k].log_probability, expected[k].log_probability, 1e-4) << what << ", translation " << k;
  }
}

}  // namespace rnnsearch::decode

#include "tests/support/reference_search.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace rnnsearch::reference {
namespace {

/// The distribution of the word after a prefix, and what the models attend to when they write it.
struct Step {
  Vector log_probabilities, p;
};

class Space {
 public:
  Space(std::span<const System> systems, std::span<const WordId> source, const SearchSettings& settings)
      : systems_(systems), source_(source), settings_(settings) {}

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
      const Trace trace = reference::trace(system.parameters, system.state_reads, source_, prefix);
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

  bool allowed(std::size_t words_before, WordId word) const {
    return word != kStart && (word != kEnd || words_before >= settings_.shortest);
  }

  Hypothesis extended(const Hypothesis& hypothesis, WordId word) {
    const Step& step = after(hypothesis.words);
    Hypothesis next = hypothesis;
    next.word_scores.push_back(step.log_probabilities.at(word));
    next.p.push_back(step.p);
    next.log_probability += step.log_probabilities[word];
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
  std::span<const System> systems_;
  std::span<const WordId> source_;
  const SearchSettings& settings_;
  std::map<std::vector<WordId>, Step> steps_;
};

}  // namespace

std::vector<Hypothesis> beam_search(std::span<const System> systems, std::span<const WordId> source,
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

std::vector<Hypothesis> exhaustive_search(std::span<const System> systems, std::span<const WordId> source,
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

// Diverse beam search against a slow one in float64, written from the paper.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "rnnsearch/decode/translate.h"
#include "tests/decode/random_model.h"
#include "tests/decode/slow_search.h"

namespace rnnsearch::decode {
namespace {

/// Algorithm 1 of Vijayakumar et al. (2016): at each step the groups choose in turn, and the log-probability of a word
/// loses `strength` for each time an earlier group chose it at this step. A group is a beam search of its own, whose
/// ended hypotheses leave it.
std::vector<Found> diverse_search(Slow& slow, std::size_t beam, std::size_t groups, double strength) {
  std::vector<std::vector<Found>> live(groups, std::vector<Found>(1));
  std::vector<std::size_t> wanted(groups, beam / groups);
  std::vector<Found> finished;
  for (std::size_t t = 0; t < slow.longest(); ++t) {
    std::map<WordId, double> times_chosen;
    for (std::size_t g = 0; g < groups; ++g) {
      std::vector<std::pair<Found, WordId>> all;
      for (const Found& hypothesis : live[g]) {
        for (WordId word = 0; word < slow.after(hypothesis.words).size(); ++word) {
          if (!slow.allows(t, word)) continue;
          const auto times = times_chosen.find(word);
          const double penalty = times == times_chosen.end() ? 0 : strength * times->second;
          all.emplace_back(slow.extended(hypothesis, word, penalty), word);
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
  std::stable_sort(finished.begin(), finished.end(), more_probable);
  std::set<Words> seen;
  std::erase_if(finished, [&](const Found& found) { return !seen.insert(found.words).second; });
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
      Slow slow(model, source[i]);
      expect_same(found[i], diverse_search(slow, beam, groups, strength), i);
      differ += found[i].front().words != plain[i].front().words || found[i].size() != plain[i].size() ? 1 : 0;
    }
  }
  EXPECT_GT(differ, 10u);
}

}  // namespace
}  // namespace rnnsearch::decode

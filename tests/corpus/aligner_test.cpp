#include "rnnsearch/corpus/aligner.h"

#include "rnnsearch/base/parallel.h"
#include "rnnsearch/base/portable.h"
#include "tests/support/test.h"

namespace rnnsearch::corpus {
namespace {

using Links = std::vector<std::uint32_t>;

Aligner learn(const Aligner::Pairs& text, double cells = 0) {
  for (std::size_t i = 0; i < text.source.size(); ++i)
    cells += static_cast<double>(text.source.length(i) * text.target.length(i));
  return Aligner(text.source.size(), cells, [&](std::uint64_t first, std::uint64_t count) {
    Aligner::Pairs pairs;
    for (std::uint64_t i = first; i < first + count; ++i) {
      pairs.source.add(text.source[i]);
      pairs.target.add(text.target[i]);
    }
    return pairs;
  });
}

/// A text whose gold links are known. Frequencies follow Zipf's law; a word has three translations; one word in four is
/// followed by a word that translates nothing; neighbours change places now and then; one word in ten gets two words.
struct GoldText {
  Aligner::Pairs pairs;
  std::vector<std::set<std::pair<std::uint32_t, std::uint32_t>>> links;

  explicit GoldText(std::size_t sentences) {
    constexpr std::uint64_t kWords = 400, kFunctionWords = 8;
    Random random(5, 0);
    const auto zipf = [&] { return static_cast<WordId>(std::exp(random.uniform() * std::log(double{kWords}))) - 1; };
    for (std::size_t k = 0; k < sentences; ++k) {
      std::vector<WordId> source(3 + random.below(12));
      for (WordId& word : source) word = 3 + zipf();
      std::vector<std::uint32_t> order(source.size());
      for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
      for (std::size_t i = 1; i < order.size(); ++i)
        if (random.below(5) == 0) std::swap(order[i], order[i - 1]);
      std::vector<WordId> target;
      auto& gold = links.emplace_back();
      for (const std::uint32_t i : order) {
        const WordId first = 20 + 6 * (source[i] - 3);
        const std::uint64_t draw = random.below(10);
        for (WordId part = 0; part < (source[i] % 10 == 0 ? 2U : 1U); ++part) {
          gold.emplace(i, static_cast<std::uint32_t>(target.size()));
          target.push_back(first + 3 * part + (draw < 6 ? 0 : draw < 9 ? 1 : 2));
        }
        if (random.below(4) == 0) target.push_back(static_cast<WordId>(3 + random.below(kFunctionWords)));
      }
      pairs.source.add(source);
      pairs.target.add(target);
    }
  }

  /// Of Och and Ney (2003), where all gold links are sure.
  template <class LinksOf>
  double alignment_error_rate(const LinksOf& links_of) const {
    std::size_t made = 0, right = 0, sure = 0;
    for (std::size_t k = 0; k < links.size(); ++k) {
      const Links found = links_of(pairs.source[k], pairs.target[k]);
      for (std::size_t i = 0; i < found.size(); i += 2) right += links[k].count({found[i], found[i + 1]});
      made += found.size() / 2;
      sure += links[k].size();
    }
    return 1 - 2.0 * static_cast<double>(right) / static_cast<double>(made + sure);
  }
};

/// IBM model 1 (Brown et al. 1993, section 4.1), five iterations of EM; each target word gets its best source word.
class Model1 {
 public:
  explicit Model1(const Aligner::Pairs& text) {
    for (int iteration = 0; iteration < 5; ++iteration) {
      std::map<std::pair<WordId, WordId>, double> counts;
      std::map<WordId, double> totals;
      for (std::size_t k = 0; k < text.source.size(); ++k)
        for (const WordId f : text.target[k]) {
          double sum = 0;
          for (const WordId e : text.source[k]) sum += t(e, f);
          for (const WordId e : text.source[k]) {
            counts[{e, f}] += t(e, f) / sum;
            totals[e] += t(e, f) / sum;
          }
        }
      for (auto& [pair, count] : counts) count /= totals[pair.first];
      t_ = std::move(counts);
    }
  }
  Links links(std::span<const WordId> source, std::span<const WordId> target) const {
    Links links;
    for (std::uint32_t j = 0; j < target.size(); ++j) {
      std::uint32_t best = 0;
      for (std::uint32_t i = 0; i < source.size(); ++i)
        if (t(source[i], target[j]) > t(source[best], target[j])) best = i;
      links.insert(links.end(), {best, j});
    }
    return links;
  }

 private:
  double t(WordId e, WordId f) const { return t_.empty() ? 1 : t_.at({e, f}); }
  std::map<std::pair<WordId, WordId>, double> t_;
};

TEST(Aligner, FindsTheLinksOfATextBetterThanIbmModel1) {
  const GoldText text(3000);
  const Aligner aligner = learn(text.pairs);
  const Model1 model1(text.pairs);
  const double ours = text.alignment_error_rate([&](auto s, auto t) { return aligner.links(s, t).positions; });
  const double theirs = text.alignment_error_rate([&](auto s, auto t) { return model1.links(s, t); });
  RecordProperty("alignment_error_rate", std::to_string(ours));
  RecordProperty("of_ibm_model_1", std::to_string(theirs));
  EXPECT_LT(ours, 0.1) << "IBM model 1: " << theirs;
  EXPECT_LT(ours, theirs / 2);
}

TEST(Aligner, LearnsFromAShareOfALongText) {
  const GoldText text(9000);
  const Aligner aligner = learn(text.pairs, 3e8);
  EXPECT_LT(text.alignment_error_rate([&](auto s, auto t) { return aligner.links(s, t).positions; }), 0.1);
}

TEST(Aligner, GivesTheSameLinksOnAnyNumberOfThreads) {
  const GoldText text(500);
  std::vector<std::vector<Links>> all;
  for (const std::size_t threads : {1U, 2U, 3U}) {
    set_thread_count(threads);
    const Aligner aligner = learn(text.pairs);
    auto& links = all.emplace_back();
    for (std::size_t k = 0; k < text.links.size(); ++k)
      links.push_back(aligner.links(text.pairs.source[k], text.pairs.target[k]).positions);
  }
  EXPECT_EQ(all[1], all[0]);
  EXPECT_EQ(all[2], all[0]);
}

TEST(Aligner, LinksSentencesOfUnknownWordsAndOfOneWord) {
  const GoldText text(50);
  const Aligner aligner = learn(text.pairs);
  const std::vector<WordId> one{3}, unseen{90000, 90001, 90002}, none;
  EXPECT_LE(aligner.links(one, one).positions.size(), 2U);
  EXPECT_LE(aligner.links(unseen, unseen).positions.size(), 18U);
  EXPECT_EQ(aligner.links(unseen, none).positions, Links{});
  EXPECT_EQ(aligner.links(none, unseen).positions, Links{});
  const std::vector<WordId> document(1025, 3);
  EXPECT_EQ(aligner.links(document, document).positions, Links{}) << "more than 2^20 pairs of words";
  for (std::size_t k = 1; k < text.links.size(); ++k)
    EXPECT_GE(aligner.links(text.pairs.source[k], text.pairs.target[k - 1]).likelihood_ratio, 0.08);
}

}  // namespace
}  // namespace rnnsearch::corpus

#include "rnnsearch/evaluate/chrf.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "rnnsearch/base/random.h"
#include "rnnsearch/base/version.h"
#include "rnnsearch/text/unicode.h"

namespace rnnsearch::evaluate {
namespace {

using Lines = std::vector<std::string>;
using Items = std::vector<std::u32string>;

constexpr ChrfOptions kChrf{}, kChrfPlusPlus{.word_orders = 2};

double score(const Lines& hypotheses, const std::vector<Lines>& references, const ChrfOptions& options = kChrf) {
  return corpus_chrf(hypotheses, references, options);
}
double score(const std::string& hypothesis, const std::string& reference, const ChrfOptions& options = kChrf) {
  return score(Lines{hypothesis}, {{reference}}, options);
}

// chrF from its definition: n-grams in maps.
struct Slow {
  std::size_t word_orders = 0;
  double beta = 2;

  static std::map<Items, double> ngrams(const Items& items, std::size_t n) {
    std::map<Items, double> counts;
    for (std::size_t i = 0; i + n <= items.size(); ++i) {
      counts[Items(items.begin() + static_cast<long>(i), items.begin() + static_cast<long>(i + n))] += 1;
    }
    return counts;
  }
  static Items characters(const std::string& line) {
    Items items;
    for (const auto& word : text::split_words(line)) {
      for (const char32_t c : text::code_points(word)) items.push_back({c});
    }
    return items;
  }
  static Items words(const std::string& line) {
    const std::u32string marks = U"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
    Items items;
    for (const auto& text : text::split_words(line)) {
      const auto word = text::code_points(text);
      if (word.size() > 1 && marks.find(word.back()) != marks.npos) {
        items.push_back(word.substr(0, word.size() - 1));
        items.push_back(word.substr(word.size() - 1));
      } else if (word.size() > 1 && marks.find(word.front()) != marks.npos) {
        items.push_back(word.substr(0, 1));
        items.push_back(word.substr(1));
      } else {
        items.push_back(word);
      }
    }
    return items;
  }

  using Counts = std::vector<std::array<double, 3>>;  // an order: hypothesis, reference, both
  Counts counts(const std::string& hypothesis, const std::string& reference) const {
    Counts all;
    const auto add = [&](const Items& ours, const Items& theirs, std::size_t n) {
      double h = 0, r = 0, both = 0;
      const auto own = ngrams(ours, n), other = ngrams(theirs, n);
      for (const auto& [ngram, count] : own) h += count;
      for (const auto& [ngram, count] : other) {
        r += count;
        if (own.contains(ngram)) both += std::min(count, own.at(ngram));
      }
      all.push_back({other.empty() ? 0 : h, r, both});
    };
    for (std::size_t n = 1; n <= 6; ++n) add(characters(hypothesis), characters(reference), n);
    for (std::size_t n = 1; n <= word_orders; ++n) add(words(hypothesis), words(reference), n);
    return all;
  }
  double f(const Counts& all) const {
    double precision = 0, recall = 0, orders = 0;
    for (const auto& [h, r, both] : all) {
      if (h == 0 || r == 0) continue;
      precision += both / h;
      recall += both / r;
      ++orders;
    }
    if (orders == 0 || precision + recall == 0) return 0;
    precision /= orders;
    recall /= orders;
    return 100 * (1 + beta * beta) * precision * recall / (beta * beta * precision + recall);
  }
  double corpus(const Lines& hypotheses, const std::vector<Lines>& references) const {
    Counts sum(6 + word_orders);
    for (std::size_t i = 0; i < hypotheses.size(); ++i) {
      Counts best;
      double best_score = -1;
      for (const Lines& set : references) {
        const Counts candidate = counts(hypotheses[i], set[i]);
        if (f(candidate) > best_score) {
          best = candidate;
          best_score = f(candidate);
        }
      }
      for (std::size_t n = 0; n < sum.size(); ++n) {
        for (std::size_t k = 0; k < 3; ++k) sum[n][k] += best[n][k];
      }
    }
    return f(sum);
  }
};

std::string random_line(Random& random) {
  static const Lines kPieces = {"a",    "b", "the", "cat,", "(sat)",  "on.",    "é", "è!",
                                "漢字", "—", "...", "x-y",  "\u00a0", "\u3000", "?"};
  std::string line;
  for (std::uint64_t words = random.below(12); words > 0; --words) {
    line += kPieces[random.below(kPieces.size())];
    if (random.below(4) > 0) line += random.below(5) == 0 ? "\t" : " ";
  }
  return line;
}

TEST(Chrf, IsThatOfItsDefinition) {
  Random random(21);
  for (int round = 0; round < 60; ++round) {
    const std::size_t sentences = 1 + random.below(8), sets = 1 + random.below(3);
    Lines hypotheses;
    std::vector<Lines> references(sets);
    for (std::size_t i = 0; i < sentences; ++i) {
      hypotheses.push_back(random_line(random));
      for (Lines& set : references) set.push_back(random.below(6) == 0 ? hypotheses.back() : random_line(random));
    }
    for (const std::size_t word_orders : {0u, 1u, 2u}) {
      for (const double beta : {1.0, 2.0, 3.0}) {
        const Slow slow{word_orders, beta};
        EXPECT_NEAR(score(hypotheses, references, {.word_orders = word_orders, .beta = beta}),
                    slow.corpus(hypotheses, references), 1e-9)
            << "round " << round;
      }
    }
  }
}

TEST(Chrf, TakesTextsOfManyDifferentCharacters) {
  Random random(22);
  Lines hypotheses(1), references(1);
  for (int i = 0; i < 3000; ++i) {  // more than two thousand Chinese characters
    const auto append = [](std::string& line, std::uint64_t c) {
      line +=
          {static_cast<char>(0xE4 + c / 4096), static_cast<char>(0x80 + c / 64 % 64), static_cast<char>(0x80 + c % 64)};
    };
    const std::uint64_t c = random.below(4096);
    append(hypotheses[0], c);
    append(references[0], random.below(3) == 0 ? random.below(4096) : c);
  }
  EXPECT_NEAR(score(hypotheses, {references}), Slow{}.corpus(hypotheses, {references}), 1e-9);
}

TEST(Chrf, HasTheScoresOfSimplePairs) {
  EXPECT_EQ(score("a", "a"), 100);   // of one order only
  EXPECT_EQ(score("aa", "ab"), 25);  // half of the characters, none of the pairs
  EXPECT_EQ(score("abcdefg", "hijklmnop"), 0);
  EXPECT_EQ(score("", "b"), 0);
  EXPECT_EQ(score("a", ""), 0);
  EXPECT_EQ(score("", ""), 0);
  EXPECT_EQ(score("a b c", "abc"), 100) << "white space does not count";
  EXPECT_LT(score("a b c", "abc", kChrfPlusPlus), 100) << "words do";
  EXPECT_EQ(score("The Cat", "the cat", {.lowercase = true}), 100);
  EXPECT_LT(score("The Cat", "the cat"), 100);
}

TEST(Chrf, SignsAsSacrebleu) {
  const std::string version = std::string("|version:rnnsearch-") + kVersion;
  EXPECT_EQ(signature(kChrf, 1), "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no" + version);
  EXPECT_EQ(signature({.word_orders = 2, .lowercase = true}, 2, Bootstrap{}),
            "nrefs:2|bs:1000|seed:12345|case:lc|eff:yes|nc:6|nw:2|space:no" + version);
}

}  // namespace
}  // namespace rnnsearch::evaluate

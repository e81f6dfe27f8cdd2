// Several corpora as one training text, without a file that holds all of them.
//
// An epoch of a mixture has every pair of the first corpus once and, for each of these pairs, `weight` pairs of each
// other corpus, rounded to a whole number an epoch and spread evenly over it. In the other corpora, the next epoch
// continues where this one ended, and a corpus starts again when all its pairs were used, so the numbers of times that
// two pairs of a corpus are used differ by at most one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "rnnsearch/corpus/cleaning.h"
#include "rnnsearch/corpus/corpus.h"
#include "rnnsearch/corpus/text_pipeline.h"

namespace rnnsearch::corpus {

/// A corpus that is mixed into another one.
struct MixedCorpus {
  const Corpus* corpus = nullptr;  // not owned
  double weight = 1;               // its pairs for each pair of the first corpus; positive
};

/// Describes the first difference between the vocabularies or the text pipelines of two corpora, such as "word 7 of the
/// source vocabulary is x there and y in a.h5", where "there" is `b`. Empty if the same text has the same ids in both.
std::string difference_of_words(const Corpus& a, const Corpus& b);

/// Says that different versions of libraries split the texts of these corpora; empty if they did not, or if one of the
/// corpora is too old to tell.
std::string other_libraries(const Corpus& a, const Corpus& b);

/// Throws Error, which names both files, for a corpus without training pairs, one whose words or text pipeline differ
/// from those of the first corpus, and weights that are not positive or too large for Shares.
void check_mixture(const Corpus& first, std::span<const MixedCorpus> others);

/// What a checkpoint remembers of its training text: the fingerprint of the corpus, followed by " + WEIGHT *
/// FINGERPRINT" of each other one.
std::string fingerprint_of(const Corpus& first, std::span<const MixedCorpus> others);

/// The pairs of an epoch: how many each corpus has, and how they take turns. Corpus 0 is the first one.
class Shares {
 public:
  /// Throws Error if an epoch has 2^32 pairs or more.
  Shares(const Corpus& first, std::span<const MixedCorpus> others);

  std::size_t corpora() const { return ends_.size(); }
  std::uint64_t pairs() const { return ends_.back(); }
  std::uint64_t pairs_of(std::size_t corpus) const { return ends_[corpus] - (corpus == 0 ? 0 : ends_[corpus - 1]); }

  /// For each corpus, the number of its pairs among the first `pairs` pairs of an epoch.
  std::vector<std::uint64_t> among_first(std::uint64_t pairs) const;
  /// The corpus of a pair of an epoch. REQUIRES: pair < pairs().
  std::size_t corpus_of(std::uint64_t pair) const;

 private:
  std::vector<std::uint64_t> ends_;  // pairs an epoch of the corpora up to this one
};

/// Says in words how two corpora first differ: "max-length is 50 there and 40 in a.h5".
class FirstDifference {
 public:
  /// Where the values are: "in a.h5", "there".
  FirstDifference(std::string in_a, std::string in_b) : in_a_(std::move(in_a)), in_b_(std::move(in_b)) {}

  template <class Value>
  void compare(const std::string& what, const Value& a, const Value& b) {
    if (!text_.empty() || a == b) return;
    std::ostringstream text;
    text << std::boolalpha << what << " is " << b << " " << in_b_ << " and " << a << " " << in_a_;
    text_ = std::move(text).str();
  }
  void compare(const TextPipeline& a, const TextPipeline& b);
  void compare(const CleaningOptions& a, const CleaningOptions& b);
  /// Another difference, unless the two are the same in it.
  void compare(bool same, const std::string& what) {
    if (text_.empty() && !same) text_ = what;
  }
  /// Empty if there is none.
  const std::string& text() const { return text_; }

 private:
  std::string in_a_, in_b_, text_;
};

}  // namespace rnnsearch::corpus

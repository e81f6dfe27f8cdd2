// Reads a prepared corpus (*.h5). The layout of the file is documented in corpus/format.h.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rnnsearch/base/sentences.h"
#include "rnnsearch/corpus/cleaning.h"
#include "rnnsearch/corpus/text_pipeline.h"
#include "rnnsearch/corpus/vocabulary.h"

namespace rnnsearch::corpus {

/// A development or test set, held in memory.
struct EvaluationSet {
  std::string name;
  Sentences source, target;
  std::vector<std::string> source_text;              // raw lines
  std::vector<std::vector<std::string>> references;  // [k][pairs], raw lines, against which BLEU is computed
};

/// Consecutive pairs of the training part.
struct PairBlock {
  Sentences source, target;
  /// If the corpus has alignments, the links of each pair: the positions of a source word and of a target word, from 0,
  /// source, target, source, target, ... Otherwise empty.
  Sentences links{};
  std::vector<float> weights{};  // of each pair; 1 if the corpus has none
};

/// Whether to verify the digest, which reads the whole file once. Rank 0 verifies it, the other ranks skip it.
enum class Verify { kDigest, kSkip };

/// Thread-safe: several threads may read one corpus at the same time.
class Corpus {
 public:
  /// Throws Error for a file that is missing, truncated, damaged, not a corpus or of another version. `poll` is called
  /// now and then while the digest is computed; an exception that it throws ends the reading.
  explicit Corpus(const std::filesystem::path& path, Verify verify = Verify::kDigest,
                  const std::function<void()>& poll = {});
  ~Corpus();
  Corpus(Corpus&&) noexcept;
  Corpus& operator=(Corpus&&) noexcept;

  const std::filesystem::path& path() const;
  const Vocabulary& source_vocabulary() const;
  const Vocabulary& target_vocabulary() const;
  bool joint_vocabulary() const;  // whether both vocabularies have the same words; their counts differ
  const TextPipeline& pipeline() const;
  const std::string& fingerprint() const;  // hash over vocabularies, counts and token data
  const Selection& selection() const;      // how the training pairs were selected
  std::uint64_t train_pairs() const;
  std::uint64_t train_source_words() const;  // without </s>
  std::uint64_t train_target_words() const;
  bool has_alignments() const;                 // whether training pairs have links between words
  bool has_weights() const;                    // whether training pairs have weights
  std::vector<std::string> set_names() const;  // "dev" and "test/NAME"

  /// Reads pairs [first, first + count) of the training part in bulk. REQUIRES: first + count <= train_pairs().
  PairBlock read_pairs(std::uint64_t first, std::uint64_t count) const;
  /// Reads only the lengths of these pairs, in words without </s>, which is cheaper: [source, target][pairs].
  std::array<std::vector<std::uint64_t>, 2> read_lengths(std::uint64_t first, std::uint64_t count) const;
  /// Throws Error, naming the existing sets, if there is no set of this name.
  EvaluationSet read_set(const std::string& name) const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace rnnsearch::corpus

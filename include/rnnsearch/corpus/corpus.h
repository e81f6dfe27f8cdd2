// Reads a prepared corpus (*.h5). The layout of the file is documented in corpus/format.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "rnnsearch/base/json.h"
#include "rnnsearch/base/sentences.h"
#include "rnnsearch/corpus/cleaning.h"
#include "rnnsearch/corpus/text_pipeline.h"
#include "rnnsearch/corpus/vocabulary.h"
#include "rnnsearch/storage/hdf5.h"

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

/// Where the file holds one side ("source", "target") of the training part or an evaluation set, or its "alignment".
struct SideData {
  std::string words_path, offset_path;
  std::uint64_t pairs = 0, words = 0;
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

  const std::filesystem::path& path() const { return path_; }
  const Vocabulary& source_vocabulary() const { return source_vocabulary_; }
  const Vocabulary& target_vocabulary() const { return target_vocabulary_; }
  /// Whether both vocabularies have the same words; their counts differ.
  bool joint_vocabulary() const { return joint_vocabulary_; }
  const TextPipeline& pipeline() const { return pipeline_; }
  const std::string& fingerprint() const { return fingerprint_; }  // hash over vocabularies, counts and token data
  const Selection& selection() const { return selection_; }        // how the training pairs were selected
  std::uint64_t train_pairs() const { return source_.pairs; }
  std::uint64_t train_source_words() const { return source_.words; }  // without </s>
  std::uint64_t train_target_words() const { return target_.words; }
  bool has_alignments() const { return alignment_.has_value(); }  // whether training pairs have links between words
  bool has_weights() const { return has_weights_; }               // whether training pairs have weights
  std::vector<std::string> set_names() const;                     // "dev" and "test/NAME"

  /// Reads pairs [first, first + count) of the training part in bulk. REQUIRES: first + count <= train_pairs().
  PairBlock read_pairs(std::uint64_t first, std::uint64_t count) const;
  /// Reads only the lengths of these pairs, in words without </s>, which is cheaper: [source, target][pairs].
  std::array<std::vector<std::uint64_t>, 2> read_lengths(std::uint64_t first, std::uint64_t count) const;
  /// Throws Error, naming the existing sets, if there is no set of this name.
  EvaluationSet read_set(const std::string& name) const;

 private:
  std::pair<SideData, SideData> inspect_pairs(const std::string& group) const;

  std::filesystem::path path_;
  storage::File file_;
  Vocabulary source_vocabulary_, target_vocabulary_;
  bool joint_vocabulary_ = false;
  TextPipeline pipeline_;
  std::string fingerprint_;
  Selection selection_;
  SideData source_, target_;  // of the training part
  std::optional<SideData> alignment_;
  bool has_weights_ = false;
};

/// Describes a corpus for people: adds pairs, words, lengths, unknown words, dropped pairs, sets, and the first `pairs`
/// training pairs as plain text.
void describe_corpus(const Corpus& corpus, std::size_t pairs, Json& json);

/// Prints that in columns, with bars. Members of `json` that are not of describe_corpus come first, each on a line.
/// Throws Error for a number that no corpus holds.
void print_corpus(const Json& json, std::ostream& out);

}  // namespace rnnsearch::corpus

// A prepared corpus (*.h5), read-only. The file's layout is drawn in corpus/format.h.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rnnsearch/base/sentences.h"
#include "rnnsearch/corpus/cleaning.h"
#include "rnnsearch/corpus/text_pipeline.h"
#include "rnnsearch/corpus/vocabulary.h"

namespace rnnsearch::corpus {

/// A development or test set, whole in memory.
struct EvaluationSet {
  std::string name;
  Sentences source, target;
  std::vector<std::string> source_text;              // raw lines
  std::vector<std::vector<std::string>> references;  // [k][pairs], raw lines: BLEU is always scored against these
};

/// Consecutive pairs of the training part.
struct PairBlock {
  Sentences source, target;
};

enum class Verify { kDigest, kSkip };  // the digest reads the whole file once: rank 0 does it, the others skip

/// Any threads may read one corpus together.
class Corpus {
 public:
  /// Throws Error, in one sentence, for a file that is missing, truncated, damaged, of another kind or of a newer
  /// version. `poll` is called now and then while the digest reads; what it throws ends the reading.
  explicit Corpus(const std::filesystem::path& path, Verify verify = Verify::kDigest,
                  const std::function<void()>& poll = {});
  ~Corpus();
  Corpus(Corpus&&) noexcept;
  Corpus& operator=(Corpus&&) noexcept;

  const std::filesystem::path& path() const;
  const Vocabulary& source_vocabulary() const;
  const Vocabulary& target_vocabulary() const;
  bool joint_vocabulary() const;  // the two are one, of the words of both sides, but for their counts
  const TextPipeline& pipeline() const;
  const std::string& fingerprint() const;  // hash over vocabularies, counts and token data
  const std::optional<Selection>& selection()
      const;  // how its training pairs were chosen; the first corpora do not say
  std::uint64_t train_pairs() const;
  std::uint64_t train_source_words() const;  // without </s>
  std::uint64_t train_target_words() const;
  std::vector<std::string> set_names() const;  // "dev", and "test/NAME" each

  /// Pairs [first, first + count) of the training part, across shards, by bulk reads. first + count <= train_pairs().
  PairBlock read_pairs(std::uint64_t first, std::uint64_t count) const;
  /// Their lengths alone, in words without </s>, which costs less: [source, target][pairs].
  std::array<std::vector<std::uint64_t>, 2> read_lengths(std::uint64_t first, std::uint64_t count) const;
  /// Throws Error naming the sets there are.
  EvaluationSet read_set(const std::string& name) const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace rnnsearch::corpus

// A corpus file on its way: the one place that writes the layout of corpus/format.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rnnsearch/base/sentences.h"
#include "rnnsearch/corpus/cleaning.h"
#include "rnnsearch/corpus/corpus.h"
#include "rnnsearch/corpus/text_pipeline.h"
#include "rnnsearch/corpus/vocabulary.h"
#include "rnnsearch/storage/digest.h"
#include "rnnsearch/storage/sealed_file.h"
#include "rnnsearch/text/word_list.h"

namespace rnnsearch::corpus {

/// words and offset of one side of a shard or of a set.
class SideWriter {
 public:
  SideWriter(storage::File& file, const std::string& group, const std::string& side);
  void add(std::span<const WordId> ids);
  void close();

 private:
  void add_offset();
  storage::Appender<WordId> words_;
  storage::Appender<std::uint64_t> offset_;
};

struct PairWriter {
  SideWriter source, target;
  PairWriter(storage::File& file, const std::string& group)
      : source(file, group, "source"), target(file, group, "target") {}
  void close() {
    source.close();
    target.close();
  }
};

/// Everything of a corpus but its sentences.
struct CorpusHead {
  Vocabulary source, target;
  bool joint = false;
  TextPipeline pipeline;
  Selection selection;
};

/// A development or test set as text.
struct RawSet {
  std::string name;                             // "dev", "test/NAME"
  std::vector<std::vector<std::string>> lines;  // [source, references...][pairs], raw
};

/// Nothing stands at `output` before publish(). Members in this order: add pairs, then sets, then publish.
class CorpusWriter {
 public:
  /// `head` outlives this.
  CorpusWriter(const std::filesystem::path& output, const CorpusHead& head, std::uint64_t shard_pairs);

  void add(std::span<const WordId> source, std::span<const WordId> target);
  /// All training pairs of a corpus with the same vocabularies.
  void add(const Corpus& corpus);
  void add_set(const RawSet& set);
  /// Returns the fingerprint. `check`: as for AtomicFile::publish.
  std::string publish(const std::function<void()>& check);

  std::uint64_t pairs() const { return pairs_; }
  std::uint64_t source_words() const { return source_.words; }
  std::uint64_t target_words() const { return target_.words; }

 private:
  struct Side {  // its sentences, however they are cut into shards
    storage::Digest digest;
    std::uint64_t words = 0;
    void add(std::span<const WordId> ids);
  };
  void close_shard();
  std::string fingerprint() const;

  const CorpusHead& head_;
  std::uint64_t shard_pairs_, pairs_ = 0;
  storage::SealedWriter writer_;
  std::optional<PairWriter> shard_;
  Side source_, target_;
};

std::vector<RawSet> sets_of(const Corpus& corpus);

/// Throws Error for a corpus that does not say how its pairs were chosen.
const Selection& selection_of(const Corpus& corpus);

/// The words of both, which are the same, and how often they are in one or the other.
Vocabulary add_counts(const Vocabulary& a, const Vocabulary& b);

/// Throws Error for a file that cannot be written, or may not be: it is there already, or it is one of `inputs`.
void check_output(const std::filesystem::path& output, bool overwrite,
                  const std::vector<std::filesystem::path>& inputs);

/// To be called when the output is about to be published. Throws Error where another process has written it since
/// check_output found that it is not there.
void check_still_absent(const std::filesystem::path& output);
/// The same for a corpus that is replaced by a longer one. digest: storage::sealed_digest of the corpus as it was read.
void check_still_the_same(const std::filesystem::path& corpus, const std::string& digest);

/// The ids of some words.
void encode(const text::WordList& words, const Vocabulary& vocabulary, std::vector<WordId>& ids);

}  // namespace rnnsearch::corpus

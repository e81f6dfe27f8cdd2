// Saves the intermediate results of prepare, so that after a kill the next run need not learn the subwords or count the
// words again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "corpus/corpus_writer.h"
#include "corpus/repeated_pairs.h"
#include "corpus/text_pass.h"
#include "rnnsearch/corpus/prepare.h"
#include "rnnsearch/corpus/text_pipeline.h"
#include "rnnsearch/storage/hdf5.h"

namespace rnnsearch::corpus {

/// Everything that the last pass needs besides the text itself.
struct CountedText {
  CorpusHead head;
  PassTotals totals;
  PrepareReport::Side source, target;
  PairSet repeated;
};

/// A sealed file ".OUTPUT.counted" beside the output. Its format differs from that of a corpus, so it cannot be
/// mistaken for one. The destructor removes it; only a process that is killed leaves it behind.
///
///   /             format="rnnsearch-counted", format_version=1, created_by, key: a digest over the options and the
///                 names, sizes and times of the files; text, pairs_read, pairs_kept,
///                 dropped_REASON: PassTotals; SIDE_words, SIDE_distinct, SIDE_unknown
///   /vocabulary, /pipeline, /selection     as in the corpus
///   /repeated     uint8: PairSet::bits
///
/// After subword training and before counting it holds only format and key, /pipeline and the models of /vocabulary.
class CountedFile {
 public:
  /// given: the corpus of options.vocabulary_of, or nullptr.
  CountedFile(const PrepareOptions& options, const Corpus* given);
  ~CountedFile();
  CountedFile(const CountedFile&) = delete;
  CountedFile& operator=(const CountedFile&) = delete;

  /// Returns options.pipeline with the learned subwords, or nothing in the same cases as read(). The cleaning options
  /// may differ, because they do not affect the subwords.
  std::optional<TextPipeline> read_learned(const PrepareOptions& options) const;
  void write_learned(const TextPipeline& pipeline) const;

  /// Returns nothing if there is no file, if it is damaged, or if it belongs to other options or to files that have
  /// changed since.
  std::optional<CountedText> read(const PrepareOptions& options) const;
  /// Replaces the file of write_learned; the subwords are part of `counted`. Throws Error if the disk is full.
  void write(const CountedText& counted) const;

 private:
  storage::File open() const;
  std::filesystem::path path_;
  std::string key_;
};

}  // namespace rnnsearch::corpus

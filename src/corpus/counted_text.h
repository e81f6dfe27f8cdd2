// What a prepare that was killed knew already: the next one need not learn subwords or count the words again.
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

/// All that writing the corpus needs to know of the text but the text itself.
struct CountedText {
  CorpusHead head;
  PassTotals totals;
  PrepareReport::Side source, target;
  PairSet repeated;
};

/// A sealed file ".OUTPUT.counted" beside the output, of a format of its own: nothing takes it for a corpus. It ends
/// with this object, however that comes; only a process that is killed leaves it behind.
///
///   /             format="rnnsearch-counted", format_version=1, created_by, key: a digest over files, their sizes and
///                 times, and options; text, pairs_read, pairs_kept,
///                 dropped_REASON: PassTotals; SIDE_words, SIDE_distinct, SIDE_unknown
///   /vocabulary, /pipeline, /selection     as in the corpus
///   /repeated     uint8: PairSet::bits
///
/// When subwords were learned and nothing is counted yet: format and key, /pipeline and the models of /vocabulary
/// alone.
class CountedFile {
 public:
  /// given: the corpus of options.vocabulary_of or options.append_to, if any.
  CountedFile(const PrepareOptions& options, const Corpus* given);
  ~CountedFile();
  CountedFile(const CountedFile&) = delete;
  CountedFile& operator=(const CountedFile&) = delete;

  /// options.pipeline with the subwords that were learned; nothing as below. Cleaning has no part in them.
  std::optional<TextPipeline> read_learned(const PrepareOptions& options) const;
  void write_learned(const TextPipeline& pipeline) const;

  /// Nothing if there is none, or not of these files as they are now and these options, or damaged.
  std::optional<CountedText> read(const PrepareOptions& options) const;
  /// In place of what was learned, which is in it too. Throws Error for a disk that is full.
  void write(const CountedText& counted) const;

 private:
  storage::File open() const;
  std::filesystem::path path_;
  std::string key_;
};

}  // namespace rnnsearch::corpus

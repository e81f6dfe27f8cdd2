// Writes corpus files. No other file writes the layout of corpus/format.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "corpus/prepare/repeated_pairs.h"
#include "rnnsearch/base/sentences.h"
#include "rnnsearch/corpus/cleaning.h"
#include "rnnsearch/corpus/corpus.h"
#include "rnnsearch/corpus/text_pipeline.h"
#include "rnnsearch/corpus/vocabulary.h"
#include "rnnsearch/storage/sealed_file.h"
#include "rnnsearch/text/word_list.h"

namespace rnnsearch::corpus {

/// Writes SIDE_words and SIDE_offset of the training part; the words of "alignment" are positions.
class SideWriter {
 public:
  SideWriter(storage::File& file, const std::string& side, std::uint64_t pairs, std::uint64_t words);
  bool has_room(std::span<const WordId> ids) const { return offset_.room() > 0 && ids.size() <= words_.room(); }
  /// REQUIRES: has_room(ids).
  void add(std::span<const WordId> ids);
  void flush();
  /// Sentences [first, first + count) after flush().
  Sentences read(std::uint64_t first, std::uint64_t count) const;
  const storage::Digest& digest() const { return digest_; }

 private:
  const storage::File& file_;
  std::string side_;
  storage::ListWriter<WordId> words_;
  storage::ListWriter<std::uint64_t> offset_;
  std::uint64_t end_ = 0;
  storage::Digest digest_;
};

/// The content of a corpus without its sentences.
struct CorpusHead {
  Vocabulary source, target;
  bool joint = false;
  TextPipeline pipeline;
  Selection selection;
  struct Sizes {  // of the training part; `links`: positions of all links, if pairs have links
    std::uint64_t pairs = 0, source_words = 0, target_words = 0;
    std::optional<std::uint64_t> links;
    bool weights = false;  // pairs have weights
  } sizes;
};

/// A development or test set as text.
struct RawSet {
  std::string name;                             // "dev", "test/NAME"
  std::vector<std::vector<std::string>> lines;  // [source, references...][pairs], raw
  friend bool operator==(const RawSet&, const RawSet&) = default;
};

/// Writes a corpus, which appears at `output` only with publish(). Add all pairs first, then the sets, then publish.
class CorpusWriter {
 public:
  CorpusWriter(const std::filesystem::path& output, CorpusHead head);

  /// links: positions as read_links gives them. Returns false if there are more pairs or words than `head` says.
  bool add(std::span<const WordId> source, std::span<const WordId> target, std::span<const std::uint32_t> links = {},
           float weight = 1);
  /// Learns the links of all pairs, which `head` has none of. Call it when all pairs are added. Returns the head of
  /// the pairs whose likelihood ratio (corpus/aligner.h) is at least `least`, which copy_likely then copies; if `least`
  /// is 0, all pairs have their links now. Throws Error if the temporary file for the links does not fit into
  /// `folder`.
  CorpusHead learn_links(const std::filesystem::path& folder, double least);
  /// Adds these pairs, with their links, to an empty writer.
  void copy_likely(CorpusWriter& to);
  void add_set(const RawSet& set);
  /// Completes the file and returns the fingerprint. `check`: see AtomicFile::publish.
  std::string publish(const std::function<void()>& check);

  /// Of what was added so far.
  std::string fingerprint() const;

 private:
  bool read_learned(std::vector<std::uint32_t>& links);  // returns false if the next pair is unlikely

  const CorpusHead head_;
  storage::SealedWriter writer_;
  SideWriter source_, target_;
  std::optional<SideWriter> links_;
  std::optional<TemporaryFile> learned_;  // for each pair the number of positions, or kUnlikely, and the positions
  std::optional<storage::ListWriter<float>> weights_;
  storage::Digest weights_digest_;
};

std::vector<RawSet> sets_of(const Corpus& corpus);

/// Throws Error if the output cannot be written or is one of `inputs`.
void check_output(const std::filesystem::path& output, bool overwrite,
                  const std::vector<std::filesystem::path>& inputs);

/// Whether a corpus of this content exists already. Throws Error, with what differs, if something else does. If
/// `fingerprint` is empty, the text is yet to be read, and only the options and sets are compared.
bool is_there(const std::filesystem::path& output, const CorpusHead& head, const std::vector<RawSet>& sets,
              const std::string& fingerprint);

/// Call it just before publishing. Throws Error if another process has written the output since check_output found that
/// it does not exist.
void check_still_absent(const std::filesystem::path& output);

/// Replaces `ids` by the ids of the words.
void encode(const text::WordList& words, const Vocabulary& vocabulary, std::vector<WordId>& ids);

}  // namespace rnnsearch::corpus

// The layout of a corpus file. It is a contract: people read corpora with h5py, and later versions of this program must
// be able to read them. A corpus is a sealed file (storage/sealed_file.h) that `prepare` writes and nothing changes
// afterwards.
//
// text[n] is a group of two datasets: bytes, uint8[], UTF-8, and offset, uint64[n+1]: text i is bytes [offset[i],
// offset[i+1]). All datasets are contiguous, without filters, so that no chunk, filter or reference of a file from an
// untrusted source has to be checked; compression would make corpora 0.42 times as large. Texts in attributes have a
// fixed length. data/README.md reads a corpus in Python.
//
//   /                        format="rnnsearch-corpus", format_version=5, created_by, source_language,
//                            target_language, fingerprint: XXH3-128 over vocabularies, counts, pipeline and the words
//                            of /train; checkpoints record it
//   /vocabulary/source       text[Kx]       index = id; 0 <unk>, 1 <s>, 2 </s>, then by falling frequency
//   /vocabulary/target       text[Ky]
//   /vocabulary/source_count uint64[Kx]     occurrences in /train; <unk> counts all words that are not in the
//   /vocabulary/target_count uint64[Ky]     vocabulary, <s> is 0, and </s> is the number of sentences
//   /vocabulary              joint=1 if both sides have the same words, sorted by falling frequency in both sides
//                            together; each side still has its own counts. Missing: each side has its own words
//   /vocabulary/source_model uint8[]        with subwords: the model file of SentencePiece or subword-nmt;
//   /vocabulary/target_model                the words of the vocabulary are its pieces
//   /pipeline                tokenizer, lowercase (0 or 1): how text is split into words (corpus/text_pipeline.h);
//                            normalization: "none", "nfc" or "nfkc";
//                            copy_patterns: regular expressions of RE2, one per line, of the text for which the words
//                            <copy1>, <copy2> ... stand (text/placeholders.h); missing: there are none;
//                            subwords: "sentencepiece" or "bpe-codes"; missing: words are not split;
//                            libraries: versions of the libraries that split the text, such as "ICU 72.1", where the
//                            version matters (libraries_of), otherwise empty
//   /selection               how training pairs were selected (corpus/cleaning.h): the options max_length, max_ratio,
//                            keep_empty_targets (only if set; targets in /train may then be empty), drop_copies,
//                            drop_repeated, drop_unlikely (only if set), source_script, target_script, script_share;
//                            the counts pairs_read and dropped_REASON, uint64
//   /train
//      source_words          uint32[words]    ids without </s>
//      source_offset         uint64[pairs+1]  words of pair i are [offset[i], offset[i+1])
//      target_words, target_offset
//      alignment_words       uint32[]         only if the text had word alignments: each link is the position of a
//                                             source word and that of a target word, from 0. Readers that do not know
//                                             them read the same pairs; they are part of the fingerprint
//      alignment_offset      uint64[pairs+1]  the links of pair i are [offset[i], offset[i+1])
//      weights               float32[pairs]   only if the text had weights: finite, at least 0; training multiplies the
//                                             gradient of pair i by weight i. They are part of the fingerprint
//   /dev, /test/NAME         as /train without alignments and weights, where the target is the first reference, and in
//                            addition:
//      source_text           text[pairs]      raw lines
//      reference_text        text[pairs]      raw lines; further references are reference_text_1, reference_text_2, ...
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "rnnsearch/corpus/cleaning.h"
#include "rnnsearch/corpus/text_pipeline.h"
#include "rnnsearch/corpus/vocabulary.h"
#include "rnnsearch/storage/hdf5.h"

namespace rnnsearch::corpus {

inline constexpr const char* kCorpusFormat = "rnnsearch-corpus";
inline constexpr const char* kJoint = "joint";  // attribute of /vocabulary
inline constexpr const char* kWeights = "/train/weights";

/// Writes /vocabulary/SIDE and /vocabulary/SIDE_count; side is "source" or "target". Checkpoints use it too.
void write_vocabulary(storage::File& file, const std::string& side, const Vocabulary& vocabulary);
/// Throws Error, naming the file, if it is not a valid vocabulary.
Vocabulary read_vocabulary(const storage::File& file, const std::string& side);

/// Writes /pipeline, the subword models and the language attributes of "/", in a corpus and in a checkpoint.
void write_pipeline(storage::File& file, const TextPipeline& pipeline);
TextPipeline read_pipeline(const storage::File& file);

/// Writes and reads /selection.
void write_selection(storage::File& file, const Selection& selection);
Selection read_selection(const storage::File& file);
/// Throws Error, naming the file, if `text` is not a line of valid UTF-8. A file may hold any bytes.
void check_text(const storage::File& file, const std::string& location, std::string_view text);

/// "reference_text", "reference_text_1", ...
std::string reference_name(std::size_t k);

}  // namespace rnnsearch::corpus

// The layout of a corpus file, a contract: people read it with h5py, and later versions must read it. It is a sealed
// file (storage/sealed_file.h), written by `prepare` and read-only afterwards.
//
//   /                        format="rnnsearch-corpus", format_version=1 (2 with subwords or normalization),
//   created_by, source_language, target_language,
//                            fingerprint: XXH3-128 over vocabularies, counts, pipeline and the words of /train, however
//                            they are cut into shards; a checkpoint remembers it
//   /vocabulary/source       string[Kx]     index = id; 0 <unk>, 1 <s>, 2 </s>, then by falling frequency
//   /vocabulary/target       string[Ky]
//   /vocabulary/source_count uint64[Kx]     in /train: <unk> all words that are not in the vocabulary, <s> 0, </s> one
//   /vocabulary/target_count uint64[Ky]     a sentence
//   /vocabulary              joint=1 if both sides have the same words, by falling frequency in both together; each
//   side
//                            has its own counts nevertheless. Not there: each side has words of its own
//   /vocabulary/source_model uint8[]        with subwords: the file of their model, of SentencePiece or subword-nmt;
//   /vocabulary/target_model                the words of the vocabulary are its pieces
//   /pipeline                tokenizer, lowercase (0 or 1): how text became words (corpus/text_pipeline.h);
//                            normalization: "nfc" or "nfkc"; not there: characters are as they are
//                            subwords: "sentencepiece" or "bpe-codes"; not there: words are whole
//   /selection               how training pairs were chosen (corpus/cleaning.h): the options max_length, max_ratio,
//                            keep_empty_targets (only where it is set: targets in /train may then be empty),
//                            drop_copies, drop_repeated, source_script, target_script, script_share; pairs_read, and
//                            dropped_REASON each, uint64. Not there in the first corpora
//   /train/00000             a shard, at most `shard_pairs` pairs; /train/00001 and so on follow
//      source_words          uint32[words]    ids without </s>
//      source_offset         uint64[pairs+1]  words of pair i are [offset[i], offset[i+1])
//      target_words, target_offset
//   /dev, /test/NAME         as a shard (the target is the first reference), and
//      source_text           string[pairs]    raw lines
//      reference_text        string[pairs]    raw lines; further references are reference_text_1, reference_text_2, ...
//
// All *_words and *_offset are compressed, chunk by chunk: shuffle, deflate level 1, Fletcher-32. Measured twice on a
// million pairs of 21 and 24 words, two cores: 0.35 of the size, and so of what a slow or remote file system must carry
// for a window of the batch sequence, for 4 to 6 times the processor's time to read one (0.08 s for 65,536 pairs, on a
// thread beside minutes of training) and 5 to 6 times that to write (1.5 s for the million). Level 6 made it 3% smaller
// in 2 to 3 times the time; chunks twice as large took 1.4 times as long to read; half as large, without compression,
// they were within the noise. Debian's HDF5 has no Zstandard. Files without compression read the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rnnsearch/corpus/cleaning.h"
#include "rnnsearch/corpus/text_pipeline.h"
#include "rnnsearch/corpus/vocabulary.h"
#include "rnnsearch/storage/hdf5.h"

namespace rnnsearch::corpus {

inline constexpr const char* kCorpusFormat = "rnnsearch-corpus";
/// The last version of the format that is read here. What is written is the first that can say it.
inline constexpr std::int64_t kCorpusVersion = 2;
inline constexpr const char* kJoint = "joint";                               // of /vocabulary
inline constexpr std::size_t kWordsChunk = 1 << 14, kOffsetChunk = 1 << 11;  // elements

/// /vocabulary/SIDE and /vocabulary/SIDE_count; side is "source" or "target". A checkpoint holds them in the same
/// place.
void write_vocabulary(storage::File& file, const std::string& side, const Vocabulary& vocabulary);
/// Throws Error naming the file when it is no vocabulary.
Vocabulary read_vocabulary(const storage::File& file, const std::string& side);

/// Of the format, that can say how text becomes words.
std::int64_t version_of(const TextPipeline& pipeline);
/// /pipeline, the models of subwords and the languages of "/", in a corpus and in a checkpoint.
void write_pipeline(storage::File& file, const TextPipeline& pipeline);
TextPipeline read_pipeline(const storage::File& file);

/// /selection
void write_selection(storage::File& file, const Selection& selection);
std::optional<Selection> read_selection(const storage::File& file);
/// Throws Error naming the file for what is no line of UTF-8: HDF5 holds any bytes.
void check_text(const storage::File& file, const std::string& place, std::string_view text);

/// "/train/00042"
std::string shard_path(std::uint64_t shard);
/// "reference_text", "reference_text_1", ...
std::string reference_name(std::size_t k);

}  // namespace rnnsearch::corpus

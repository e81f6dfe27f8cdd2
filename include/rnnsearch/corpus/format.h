// The layout of a corpus file, a contract: people read it with h5py, and later versions must read it. It is a sealed
// file (storage/sealed_file.h), written by `prepare` and read-only afterwards.
//
//   /                        format="rnnsearch-corpus", format_version=1, created_by, source_language, target_language,
//                            fingerprint: XXH3-128 over vocabularies, counts, pipeline and the words of /train, however
//                            they are cut into shards; a checkpoint remembers it
//   /vocabulary/source       string[Kx]     index = id; 0 <unk>, 1 <s>, 2 </s>, then by falling frequency
//   /vocabulary/target       string[Ky]
//   /vocabulary/source_count uint64[Kx]     in /train: <unk> all words that are not in the vocabulary, <s> 0, </s> one
//   /vocabulary/target_count uint64[Ky]     a sentence
//   /pipeline                tokenizer, lowercase (0 or 1): how text became words (corpus/text_pipeline.h)
//   /train/00000             a shard, at most `shard_pairs` pairs; /train/00001 and so on follow
//      source_words          uint32[words]    ids without </s>
//      source_offset         uint64[pairs+1]  words of pair i are [offset[i], offset[i+1])
//      target_words, target_offset
//   /dev, /test/NAME         as a shard (the target is the first reference), and
//      source_text           string[pairs]    raw lines
//      reference_text        string[pairs]    raw lines; further references are reference_text_1, reference_text_2, ...
#pragma once

#include <cstdint>
#include <string>

#include "rnnsearch/corpus/text_pipeline.h"
#include "rnnsearch/corpus/vocabulary.h"
#include "rnnsearch/storage/hdf5.h"

namespace rnnsearch::corpus {

inline constexpr const char* kCorpusFormat = "rnnsearch-corpus";
inline constexpr std::int64_t kCorpusVersion = 1;

/// /vocabulary/SIDE and /vocabulary/SIDE_count; side is "source" or "target". A checkpoint holds them in the same
/// place.
void write_vocabulary(storage::File& file, const std::string& side, const Vocabulary& vocabulary);
/// Throws Error naming the file when it is no vocabulary.
Vocabulary read_vocabulary(const storage::File& file, const std::string& side);

/// /pipeline and the languages of "/", in a corpus and in a checkpoint.
void write_pipeline(storage::File& file, const TextPipeline& pipeline);
TextPipeline read_pipeline(const storage::File& file);

/// "/train/00042"
std::string shard_path(std::uint64_t shard);
/// "reference_text", "reference_text_1", ...
std::string reference_name(std::size_t k);

}  // namespace rnnsearch::corpus

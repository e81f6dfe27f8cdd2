// Small corpora and what the tests of this module share.
#pragma once

#include "rnnsearch/base/portable.h"
#include "rnnsearch/corpus/batches.h"
#include "rnnsearch/corpus/format.h"
#include "rnnsearch/corpus/prepare.h"
#include "rnnsearch/storage/sealed_file.h"
#include "tests/support/test.h"

namespace rnnsearch::corpus {

using Prepare = ScratchTest;

inline PrepareOptions text_options(const Scratch& scratch, const std::string& source, const std::string& target) {
  PrepareOptions options;
  options.train = {{write_text(scratch / "train.src", source), write_text(scratch / "train.tgt", target)}};
  options.output = scratch / "corpus.h5";
  options.pipeline.tokenizer = "none";
  return options;
}

inline std::string words_of(std::span<const WordId> ids, const Vocabulary& vocabulary) {
  std::string text;
  for (const WordId id : ids) text += (text.empty() ? "" : " ") + vocabulary.word(id);
  return text;
}

/// A pool of three batches, and windows of seven blocks, so that small corpora have several of each.
inline BatchOptions small_options() {
  BatchOptions options;
  options.batch_sentences = 8;
  options.pool_batches = 3;
  options.block_pairs = 10;
  options.window_blocks = 7;
  return options;
}

/// Options for `pairs` pairs of up to 12 random words; the first source word of pair i is "pI", so that pairs can be
/// told apart by it. Every word is in the vocabulary.
inline PrepareOptions tiny_options(const Scratch& scratch, std::size_t pairs, std::uint64_t seed = 1,
                                   bool joint = false) {
  Random random(seed);
  std::string source, target;
  for (std::size_t i = 0; i < pairs; ++i) {
    source += "p" + std::to_string(i);
    for (std::uint64_t k = random.below(12); k > 0; --k) source += " s" + std::to_string(random.below(20));
    source += "\n";
    target += "t";
    for (std::uint64_t k = random.below(12); k > 0; --k) target += " t" + std::to_string(random.below(20));
    target += "\n";
  }
  PrepareOptions options = text_options(scratch, source, target);
  options.joint_vocabulary = joint;
  return options;
}

/// The words of the longer side of each pair.
inline std::vector<std::size_t> lengths_of(const BatchSlice& slice) {
  std::vector<std::size_t> lengths;
  for (std::size_t i = 0; i < slice.source.size(); ++i)
    lengths.push_back(std::max(slice.source.length(i), slice.target.length(i)));
  return lengths;
}

/// Writes a sealed corpus whose vocabularies and pairs `write` writes.
inline void write_corpus(const std::filesystem::path& path, const std::function<void(storage::File&)>& write) {
  storage::SealedWriter writer(path);
  storage::write_format(writer.file(), kCorpusFormat);
  writer.file().write_attribute("/", "fingerprint", "0");
  write_pipeline(writer.file(), {});
  write_selection(writer.file(), {});
  write(writer.file());
  writer.publish();
}

/// Writes some links for each pair of these files, and returns the name of the file: of pair i links that can be told
/// from those of other pairs of such lengths, and every seventh pair has none.
inline std::filesystem::path write_links(const std::filesystem::path& path, const TextFiles& files) {
  std::ifstream source(files.source), target(files.target);
  std::string text;
  const auto words = [](const std::string& line) {
    return static_cast<std::size_t>(std::count(line.begin(), line.end(), ' ')) + 1;
  };
  std::string x, y;
  for (std::size_t i = 0; std::getline(source, x) && std::getline(target, y); ++i) {
    for (std::size_t k = 0; k < i % 7; ++k)
      text += (k > 0 ? " " : "") + std::to_string((i + k) % words(x)) + "-" + std::to_string((i + 3 * k) % words(y));
    text += "\n";
  }
  return write_text(path, text);
}

}  // namespace rnnsearch::corpus

#include "corpus/prepare/training_text.h"

#include <string>
#include <utility>

#include "rnnsearch/base/error.h"
#include "rnnsearch/corpus/links.h"

namespace rnnsearch::corpus {

void split_pairs(const TextPipeline& pipeline, const PairCleaner& cleaner, const PairSet& repeated,
                 const TextBlock& block, std::size_t first, std::size_t last, Piece& piece) {
  for (Piece::Side* side : {&piece.source, &piece.target}) {
    side->words.clear();
    side->sizes.clear();
  }
  piece.dropped = {};
  piece.links.sizes.clear();
  piece.links.positions.clear();
  text::WordList source, target;
  for (std::size_t i = first; i < last; ++i) {
    check_pair(block, i);
    source.clear();
    target.clear();
    if (pipeline.copies) {
      std::string source_line(block.source[i]), target_line(block.target[i]);
      pipeline.replace_copies(source_line, target_line);
      pipeline.to_words(source_line, Side::kSource, source);
      pipeline.to_words(target_line, Side::kTarget, target);
    } else {
      pipeline.to_words(block.source[i], Side::kSource, source);
      pipeline.to_words(block.target[i], Side::kTarget, target);
    }
    auto reason = cleaner.reason(block.source[i], source, block.target[i], target);
    if (!reason && repeated.contains(block.first_pair + i)) reason = Drop::kRepeated;
    if (reason) {
      ++piece.dropped[*reason];
      continue;
    }
    for (const auto& [words, side] : {std::pair{&source, &piece.source}, {&target, &piece.target}}) {
      for (std::size_t k = 0; k < words->size(); ++k) side->words.add((*words)[k]);
      side->sizes.push_back(static_cast<std::uint32_t>(words->size()));
    }
    if (block.alignments.ends.empty()) continue;
    const std::size_t before = piece.links.positions.size();
    const std::string wrong = read_links(block.alignments[i], source.size(), target.size(), piece.links.positions);
    if (!wrong.empty())
      throw Error(
          "corpus: {} line {}: {}; links are between the words of a pair as --tokenizer splits them, such as 0-0 1-2",
          block.alignments.path, block.first_line + i, wrong);
    piece.links.sizes.push_back(static_cast<std::uint32_t>(piece.links.positions.size() - before));
  }
}

}  // namespace rnnsearch::corpus

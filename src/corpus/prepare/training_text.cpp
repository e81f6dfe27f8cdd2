#include "corpus/prepare/training_text.h"

#include <limits>
#include <string>
#include <utility>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/option.h"
#include "rnnsearch/base/printable.h"
#include "rnnsearch/corpus/links.h"

namespace rnnsearch::corpus {
namespace {

/// The weight of a pair; 1 if the text has none.
float weight_of(const TextBlock& block, std::size_t pair) {
  if (block.weights.ends.empty()) return 1;
  double weight = 0;
  const bool is_number = value::read(std::string(block.weights[pair]), weight);
  if (!is_number || !(weight >= 0 && weight <= std::numeric_limits<float>::max()))
    throw Error("corpus: {} line {}: '{}' is not a weight; each line must hold one number from 0 to {:g}, such as 0.5",
                block.weights.path, block.first_line + pair, printable(block.weights[pair]),
                std::numeric_limits<float>::max());
  return static_cast<float>(weight);
}

}  // namespace

void split_pairs(const PrepareOptions& options, const PairCleaner& cleaner, const PairSet& repeated,
                 const TextBlock& block, std::size_t first, std::size_t last, Piece& piece) {
  const TextPipeline& pipeline = options.pipeline;
  for (Piece::Side* side : {&piece.source, &piece.target}) {
    side->words.clear();
    side->sizes.clear();
  }
  piece.dropped = {};
  piece.links.sizes.clear();
  piece.links.positions.clear();
  piece.weights.clear();
  const bool of_words = options.alignments_of == "words";
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
    const float weight = weight_of(block, i);
    if (reason) {
      ++piece.dropped[*reason];
      continue;
    }
    for (const auto& [words, side] : {std::pair{&source, &piece.source}, {&target, &piece.target}}) {
      for (std::size_t k = 0; k < words->size(); ++k) side->words.add((*words)[k]);
      side->sizes.push_back(static_cast<std::uint32_t>(words->size()));
    }
    piece.weights.push_back(weight);
    if (block.alignments.ends.empty()) continue;
    const std::size_t before = piece.links.positions.size();
    const auto pieces = [&](std::string_view line, Side side, const text::WordList& words) {
      return of_words && pipeline.source_subwords ? pipeline.pieces_of_words(line, side, words)
                                                  : whole_words(words.size());
    };
    const std::string wrong = read_links(block.alignments[i], pieces(block.source[i], Side::kSource, source),
                                         pieces(block.target[i], Side::kTarget, target), piece.links.positions);
    if (!wrong.empty())
      throw Error("corpus: {} line {}: {}; with --alignments-of {}, links such as 0-0 1-2 are between {}",
                  block.alignments.path, block.first_line + i, wrong, options.alignments_of,
                  of_words ? "the words into which --tokenizer splits a pair" : "the subwords of a pair");
    piece.links.sizes.push_back(static_cast<std::uint32_t>(piece.links.positions.size() - before));
  }
}

}  // namespace rnnsearch::corpus

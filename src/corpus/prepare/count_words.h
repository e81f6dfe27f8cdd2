// The passes over the training text that find its repeated pairs and count its words.
#pragma once

#include "corpus/prepare/corpus_writer.h"
#include "corpus/prepare/pair_cleaner.h"
#include "corpus/prepare/repeated_pairs.h"
#include "corpus/prepare/training_text.h"
#include "rnnsearch/corpus/corpus.h"

namespace rnnsearch::corpus {

/// Everything that the last pass needs besides the text itself.
struct CountedText {
  CorpusHead head;
  PassTotals totals;
  PrepareReport::Side source, target;
  PairSet repeated;
};

/// Finds the repeated pairs, if these are dropped, then counts the words and makes the vocabularies. given: the corpus
/// whose words are used, or nullptr. Throws Error: the text changed while it was read, none of its pairs is kept, or
/// the disk is full.
CountedText count_words(const TrainingText& text, const PairCleaner& cleaner, const Corpus* given);

}  // namespace rnnsearch::corpus

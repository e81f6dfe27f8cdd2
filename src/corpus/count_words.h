// The passes over the training text that find its repeated pairs and count its words.
#pragma once

#include "corpus/counted_text.h"
#include "corpus/pair_cleaner.h"
#include "corpus/training_text.h"
#include "rnnsearch/corpus/corpus.h"

namespace rnnsearch::corpus {

/// COLLECTIVE. Finds the repeated pairs, if these are dropped, then counts the words and makes the vocabularies.
/// given: the corpus whose words are used, or nullptr; it is read at rank 0 only. Only the
/// result of rank 0 is complete. Throws Error on every rank: the text changed while it was read, none of its pairs is
/// kept, or the disk is full.
CountedText count_words(const TrainingText& text, const PairCleaner& cleaner, const Corpus* given);

}  // namespace rnnsearch::corpus

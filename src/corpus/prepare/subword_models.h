// The subword models of prepare: read from files, or learned from a sample of the training text.
#pragma once

#include <functional>

#include "rnnsearch/corpus/prepare.h"
#include "rnnsearch/corpus/text_pipeline.h"
#include "rnnsearch/corpus/vocabulary.h"

namespace rnnsearch::corpus {

/// Throws Error for contradictory subword options.
void check_subwords(const PrepareOptions& options);

/// Returns options.pipeline with the subwords that the options request. Memory: the sample and SentencePiece's own data
/// (1.8 GB for 500,000 pairs of about 11 words on each side, learned jointly). Throws Error, naming the file or the
/// option, for models that cannot be read, used or learned.
TextPipeline with_subwords(const PrepareOptions& options, const std::function<void(const PrepareProgress&)>& progress);

/// A vocabulary of all pieces of a SentencePiece model, without counts.
Vocabulary vocabulary_of(const text::Subwords& subwords);

}  // namespace rnnsearch::corpus

// The models of subwords that prepare works with: read from files, or learned from a sample of the training text.
#pragma once

#include <functional>

#include "rnnsearch/corpus/prepare.h"
#include "rnnsearch/corpus/text_pipeline.h"
#include "rnnsearch/corpus/vocabulary.h"

namespace rnnsearch::corpus {

/// Throws Error for options that do not fit each other.
void check_subwords(const PrepareOptions& options);

/// options.pipeline with the subwords that the options ask for. Memory: the sample, and what SentencePiece makes of it
/// (1.8 GB for 500,000 pairs of some 11 words a side, learned jointly).
/// Throws Error naming the file, or the option, for models that cannot be read, used or learned.
TextPipeline with_subwords(const PrepareOptions& options, const std::function<void(const PrepareProgress&)>& progress);

/// All pieces of SentencePiece's model; uncounted.
Vocabulary vocabulary_of(const text::Subwords& subwords);

}  // namespace rnnsearch::corpus

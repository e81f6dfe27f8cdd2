// Transfer: a training that begins with the parameters of another one (fine-tuning), whose vocabularies may differ.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "rnnsearch/corpus/corpus.h"
#include "rnnsearch/model/model.h"
#include "rnnsearch/train/optimizer.h"
#include "rnnsearch/train/options.h"

namespace rnnsearch::train {

/// How many words of a new vocabulary the other one has, too.
struct Match {
  std::size_t words = 0, found = 0;  // `words` of the new vocabulary, `found` of them in the other one as well
  std::size_t other_words = 0;
};

struct Transferred {
  std::filesystem::path checkpoint;
  std::uint64_t update = 0;  // of the checkpoint
  Match source, target;
  /// How the text of the two was split otherwise: "tokenizer moses then and words now"; empty if it was not.
  std::string other_text;
};

/// Copies the parameters of a checkpoint into `model`, which is initialised for the vocabularies of `corpus`: rows and
/// columns of words that both vocabularies have, and everything that belongs to no word; the rest stays as it was
/// initialised. Takes the moving average of the parameters if the checkpoint holds one. With `optimizer`, its
/// accumulators and steps are copied as well, and what belongs to new words stays 0. `initial` is a run directory
/// (checkpoint_of) or a checkpoint. Throws Error, naming the option and both values, when the two models have different
/// options other than those of the vocabularies, of dropout and of the initialisation; with `optimizer`, when the
/// checkpoint was made by another one or holds no state of it.
Transferred transfer(const std::filesystem::path& initial, const corpus::Corpus& corpus, const TrainOptions& options,
                     model::Model& model, Optimizer* optimizer = nullptr);

}  // namespace rnnsearch::train

// The dropout masks of a network, by kind of dropout, kind of activations and row of the batch:
//   plain         drops the non-recurrent inputs of cells and the vector of the readout, with a new mask at each time
//                 step (Zaremba, Sutskever and Vinyals 2014)
//   variational   drops the same and h_{t-1}, with one mask for all steps of a sentence (Gal and Ghahramani 2016)
// Attention weights have a dropout share of their own and a new mask at each step. So have whole words, of which all
// units are dropped together:
//   plain         each position of a sentence for itself (Nematus, rnn_dropout_source and rnn_dropout_target)
//   variational   all occurrences of a word in a sentence together (Gal and Ghahramani 2016, section 4.2)
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rnnsearch/kernels/dropout.h"
#include "rnnsearch/layers/recurrent_layer.h"
#include "rnnsearch/model/model.h"

namespace rnnsearch::model {

enum class Activations : std::uint64_t {
  kSourceWord = 1,
  kEncoderOutput,  // output of a layer that is the input of the next layer
  kEncoderState,
  kTargetWord,
  kDecoderOutput,
  kDecoderState,
  kReadout,  // the vector before the softmax
  kAttention,
  kWholeSourceWord,
  kWholeTargetWord
};

class Dropout {
 public:
  explicit Dropout(const ModelOptions& options) : options_(options) {}

  /// Turns dropout on, with this seed, from construction to destruction.
  class Batch {
   public:
    Batch(Dropout& dropout, const DropoutSeed& seed) : dropout_(dropout) {
      dropout_.seed_ = seed;
      dropout_.draws_ = true;
    }
    ~Batch() { dropout_.draws_ = false; }
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;

   private:
    Dropout& dropout_;
  };

  /// Sets the rows of the batch, whose pairs are in the caller's order. Call it whenever the batch changes.
  void lay_out_source(const layers::Packing& packing) { lay_out(packing, source_); }
  void lay_out_target(const layers::Packing& packing) { lay_out(packing, target_); }

  /// The mask for all packed rows of the side of these activations. number: of a layer or direction. later: is added
  /// to the time steps.
  kernels::DropoutMask mask(Activations activations, std::uint64_t number = 0, std::uint32_t later = 0) const;
  /// The mask for kernels::drop_rows of kWholeSourceWord or kWholeTargetWord. words: of the packed rows; they must
  /// outlive the mask.
  kernels::DropoutMask mask_of_words(Activations activations, std::span<const WordId> words,
                                     std::uint32_t later = 0) const;

 private:
  struct Rows {
    std::vector<std::uint64_t> sentences;
    std::vector<std::uint32_t> steps;
  };
  void lay_out(const layers::Packing& packing, Rows& rows) const;
  kernels::DropoutMask mask_of(const Ramp& ramp, Activations activations, std::uint64_t number) const;

  const ModelOptions& options_;
  DropoutSeed seed_;
  bool draws_ = false;
  Rows source_, target_;
};

}  // namespace rnnsearch::model

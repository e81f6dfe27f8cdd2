// The dropout masks of a network, by kind of dropout, place and row of the batch:
//   plain         drops the non-recurrent inputs of cells and the vector of the readout, with a new mask at each time
//                 step (Zaremba, Sutskever and Vinyals 2014)
//   variational   drops the same and h_{t-1}, with one mask for all steps of a sentence (Gal and Ghahramani 2016)
// Attention weights have a dropout share of their own and a new mask at each step.
#pragma once

#include <cstdint>
#include <vector>

#include "rnnsearch/kernels/dropout.h"
#include "rnnsearch/layers/packing.h"
#include "rnnsearch/model/model.h"

namespace rnnsearch::model {

enum class Place : std::uint64_t {
  kSourceWord = 1,
  kEncoderOutput,  // output of a layer that is the input of the next layer
  kEncoderState,
  kTargetWord,
  kDecoderOutput,
  kDecoderState,
  kReadout,  // the vector before the softmax
  kAttention
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
  void lay_out_source(const layers::Packing& packing);
  void lay_out_target(const layers::Packing& packing);

  /// The mask for all packed rows of the side of this place. number: of a layer or direction. later: is added to the
  /// time steps.
  kernels::DropoutMask mask(Place place, std::uint64_t number = 0, std::uint32_t later = 0) const;

 private:
  struct Rows {
    std::vector<std::uint64_t> sentences;
    std::vector<std::uint32_t> steps;
  };
  void lay_out(const layers::Packing& packing, Rows& rows) const;

  const ModelOptions& options_;
  DropoutSeed seed_;
  bool draws_ = false;
  Rows source_, target_;
};

}  // namespace rnnsearch::model

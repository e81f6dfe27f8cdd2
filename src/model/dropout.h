// Where a network drops what: the masks of a batch's places, kinds of dropout, and rows.
//   plain         inputs of the cells from below and the readout's vector, each time step anew, never the recurrent
//   ones
//                 (Zaremba, Sutskever and Vinyals 2014)
//   variational   the same with one mask a sentence for all its steps, and h_{t-1} too (Gal and Ghahramani 2016)
// Attention weights, with a share of their own, are dropped at each step anew.
#pragma once

#include <cstdint>
#include <vector>

#include "rnnsearch/kernels/dropout.h"
#include "rnnsearch/layers/packing.h"
#include "rnnsearch/model/model.h"

namespace rnnsearch::model {

enum class Place : std::uint64_t {
  kSourceWord = 1,
  kEncoderOutput,  // of a layer, where the next reads it
  kEncoderState,
  kTargetWord,
  kDecoderOutput,
  kDecoderState,
  kReadout,  // its vector before the softmax
  kAttention
};

class Dropout {
 public:
  explicit Dropout(const ModelOptions& options) : options_(options) {}

  /// From here to its end masks drop, as `seed` says; at other times none does.
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

  /// The rows of the batch; pairs in the order in which it came. To be called whenever they change.
  void lay_out_source(const layers::Packing& packing);
  void lay_out_target(const layers::Packing& packing);

  bool drops_units() const { return draws_ && options_.dropout > 0; }
  /// Of all packed rows of the place's side. number: of a layer or direction. later: the steps are those after.
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

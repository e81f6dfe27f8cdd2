#include "model/dropout.h"

#include "rnnsearch/base/portable.h"

namespace rnnsearch::model {

void Dropout::lay_out(const layers::Packing& packing, Rows& rows) const {
  if (!draws_ || !options_.drops()) return;
  rows.sentences.resize(packing.words());
  rows.steps.resize(packing.words());
  packing.for_each_row([&](std::size_t row, std::size_t b, std::size_t t) {
    rows.sentences[row] = seed_.first_pair + b * seed_.pair_stride;
    rows.steps[row] = static_cast<std::uint32_t>(t);
  });
}

kernels::DropoutMask Dropout::mask_of(const Ramp& ramp, Activations activations, std::uint64_t number) const {
  kernels::DropoutMask mask;
  const double share = draws_ ? ramp.at(seed_.update) : 0;
  if (share == 0) return mask;
  mask.share = share;
  // This prefix keeps the streams apart from those of initialisation (hashes of names) and of the data order (highest
  // bit set).
  const std::uint64_t stream = (std::uint64_t{0xd809} << 44) | static_cast<std::uint64_t>(activations) << 32 | number;
  mask.key = Random(Random(seed_.seed, stream).next(), seed_.update).next();
  return mask;
}

kernels::DropoutMask Dropout::mask(Activations activations, std::uint64_t number, std::uint32_t later) const {
  const bool attention = activations == Activations::kAttention;
  const bool variational = options_.dropout_kind == DropoutKind::kVariational;
  const bool recurrent = activations == Activations::kEncoderState || activations == Activations::kDecoderState;
  if (recurrent && !variational) return {};
  kernels::DropoutMask mask = mask_of(attention ? options_.attention_dropout : options_.dropout, activations, number);
  if (!mask.drops()) return mask;
  const Rows& rows = activations <= Activations::kEncoderState ? source_ : target_;
  mask.sentences = rows.sentences;
  if (attention || !variational) mask.steps = rows.steps;
  mask.shift = later;
  return mask;
}

kernels::DropoutMask Dropout::mask_of_words(Activations activations, std::span<const WordId> words,
                                            std::uint32_t later) const {
  const bool source = activations == Activations::kWholeSourceWord;
  kernels::DropoutMask mask =
      mask_of(source ? options_.source_word_dropout : options_.target_word_dropout, activations, 0);
  if (!mask.drops()) return mask;
  const Rows& rows = source ? source_ : target_;
  mask.sentences = rows.sentences;
  const bool variational = options_.dropout_kind == DropoutKind::kVariational;
  mask.steps = variational ? words : rows.steps;
  mask.shift = variational ? 0 : later;
  return mask;
}

}  // namespace rnnsearch::model

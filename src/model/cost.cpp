#include "rnnsearch/model/cost.h"

#include "model/weights.h"

namespace rnnsearch::model {

BatchSize& BatchSize::operator+=(const BatchSize& other) {
  output_share = other.output_share;
  pairs += other.pairs;
  source_words += other.source_words;
  target_words += other.target_words;
  source_embeddings += other.source_embeddings;
  target_embeddings += other.target_embeddings;
  return *this;
}

ProductFlop& ProductFlop::operator+=(const ProductFlop& other) {
  encoder += other.encoder;
  decoder += other.decoder;
  readout += other.readout;
  return *this;
}

ProductFlop ProductFlop::operator*(double times) const {
  return {encoder * times, decoder * times, readout * times};
}

ProductFlop update_flop(const ModelOptions& options, const BatchSize& batch) {
  return forward_flop(options, batch) * 3;
}

// Every matrix but the embedding tables is multiplied: by each source word, target word or sentence. Two operations for
// each element: a multiplication and an addition.
ProductFlop forward_flop(const ModelOptions& o, const BatchSize& batch) {
  ProductFlop flop;
  for (const Parameter& matrix : layout_of(o).parameters) {
    if (matrix.shape.size() == 1) continue;
    const std::string& name = matrix.name;
    const std::size_t slash = name.rfind('/') + 1;
    const std::string folder = name.substr(0, slash), letter = name.substr(slash);
    const bool of_input = letter.starts_with('W') && letter != "W_2";  // of a cell
    const auto operations = 2 * static_cast<double>(matrix.count());
    if (letter == "embedding") {
      if (o.ties_output() && folder != "encoder/") flop.readout += operations * batch.target_words * batch.output_share;
    } else if (folder == "readout/") {
      flop.readout += operations * batch.target_words * (letter == "W_o" ? batch.output_share : 1);
    } else if (folder == "context/" || folder.ends_with("initial/")) {
      flop.encoder += operations * batch.pairs;
    } else if (folder == "attention/") {
      // W_a of a joint score has the rows of U_a below its own.
      const std::size_t own = letter == "U_a" ? 0 : letter == "W_a" ? o.state : matrix.rows();
      const double of_target = operations / static_cast<double>(matrix.rows()) * static_cast<double>(own);
      flop.decoder += of_target * batch.target_words;
      flop.encoder += (operations - of_target) * batch.source_words;
    } else if (folder.starts_with("encoder/")) {
      const bool embedded = of_input && !folder.starts_with("encoder/layer");
      flop.encoder += operations * (embedded ? batch.source_embeddings : batch.source_words);
    } else {
      const bool fixed = letter.starts_with('C') && o.has_fixed_context();
      const bool embedded = of_input && folder == "decoder/";
      flop.decoder += operations * (fixed ? batch.pairs : embedded ? batch.target_embeddings : batch.target_words);
    }
  }
  return flop;
}

}  // namespace rnnsearch::model

#include "model/weights.h"

#include <cassert>
#include <string>
#include <utility>

#include "model/walk.h"

namespace rnnsearch::model {
namespace {

template <class Real>
std::span<Real> gated_bias(Walk<Real>& walk, const ModelOptions& o, const std::string& at) {
  if (!o.gate_biases) return walk.vector({{at + "b", o.state}});
  return walk.vector({{at + "b", o.state}, {at + "b_z", o.state}, {at + "b_r", o.state}});
}

template <class Real>
std::span<Real> embedding_bias(Walk<Real>& walk, const ModelOptions& o, const std::string& at) {
  return o.embedding_biases ? walk.vector({{at + "embedding_bias", o.embedding}}) : std::span<Real>{};
}

template <class Real>
layers::RecurrentWeights<Real> encoder(Walk<Real>& walk, const ModelOptions& o, const std::string& at) {
  layers::RecurrentWeights<Real> weights;
  weights.W_in = walk.matrix(o.embedding, {{at + "W", o.state}, {at + "W_z", o.state}, {at + "W_r", o.state}});
  weights.cell.U_gates = walk.matrix(o.state, {{at + "U_z", o.state}, {at + "U_r", o.state}});
  weights.cell.U = walk.matrix(o.state, {{at + "U", o.state}});
  weights.b = gated_bias(walk, o, at);
  return weights;
}

template <class Real>
Weights<Real> walk_through(Walk<Real>& walk, const ModelOptions& o) {
  const bool attention = o.attends();
  const std::size_t n = o.state, C = o.context_width(), A = attention ? o.alignment : 0;
  Weights<Real> w;
  w.encoder.embedding.bias = embedding_bias(walk, o, "encoder/");
  w.encoder.layers.resize(1);
  w.encoder.layers[0][0] = encoder(walk, o, "encoder/forward/");
  if (attention) {
    w.encoder.layers[0][1] = encoder(walk, o, "encoder/backward/");
    w.U_a = walk.matrix(C, {{"attention/U_a", A}});
    w.decoder.v_a = walk.vector({{"attention/v_a", A}});
  }
  auto& initial = w.initial.layers.emplace_back();
  initial.W = walk.matrix(n, {{"decoder/initial/W_s", n}});
  initial.b = walk.vector({{"decoder/initial/b_s", n}});
  w.target_embedding.bias = embedding_bias(walk, o, "decoder/");
  w.decoder.W_in = walk.matrix(o.embedding, {{"decoder/W", n}, {"decoder/W_z", n}, {"decoder/W_r", n}});
  w.decoder.U_query_gates = walk.matrix(n, {{"attention/W_a", A}, {"decoder/U_z", n}, {"decoder/U_r", n}});
  w.decoder.U = walk.matrix(n, {{"decoder/U", n}});
  w.decoder.C = walk.matrix(C, {{"decoder/C", n}, {"decoder/C_z", n}, {"decoder/C_r", n}});
  w.decoder.b = gated_bias(walk, o, "decoder/");
  w.readout.W = walk.grid("readout/", {{"U_o", n}, {"V_o", o.embedding}, {"C_o", C}}, {{"", 2 * o.maxout}});
  w.readout.b = walk.vector({{"readout/b_o", 2 * o.maxout}});
  if (o.readout_rank > 0) w.readout.W_o_left = walk.matrix(o.maxout, {{"readout/W_o_left", o.readout_rank}});
  w.readout.output.W_o = walk.matrix(o.readout_rank > 0 ? o.readout_rank : o.maxout, {{"readout/W_o", o.target_words}});
  w.readout.output.b_w = walk.vector({{"readout/b_w", o.target_words}});
  walk.end_of_dense();
  w.encoder.embedding.E = walk.matrix(o.source_words, {{"encoder/embedding", o.embedding}});
  w.target_embedding.E = walk.matrix(o.target_words, {{"decoder/embedding", o.embedding}});
  return w;
}

}  // namespace

ParameterLayout layout_of(const ModelOptions& options) {
  Walk<float> walk({});
  walk_through(walk, options);
  return std::move(walk).layout();
}

template <class Real>
Weights<Real> weights_in(const ModelOptions& options, std::span<Real> block) {
  Walk<Real> walk(block);
  Weights<Real> weights = walk_through(walk, options);
  [[maybe_unused]] const ParameterLayout layout = std::move(walk).layout();
  assert(block.size() == layout.size || block.size() == layout.dense);
  return weights;
}

template Weights<float> weights_in(const ModelOptions&, std::span<float>);
template Weights<double> weights_in(const ModelOptions&, std::span<double>);

}  // namespace rnnsearch::model

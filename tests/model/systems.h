// The systems as their sources write them: float64, one sentence at a time, loops
// over vectors, nothing shared with the model but names of parameters. Slow and plain on purpose.
//   LSTM: Hochreiter and Schmidhuber (1997), Gers et al. (2000). Scores, windows, input feeding: Luong, Pham and
//   Manning (2015), sections 3.1 to 3.3. Perceptrons: Linear, ReLU, Linear. Layer normalisation: Ba, Kiros and Hinton
//   (2016), equations 4 and 20 to 22, and the LSTM of their appendix. Everything else: Bahdanau, Cho and Bengio (2015),
//   appendix A, whose order of a step is that of `Step::kPrevious`.
#pragma once

#include "model/dropout.h"
#include "rnnsearch/model/options.h"
#include "tests/model/fixtures.h"
#include "tests/support/scores.h"
#include "tests/support/test.h"

namespace rnnsearch::model::systems {

using reference::Matrix;
using reference::Parameters;
using reference::Vector;

/// The first two in the order of the target; the others in that of the steps, which write from right to left where
/// asked.
struct Trace {
  Vector word_log_probabilities;                            // [Ty + 1] of the target's words and </s>
  std::vector<Vector> alpha;                                // [Ty + 1][Tx + 1]; empty vectors without attention
  std::vector<Vector> log_probabilities, states, contexts;  // [Ty + 1] of K words; what the readout reads

  double log_probability() const {
    return std::accumulate(word_log_probabilities.begin(), word_log_probabilities.end(), 0.0);
  }
};

/// What dropout makes of x, which stands at this place of the network at this time step. number: of the layer and
/// direction; at kWholeSourceWord and kWholeTargetWord the word.
using Drop = std::function<Vector(Activations activations, std::size_t number, std::size_t step, Vector x)>;

class System {
 public:
  System(const Parameters& parameters, const ModelOptions& options) : p(parameters), o(options) {}
  System(const Parameters& parameters, const ModelOptions& options, Drop dropout)
      : p(parameters), o(options), drop(std::move(dropout)) {}

  /// Words and annotations in the order of the sentence, whatever the order in which the model reads and writes.
  Trace run(std::vector<WordId> source, std::vector<WordId> target) const {
    const auto Tx = static_cast<std::ptrdiff_t>(source.size()), Ty = static_cast<std::ptrdiff_t>(target.size());
    if (o.reverse_source) std::reverse(source.begin(), source.end());
    if (o.target_direction == TargetDirection::kRightToLeft) std::reverse(target.begin(), target.end());
    if (o.source_start) source.insert(source.begin(), kStart);
    if (o.source_end || source.empty()) source.push_back(kEnd);
    target.push_back(kEnd);

    // Encoder: each layer reads the outputs of the one below.
    std::vector<Vector> x;
    for (const WordId word : source) {
      const Vector whole = drop(Activations::kWholeSourceWord, word, x.size(), embedding("encoder", word));
      x.push_back(drop(Activations::kSourceWord, 0, x.size(), whole));
    }
    std::vector<State> forward_last, backward_first;  // by layer
    for (std::size_t k = 0; k < o.layers; ++k) {
      const auto forward = read("encoder/" + layer(k) + "forward/", x, 2 * k);
      forward_last.push_back(forward.back());
      std::vector<State> backward;
      if (o.bidirectional()) {
        backward = read("encoder/" + layer(k) + "backward/", x, 2 * k + 1);
        backward_first.push_back(backward.front());
      }
      for (std::size_t j = 0; j < x.size(); ++j) {
        x[j] = forward[j].h;
        if (o.bidirectional()) x[j].insert(x[j].end(), backward[j].h.begin(), backward[j].h.end());
        if (k + 1 < o.layers) x[j] = drop(Activations::kEncoderOutput, k, j, x[j]);
      }
    }
    if (o.reverse_source && !o.source_start)
      std::reverse(x.begin(), x.begin() + Tx);  // h_1 ... h_Tx, then that of </s>
    const std::vector<Vector>& annotations = x;
    Vector fixed;
    if (!o.attends() && (o.state_inputs.context || o.readout_inputs.context)) {
      // Bahdanau, Cho and Bengio (2015), appendix A.2.2: c is the last forward state. An encoder that reads both ways
      // ends at both ends of the sentence.
      fixed = forward_last.back().h;
      if (o.bidirectional()) append(fixed, backward_first.back().h);
      // Cho et al. (2014), appendix A: c = tanh(V h), h the encoder's last state. The bias is ours.
      if (o.fixed_context == FixedContext::kTanh) {
        fixed = tanh(sum(product(fixed, "context/V"), bias("context/b_V")));
      }
    }

    // The decoder's first states.
    std::vector<State> states;
    for (std::size_t k = 0; k < o.layers; ++k) {
      State s{Vector(o.state, 0.0), Vector(o.cell == Cell::kLstm ? o.state : 0, 0.0)};
      switch (o.initial_state) {
        case InitialState::kZero:
          break;
        case InitialState::kForward:
        case InitialState::kFinal:
          s = forward_last[k];
          break;
        case InitialState::kBackward:
          s = backward_first[k];
          break;
        case InitialState::kProjected: {
          const Vector& from = !fixed.empty() ? fixed : o.bidirectional() ? backward_first[k].h : forward_last[k].h;
          const std::string at = "decoder/" + layer(k) + "initial/";
          s.h = tanh(sum(product(from, at + "W_s"), bias(at + "b_s")));
          break;
        }
      }
      states.push_back(s);
    }

    Trace trace;
    Vector word = o.start == Start::kEmbedded ? embedding("decoder", kStart) : Vector(o.embedding, 0.0);
    word = drop(Activations::kTargetWord, 0, 0, drop(Activations::kWholeTargetWord, kStart, 0, word));
    Vector fed;
    if (o.input_feeding || o.feedback == Feedback::kOutput) {
      const std::size_t H = o.readout == Readout::kMaxout ? o.maxout
                            : o.readout == Readout::kTanh ? o.state
                                                          : o.embedding;
      fed.assign(H, 0.0);
      if (o.feedback == Feedback::kOutput && o.start == Start::kEmbedded) fed = word;
    }
    for (std::size_t i = 0; i < target.size(); ++i) {
      if (o.feedback == Feedback::kOutput) word = fed;
      Vector current = fed;
      if (o.feedback == Feedback::kWord) {
        const Vector whole = drop(Activations::kWholeTargetWord, target[i], i + 1, embedding("decoder", target[i]));
        current = drop(Activations::kTargetWord, 0, i + 1, whole);
      }
      Vector c = fixed, alpha;
      if (o.readout_state == Step::kPrevious) {  // Bahdanau: look, say, then go on
        if (o.attends()) c = attend(states.back().h, annotations, i, alpha);
        say(i, states.back().h, word, c, target[i], fed, trace);
        update(i, states, o.state_word == Step::kCurrent ? current : word, fed, c);
      } else {  // go on, then say
        if (o.attends() && o.attend_from == Step::kPrevious) c = attend(states.back().h, annotations, i, alpha);
        update(i, states, word, fed, c);
        if (o.attends() && o.attend_from == Step::kCurrent) c = attend(states.back().h, annotations, i, alpha);
        say(i, states.back().h, word, c, target[i], fed, trace);
      }
      trace.alpha.push_back(alpha);
      word = current;
    }
    if (o.target_direction == TargetDirection::kRightToLeft) {
      std::reverse(trace.word_log_probabilities.begin(), trace.word_log_probabilities.begin() + Ty);
      std::reverse(trace.alpha.begin(), trace.alpha.begin() + Ty);
    }
    return trace;
  }

 private:
  struct State {
    Vector h, c;
  };

  static std::string layer(std::size_t k) { return k == 0 ? "" : "layer" + std::to_string(k + 1) + "/"; }
  bool has(const std::string& name) const { return p.count(name) > 0; }
  Vector bias(const std::string& name) const { return p.at(name).values; }

  static Vector sum(Vector a, const Vector& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] += b.at(i);
    return a;
  }
  static Vector times(Vector a, const Vector& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] *= b.at(i);
    return a;
  }
  static Vector map(Vector x, const std::function<double(double)>& f) {
    for (double& value : x) value = f(value);
    return x;
  }
  static Vector tanh(const Vector& x) {
    return map(x, [](double value) { return std::tanh(value); });
  }
  static Vector sigma(const Vector& x) {
    return map(x, [](double value) { return 1 / (1 + std::exp(-value)); });
  }
  static Vector relu(const Vector& x) {
    return map(x, [](double value) { return std::max(value, 0.0); });
  }
  static void append(Vector& to, const Vector& more) { to.insert(to.end(), more.begin(), more.end()); }

  Vector product(const Vector& x, const std::string& name) const { return reference::product(x, p.at(name)); }

  const Matrix& table(const std::string& side) const {
    return p.at(has("embedding") ? "embedding" : side + "/embedding");
  }

  /// x W_o, where W_o may be the target's table: a row for each word.
  Vector output(const Vector& x) const {
    if (!o.ties_output()) return product(x, "readout/W_o");
    const Matrix& E = table("decoder");
    EXPECT_EQ(E.cols, x.size());
    Vector y(E.rows, 0.0);
    for (std::size_t k = 0; k < E.rows; ++k)
      for (std::size_t i = 0; i < E.cols; ++i) y[k] += x.at(i) * E(k, i);
    return y;
  }

  Vector embedding(const std::string& side, WordId word) const {
    const Matrix& E = table(side);
    Vector y(E.values.begin() + static_cast<std::ptrdiff_t>(word * E.cols),
             E.values.begin() + static_cast<std::ptrdiff_t>((word + 1) * E.cols));
    return has(side + "/embedding_bias") ? sum(y, bias(side + "/embedding_bias")) : y;
  }

  /// An input of a cell, by the letter of its matrices.
  using Input = std::pair<std::string, Vector>;

  /// x W + ... + b of one gate.
  Vector sums(const std::string& at, const std::string& gate, const std::vector<Input>& inputs) const {
    Vector y(p.at(at + "b").cols, 0.0);
    for (const auto& [letter, x] : inputs) y = sum(y, product(x, at + letter + gate));
    return has(at + "b" + gate) ? sum(y, bias(at + "b" + gate)) : y;
  }

  /// LN(a; g, b) of the parts of a one after the other, all at once; part after part again.
  std::vector<Vector> normalised(const std::string& at, const std::string& letter,
                                 const std::vector<std::string>& gates, const std::vector<Vector>& parts) const {
    double mean = 0, variance = 0, count = 0;
    for (const Vector& part : parts) {
      for (const double a : part) mean += a;
      count += static_cast<double>(part.size());
    }
    mean /= count;
    for (const Vector& part : parts)
      for (const double a : part) variance += (a - mean) * (a - mean) / count;
    std::vector<Vector> result;
    for (std::size_t k = 0; k < parts.size(); ++k) {
      const Vector v = map(parts[k], [&](double a) { return (a - mean) / std::sqrt(variance + 1e-5); });
      result.push_back(sum(times(v, bias(at + "g" + letter + gates[k])), bias(at + "b" + letter + gates[k])));
    }
    return result;
  }

  /// dropped: h where U multiplies it.
  State normalised_cell(const std::string& at, const std::vector<Input>& inputs, const State& before,
                        const Vector& dropped) const {
    const auto of_x = [&](const std::string& gate) {
      Vector y(before.h.size(), 0.0);
      for (const auto& [letter, x] : inputs) y = sum(y, product(x, at + letter + gate));
      return y;
    };
    const auto of_h = [&](const std::string& gate) { return product(dropped, at + "U" + gate); };
    if (o.cell == Cell::kTanh) {
      return {tanh(normalised(at, "", {""}, {sum(of_x(""), of_h(""))}).front()), {}};
    }
    if (o.cell == Cell::kLstm) {
      const std::vector<std::string> gates{"", "_i", "_f", "_o"};
      std::vector<Vector> x, h;
      for (const std::string& gate : gates) {
        x.push_back(of_x(gate));
        h.push_back(of_h(gate));
      }
      x = normalised(at, "", gates, x);
      h = normalised(at, "_U", gates, h);
      for (std::size_t k = 0; k < 4; ++k) x[k] = sum(x[k], h[k]);
      const Vector c = sum(times(sigma(x[2]), before.c), times(sigma(x[1]), tanh(x[0])));
      return {times(sigma(x[3]), tanh(normalised(at, "_c", {""}, {c}).front())), c};
    }
    const auto x = normalised(at, "", {"_z", "_r"}, {of_x("_z"), of_x("_r")});
    const auto h = normalised(at, "_U", {"_z", "_r"}, {of_h("_z"), of_h("_r")});
    const Vector z = sigma(sum(x[0], h[0])), r = sigma(sum(x[1], h[1]));
    const Vector u = normalised(at, "_U", {""}, {of_h("")}).front();
    const Vector candidate = tanh(sum(normalised(at, "", {""}, {of_x("")}).front(), times(r, u)));
    Vector next(z.size());
    for (std::size_t i = 0; i < z.size(); ++i) next[i] = (1 - z[i]) * before.h[i] + z[i] * candidate[i];
    return {next, {}};
  }

  /// h: before.h where U multiplies it.
  State cell(const std::string& at, const std::vector<Input>& inputs, const State& before, const Vector& h,
             bool encoder) const {
    if (o.layer_normalization) return normalised_cell(at, inputs, before, h);
    const auto pre = [&](const std::string& gate) { return sum(sums(at, gate, inputs), product(h, at + "U" + gate)); };
    if (o.cell == Cell::kTanh) return {tanh(pre("")), {}};
    if (o.cell == Cell::kLstm) {
      const Vector c = sum(times(sigma(pre("_f")), before.c), times(sigma(pre("_i")), tanh(pre(""))));
      return {times(sigma(pre("_o")), tanh(c)), c};
    }
    if (o.cell == Cell::kMlp) {
      if (encoder) {
        const Vector of_x = product(relu(sums(at, "", inputs)), at + "W_2");
        const Vector of_h = product(relu(sum(product(h, at + "U"), bias(at + "b_U"))), at + "U_2");
        return {tanh(sum(sum(of_x, of_h), bias(at + "b_2"))), {}};
      }
      return {sum(product(relu(pre("")), at + "W_2"), bias(at + "b_2")), {}};
    }
    const Vector z = sigma(pre("_z")), r = sigma(pre("_r"));
    Vector candidate;
    if (o.gru_reset == GruReset::kBefore) {
      candidate = tanh(sum(sums(at, "", inputs), product(times(r, h), at + "U")));
    } else {
      Vector u = product(h, at + "U");
      if (has(at + "b_U")) u = sum(u, bias(at + "b_U"));
      candidate = tanh(sum(sums(at, "", inputs), times(r, u)));
    }
    Vector next(h.size());
    for (std::size_t i = 0; i < h.size(); ++i) next[i] = (1 - z[i]) * before.h[i] + z[i] * candidate[i];
    return {next, {}};
  }

  /// number: of layer and direction; the odd ones read from the end.
  std::vector<State> read(const std::string& at, const std::vector<Vector>& x, std::size_t number) const {
    std::vector<State> states(x.size());
    const std::size_t e = o.encoder_width();
    State state{Vector(e, 0.0), Vector(o.cell == Cell::kLstm ? e : 0, 0.0)};
    for (std::size_t step = 0; step < x.size(); ++step) {
      const std::size_t j = number % 2 == 1 ? x.size() - 1 - step : step;
      states[j] = state = cell(at, {{"W", x[j]}}, state, drop(Activations::kEncoderState, number, j, state.h), true);
    }
    return states;
  }

  void update(std::size_t step, std::vector<State>& states, const Vector& word, const Vector& fed,
              const Vector& c) const {
    std::vector<Input> inputs;
    if (o.state_inputs.word) inputs.emplace_back("W", word);
    if (o.input_feeding) inputs.emplace_back("F", fed);
    if (o.state_inputs.context) inputs.emplace_back("C", c);
    for (std::size_t k = 0; k < o.layers; ++k) {
      const Vector h = drop(Activations::kDecoderState, k, step, states[k].h);
      states[k] = cell("decoder/" + layer(k), inputs, states[k], h, false);
      inputs = {{"W", drop(Activations::kDecoderOutput, k, step, states[k].h)}};
    }
  }

  Vector attend(const Vector& s, const std::vector<Vector>& annotations, std::size_t written, Vector& alpha) const {
    const auto Tx = static_cast<double>(annotations.size());
    double centre = std::min(static_cast<double>(written), Tx - 1) + 1;  // words count from 1
    if (o.attention_window == AttentionWindow::kLocalP) {
      centre = Tx / (1 + std::exp(-reference::dot(tanh(product(s, "attention/W_p")), bias("attention/v_p"))));
    }
    Vector e(annotations.size(), -HUGE_VAL);
    for (std::size_t j = 0; j < annotations.size(); ++j) {
      const double distance = std::abs(static_cast<double>(j + 1) - centre);
      if (o.attention_window != AttentionWindow::kGlobal && distance > static_cast<double>(o.window)) continue;
      e[j] = score(s, annotations[j]);
    }
    const double largest = *std::max_element(e.begin(), e.end());
    double total = 0;
    for (double& value : e) total += value = std::exp(value - largest);
    Vector c(annotations.front().size(), 0.0);
    for (std::size_t j = 0; j < e.size(); ++j) {
      e[j] /= total;
      if (o.attention_window == AttentionWindow::kLocalP) {
        const double deviation = static_cast<double>(o.window) / 2, distance = static_cast<double>(j + 1) - centre;
        e[j] *= std::exp(-distance * distance / (2 * deviation * deviation));
      }
    }
    alpha = e;
    const Vector weights = drop(Activations::kAttention, 0, written, alpha);
    for (std::size_t j = 0; j < e.size(); ++j)
      for (std::size_t i = 0; i < c.size(); ++i) c[i] += weights[j] * annotations[j][i];
    return c;
  }

  double score(const Vector& s, const Vector& h) const {
    return reference::energies().at(name_of(o.attention))(p, s, h);
  }

  /// Adds log p(wanted); fed becomes the vector before the softmax.
  void say(std::size_t step, const Vector& s, const Vector& word, const Vector& c, WordId wanted, Vector& fed,
           Trace& trace) const {
    Vector x;  // all inputs that there are
    if (o.readout_inputs.state) append(x, s);
    if (o.readout_inputs.word) append(x, word);
    if (o.readout_inputs.context) append(x, c);
    const bool linear = o.readout == Readout::kLinear && o.feedback == Feedback::kWord;
    if (linear) x = drop(Activations::kReadout, 0, step, x);
    Vector y;  // the sum over them
    auto from = x.begin();
    const auto add = [&](bool reads, std::size_t width, const std::string& letter) {
      if (!reads) return;
      const Vector input(from, from + static_cast<std::ptrdiff_t>(width));
      from += static_cast<std::ptrdiff_t>(width);
      if (linear && o.readout_rank == 0 && o.ties_output()) {  // x as it is, side by side
        append(y, input);
        return;
      }
      const Vector more = product(input, "readout/" + letter);
      y = y.empty() ? more : sum(y, more);
    };
    add(o.readout_inputs.state, s.size(), "U_o");
    add(o.readout_inputs.word, word.size(), "V_o");
    add(o.readout_inputs.context, c.size(), "C_o");
    if (linear) {
      if (o.readout_rank > 0 || o.ties_output()) y = output(y);
    } else {
      y = sum(y, bias("readout/b_o"));
      Vector t;
      if (o.readout == Readout::kMaxout) {
        for (std::size_t k = 0; k < y.size(); k += 2) t.push_back(std::max(y[k], y[k + 1]));
      } else if (o.readout == Readout::kTanh) {
        t = tanh(y);
      } else if (o.readout == Readout::kLinear) {  // fed back: the notebook's W_out [s_i; c_i; y_{i-1}] + b_out
        t = y;
      } else {
        t = sum(product(relu(y), "readout/W_2"), bias("readout/b_2"));
      }
      fed = t = drop(Activations::kReadout, 0, step, t);
      y = output(o.readout_rank > 0 ? product(t, "readout/W_o_left") : t);
    }
    y = sum(y, bias("readout/b_w"));
    const double largest = *std::max_element(y.begin(), y.end());
    double total = 0;
    for (const double value : y) total += std::exp(value - largest);
    for (double& value : y) value -= largest + std::log(total);
    trace.word_log_probabilities.push_back(y.at(wanted));
    trace.log_probabilities.push_back(y);
    trace.states.push_back(s);
    trace.contexts.push_back(c);
  }

  const Parameters& p;
  const ModelOptions& o;
  const Drop drop = [](Activations, std::size_t, std::size_t, Vector x) { return x; };
};

}  // namespace rnnsearch::model::systems

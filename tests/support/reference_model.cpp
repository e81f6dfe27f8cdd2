#include "tests/support/reference_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace rnnsearch::reference {
namespace {

Vector product(const Vector& x, const Matrix& weights) {  // x W
  Vector y(weights.cols, 0.0);
  for (std::size_t j = 0; j < weights.cols; ++j) {
    for (std::size_t i = 0; i < weights.rows; ++i) y[j] += x.at(i) * weights(i, j);
  }
  return y;
}

Vector sum(const Vector& a, const Vector& b) {
  Vector y(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) y[i] = a[i] + b.at(i);
  return y;
}

Vector tanh(Vector x) {
  for (double& value : x) value = std::tanh(value);
  return x;
}

Vector sigma(Vector x) {
  for (double& value : x) value = 1 / (1 + std::exp(-value));
  return x;
}

class Reference {
 public:
  Reference(const Parameters& parameters, StateReads state_reads) : parameters_(parameters), reads_(state_reads) {}

  Trace run(std::vector<WordId> source, std::vector<WordId> target) const {
    source.push_back(kEnd);
    target.push_back(kEnd);
    std::vector<Vector> x;
    for (const WordId word : source) x.push_back(embedding("encoder", word));
    const std::vector<Vector> forward = encoder("encoder/forward", x, false);

    std::vector<Vector> annotations;  // h_j = [forward; backward]
    Vector fixed_context;             // of RNNencdec
    Vector first;                     // what s_0 is made of
    if (attention()) {
      const std::vector<Vector> backward = encoder("encoder/backward", x, true);
      for (std::size_t j = 0; j < source.size(); ++j) {
        annotations.push_back(forward[j]);
        annotations[j].insert(annotations[j].end(), backward[j].begin(), backward[j].end());
      }
      first = backward.front();  // appendix A.2.2: s_0 = tanh(W_s h_1), h_1 the backward state at the first word
    } else {
      // Appendix A.2.2, last sentence: c_i is fixed to the forward state at the last word. There is no backward
      // encoder, so s_0 comes from the same c, as in the released code.
      fixed_context = forward.back();
      first = fixed_context;
    }
    Vector s = tanh(sum(product(first, at("decoder/initial/W_s")), at("decoder/initial/b_s").values));

    Trace result;
    Vector previous_word(at("decoder/embedding").cols, 0.0);  // nothing at i = 1
    for (const WordId word : target) {
      Vector alpha;
      const Vector c = attention() ? attend(s, annotations, alpha) : fixed_context;
      const Vector log_p = readout(s, previous_word, c);
      result.states.push_back(s);
      result.contexts.push_back(c);
      result.alpha.push_back(alpha);
      result.log_probabilities.push_back(log_p);
      result.word_log_probabilities.push_back(log_p.at(word));

      const Vector y = embedding("decoder", word);
      s = gated("decoder", reads_ == StateReads::kCurrentWord ? y : previous_word, s, &c);
      previous_word = y;
    }
    return result;
  }

 private:
  const Matrix& at(const std::string& name) const { return parameters_.at(name); }
  bool has(const std::string& name) const { return parameters_.count(name) > 0; }
  bool attention() const { return has("attention/v_a"); }

  Vector embedding(const std::string& side, WordId word) const {
    const Matrix& E = at(side + "/embedding");
    Vector y(E.cols);
    for (std::size_t j = 0; j < E.cols; ++j) y[j] = E.values.at(word * E.cols + j);
    return has(side + "/embedding_bias") ? sum(y, at(side + "/embedding_bias").values) : y;
  }

  /// One of the three sums of the gated unit but for its recurrent product: x W + c C + b, each where there is one.
  Vector input(const std::string& unit, const std::string& gate, const Vector& x, const Vector* c) const {
    Vector y = product(x, at(unit + "/W" + gate));
    if (c != nullptr) y = sum(y, product(*c, at(unit + "/C" + gate)));
    return has(unit + "/b" + gate) ? sum(y, at(unit + "/b" + gate).values) : y;
  }

  Vector gated(const std::string& unit, const Vector& x, const Vector& h, const Vector* c) const {
    const Vector z = sigma(sum(input(unit, "_z", x, c), product(h, at(unit + "/U_z"))));
    const Vector r = sigma(sum(input(unit, "_r", x, c), product(h, at(unit + "/U_r"))));
    Vector reset(h.size());
    for (std::size_t i = 0; i < h.size(); ++i) reset[i] = r[i] * h[i];
    const Vector candidate = tanh(sum(input(unit, "", x, c), product(reset, at(unit + "/U"))));
    Vector next(h.size());
    for (std::size_t i = 0; i < h.size(); ++i) next[i] = (1 - z[i]) * h[i] + z[i] * candidate[i];
    return next;
  }

  std::vector<Vector> encoder(const std::string& unit, const std::vector<Vector>& x, bool from_the_end) const {
    std::vector<Vector> states(x.size());
    Vector h(at(unit + "/U").rows, 0.0);
    for (std::size_t step = 0; step < x.size(); ++step) {
      const std::size_t j = from_the_end ? x.size() - 1 - step : step;
      h = gated(unit, x[j], h, nullptr);
      states[j] = h;
    }
    return states;
  }

  Vector attend(const Vector& s, const std::vector<Vector>& annotations, Vector& alpha) const {
    const Vector query = product(s, at("attention/W_a"));
    for (const Vector& h : annotations) {
      const Vector hidden = tanh(sum(query, product(h, at("attention/U_a"))));
      alpha.push_back(std::inner_product(hidden.begin(), hidden.end(), at("attention/v_a").values.begin(), 0.0));
    }
    const double largest = *std::max_element(alpha.begin(), alpha.end());
    double total = 0;
    for (double& value : alpha) total += value = std::exp(value - largest);
    Vector c(annotations.front().size(), 0.0);
    for (std::size_t j = 0; j < alpha.size(); ++j) {
      alpha[j] /= total;
      for (std::size_t k = 0; k < c.size(); ++k) c[k] += alpha[j] * annotations[j][k];
    }
    return c;
  }

  Vector readout(const Vector& s, const Vector& word, const Vector& c) const {
    const Vector sums = sum(sum(product(s, at("readout/U_o")), product(word, at("readout/V_o"))),
                            sum(product(c, at("readout/C_o")), at("readout/b_o").values));
    Vector t(sums.size() / 2);
    for (std::size_t k = 0; k < t.size(); ++k) t[k] = std::max(sums[2 * k], sums[2 * k + 1]);
    if (has("readout/W_o_left")) t = product(t, at("readout/W_o_left"));
    Vector y = sum(product(t, at("readout/W_o")), at("readout/b_w").values);
    const double largest = *std::max_element(y.begin(), y.end());
    double total = 0;
    for (const double value : y) total += std::exp(value - largest);
    for (double& value : y) value -= largest + std::log(total);
    return y;
  }

  const Parameters& parameters_;
  StateReads reads_;
};

}  // namespace

double Trace::log_probability() const {
  return std::accumulate(word_log_probabilities.begin(), word_log_probabilities.end(), 0.0);
}

Trace trace(const Parameters& parameters, StateReads state_reads, std::span<const WordId> source,
            std::span<const WordId> target) {
  return Reference(parameters, state_reads).run({source.begin(), source.end()}, {target.begin(), target.end()});
}

}  // namespace rnnsearch::reference

#include "rnnsearch/model/model.h"

#include "tests/model/all_systems.h"
#include "tests/support/test.h"

namespace rnnsearch::model {
namespace {

using Shapes = std::map<std::string, std::vector<std::size_t>>;

Shapes shapes(const ModelOptions& options) {
  Shapes result;
  const Model model(options);
  for (const Parameter& parameter : model.layout().parameters)
    EXPECT_TRUE(result.emplace(parameter.name, parameter.shape).second) << parameter.name << " occurs twice";
  return result;
}

/// Widths that are all different: Kx 30, Ky 31, m 4, n 5, n' 6, l 7.
ModelOptions distinct_widths() { return widths(30, 4, 5, 6, 7); }

Shapes rnnsearch_shapes() {
  Shapes all = {{"encoder/embedding", {30, 4}}, {"decoder/embedding", {31, 4}}, {"decoder/initial/W_s", {5, 5}},
                {"decoder/initial/b_s", {5}},   {"attention/W_a", {5, 6}},      {"attention/U_a", {10, 6}},
                {"attention/v_a", {6}},         {"readout/U_o", {5, 14}},       {"readout/V_o", {4, 14}},
                {"readout/C_o", {10, 14}},      {"readout/b_o", {14}},          {"readout/W_o", {7, 31}},
                {"readout/b_w", {31}}};
  for (const std::string unit : {"encoder/forward", "encoder/backward", "decoder"}) {
    for (const std::string gate : {"", "_z", "_r"}) {
      all[unit + "/W" + gate] = {4, 5};
      all[unit + "/U" + gate] = {5, 5};
      if (unit == "decoder") all[unit + "/C" + gate] = {10, 5};
    }
    all[unit + "/b"] = {5};
  }
  return all;
}

TEST(Parameters, HaveTheCheckpointsNamesAndShapes) {
  ModelOptions options = distinct_widths();
  options.embedding_biases = false;
  EXPECT_EQ(shapes(options), rnnsearch_shapes());
}

TEST(Parameters, FollowTheOptions) {
  ModelOptions options = distinct_widths();
  options.embedding_biases = true;
  options.gate_biases = true;
  options.readout_rank = 3;
  Shapes expected = rnnsearch_shapes();
  expected["encoder/embedding_bias"] = expected["decoder/embedding_bias"] = {4};
  for (const std::string unit : {"encoder/forward", "encoder/backward", "decoder"}) {
    expected[unit + "/b_z"] = expected[unit + "/b_r"] = {5};
  }
  expected["readout/W_o_left"] = {7, 3};
  expected["readout/W_o"] = {3, 31};
  EXPECT_EQ(shapes(options), expected);
}

TEST(Parameters, LeaveOutAttentionAndTheBackwardEncoderWithoutAttention) {
  ModelOptions options = distinct_widths();
  options.embedding_biases = false;
  options.attention = Attention::kNone;
  Shapes expected = rnnsearch_shapes();
  std::erase_if(expected, [](const auto& entry) {
    return entry.first.starts_with("attention/") || entry.first.starts_with("encoder/backward/");
  });
  for (const std::string gate : {"", "_z", "_r"}) expected["decoder/C" + gate] = {5, 5};
  expected["readout/C_o"] = {5, 14};
  EXPECT_EQ(shapes(options), expected);
  options.fixed_context = FixedContext::kTanh;
  expected["context/V"] = {5, 5};
  expected["context/b_V"] = {5};
  EXPECT_EQ(shapes(options), expected);
}

/// A fixed context is as wide as the encoder's output; behind the tanh layer of Cho et al. (2014), as the decoder's
/// state.
TEST(Parameters, HaveTheWidthOfTheFixedContext) {
  ModelOptions options = distinct_widths();
  options.attention = Attention::kNone;
  options.encoder_state = 3;
  for (const auto& [encoder, width] : {std::pair{Encoder::kForward, 3u}, std::pair{Encoder::kBidirectional, 6u}}) {
    options.encoder = encoder;
    options.fixed_context = FixedContext::kLastState;
    EXPECT_EQ(options.context_width(), width);
    Shapes found = shapes(options);
    EXPECT_EQ(found.count("context/V"), 0u);
    EXPECT_EQ(found.at("decoder/C"), (std::vector<std::size_t>{width, 5}));
    EXPECT_EQ(found.at("readout/C_o"), (std::vector<std::size_t>{width, 14}));
    EXPECT_EQ(found.at("decoder/initial/W_s"), (std::vector<std::size_t>{width, 5}));
    options.fixed_context = FixedContext::kTanh;
    EXPECT_EQ(options.context_width(), 5u);
    found = shapes(options);
    EXPECT_EQ(found.at("context/V"), (std::vector<std::size_t>{width, 5}));
    EXPECT_EQ(found.at("decoder/C"), (std::vector<std::size_t>{5, 5}));
    EXPECT_EQ(found.at("decoder/initial/W_s"), (std::vector<std::size_t>{5, 5}));
  }
}

class ParameterLayouts : public testing::TestWithParam<Variant> {};

TEST_P(ParameterLayouts, GiveEveryElementToExactlyOneParameter) {
  const Model model(GetParam().options);
  const ParameterLayout& layout = model.layout();
  ASSERT_EQ(model.parameters().size(), layout.size);
  std::vector<int> owners(layout.size);
  for (const Parameter& parameter : layout.parameters) {
    for (std::size_t i = 0; i < parameter.rows(); ++i)
      for (std::size_t j = 0; j < parameter.cols(); ++j) ++owners.at(parameter.offset + i * parameter.stride + j);
  }
  EXPECT_EQ(std::count(owners.begin(), owners.end(), 1), static_cast<std::ptrdiff_t>(layout.size));
}

std::vector<double> values_of(const Model& model, const std::string& name) {
  const Parameter& parameter = model.layout().find(name);
  std::vector<double> values;
  for (std::size_t i = 0; i < parameter.count(); ++i) {
    const std::size_t row = i / parameter.cols(), col = i % parameter.cols();
    values.push_back(model.parameters()[parameter.offset + row * parameter.stride + col]);
  }
  return values;
}

TEST_P(ParameterLayouts, CopyInWithoutLossAndTouchNothingElse) {
  Model model(GetParam().options);
  std::iota(model.parameters().begin(), model.parameters().end(), 1.0);
  const std::vector<double> original(model.parameters().begin(), model.parameters().end());
  std::vector<double> rebuilt(original.size(), 0.0);
  for (const Parameter& parameter : model.layout().parameters) {
    const auto zeros = std::count(rebuilt.begin(), rebuilt.end(), 0.0);
    copy_in(parameter, values_of(model, parameter.name), rebuilt);
    EXPECT_EQ(zeros - std::count(rebuilt.begin(), rebuilt.end(), 0.0), static_cast<std::ptrdiff_t>(parameter.count()));
  }
  EXPECT_EQ(rebuilt, original);
}

INSTANTIATE_TEST_SUITE_P(Every, ParameterLayouts, testing::ValuesIn(variants(distinct_widths(), 3)), name_of_case);

TEST(Parameters, AreAsManyAsInTheReleasedRnnsearch50) {
  ModelOptions options;  // the defaults are the paper's widths
  options.source_words = options.target_words = 30001;
  options.readout_rank = 620;
  EXPECT_EQ(Model(options).layout().size, 84'349'101u);
}

/// Counted from appendix A of the paper with its widths (A.2.3), the factored output matrix and the biases of the
/// released code: embeddings, candidate state, initial state, readout and softmax.
TEST(Parameters, AreAsManyAsThePapersRnnencdecHas) {
  constexpr std::size_t m = 620, n = 1000, l = 500, K = 30000;
  constexpr std::size_t embeddings = 2 * (K * m + m);
  constexpr std::size_t encoder = 3 * (m * n + n * n) + n;          // W, W_z, W_r, U, U_z, U_r, b; forward alone
  constexpr std::size_t initial = n * n + n;                        // s_0 = tanh(W_s c + b_s)
  constexpr std::size_t decoder = 3 * (m * n + n * n + n * n) + n;  // W, U, C of each gate, b; c is [n]
  constexpr std::size_t readout = 2 * l * (n + m + n) + 2 * l;      // U_o, V_o, C_o, b_o
  constexpr std::size_t output = l * m + m * K + K;                 // W_o in two factors, b_w
  constexpr std::size_t expected = embeddings + encoder + initial + decoder + readout + output;
  ModelOptions options;
  options.source_words = options.target_words = K;
  options.readout_rank = m;
  options.attention = Attention::kNone;
  EXPECT_EQ(parameter_layout_of(options).size, expected);
  options.fixed_context = FixedContext::kTanh;  // Cho et al. (2014): V and its bias besides
  EXPECT_EQ(parameter_layout_of(options).size, expected + n * n + n);
}

TEST(Parameters, AreFoundByNameOrRefused) {
  const Model model(distinct_widths());
  EXPECT_EQ(model.layout().find("attention/U_a").shape, (std::vector<std::size_t>{10, 6}));
  EXPECT_THROW(model.layout().find("attention/U_b"), Error);
}

struct Moments {
  double count, mean = 0, square = 0, fourth = 0, largest = 0;

  explicit Moments(const std::vector<double>& values) : count(static_cast<double>(values.size())) {
    for (const double x : values) {
      mean += x / count;
      square += x * x / count;
      fourth += x * x * x * x / count;
      largest = std::max(largest, std::abs(x));
    }
  }
};
/// 5 standard errors: x^2 has the variance (1/5 - 1/9) bound^4.
void expect_uniform(const Moments& found, double bound, const std::string& name) {
  EXPECT_LE(found.largest, bound * (1 + 1e-12)) << name;
  EXPECT_NEAR(found.square / (bound * bound), 1.0 / 3, 5 * std::sqrt((1.0 / 5 - 1.0 / 9) / found.count)) << name;
}

ModelOptions initialised_options(Attention attention) {
  ModelOptions options = widths(400, 60, 80, 70, 50);
  options.attention = attention;
  options.gate_biases = true;
  options.readout_rank = 40;
  return options;
}

TEST(Initialisation, MakesRecurrentMatricesOrthogonal) {
  for (const Attention attention : {Attention::kAdditive, Attention::kNone}) {
    Model model(initialised_options(attention));
    model.initialise(5);
    int matrices = 0;
    for (const Parameter& parameter : model.layout().parameters) {
      if (parameter.name.find("/U") == std::string::npos || parameter.name.starts_with("attention/") ||
          parameter.name.starts_with("readout/")) {
        continue;
      }
      ++matrices;
      const std::size_t n = parameter.cols();
      const std::vector<double> u = values_of(model, parameter.name);
      double trace = 0;
      for (std::size_t i = 0; i < n; ++i) {
        trace += u[i * n + i];
        for (std::size_t j = 0; j < n; ++j) {
          double dot = 0;
          for (std::size_t k = 0; k < n; ++k) dot += u[k * n + i] * u[k * n + j];
          ASSERT_NEAR(dot, i == j ? 1 : 0, 1e-6) << parameter.name;
        }
      }
      EXPECT_LT(std::abs(trace), 6) << parameter.name << " is not random: a random one's trace is about N(0, 1)";
    }
    EXPECT_EQ(matrices, attention == Attention::kAdditive ? 9 : 6);
  }
}

TEST(Initialisation, DrawsTheOthersWithTheRecipesDeviations) {
  using Case = std::tuple<Attention, double, Initialization>;
  for (const auto& [attention, wide, initialization] :
       {Case{Attention::kAdditive, 0.01, Initialization::kPaper}, Case{Attention::kNone, 0.01, Initialization::kPaper},
        Case{Attention::kAdditive, 0.05, Initialization::kPaper},
        Case{Attention::kAdditive, 0.1, Initialization::kOrthogonal}}) {
    const bool paper = initialization == Initialization::kPaper;
    ModelOptions options = initialised_options(attention);
    if (!paper) options.initialization = initialization;  // paper has to be the default
    if (wide != 0.01) options.initial_deviation = wide;   // 0.01 is the recipe's, and has to be the default
    Model model(options);
    std::fill(model.parameters().begin(), model.parameters().end(), 9.0);  // nothing may be left as it was
    model.initialise(6);
    for (const Parameter& parameter : model.layout().parameters) {
      const std::vector<double> values = values_of(model, parameter.name);
      if (parameter.shape.size() == 1 && (paper || !parameter.name.ends_with("v_a"))) {  // biases, and v_a in the paper
        EXPECT_TRUE(std::all_of(values.begin(), values.end(), [](double x) { return x == 0; })) << parameter.name;
        continue;
      }
      const auto [count, mean, square, fourth, largest] = Moments(values);
      double deviation = wide;
      if (paper && parameter.name.starts_with("attention/")) deviation = wide / 10;
      if (parameter.name.find("/U") != std::string::npos && parameter.name.find("_a") == std::string::npos &&
          parameter.name.find("_o") == std::string::npos) {
        deviation = 1 / std::sqrt(80.0);  // orthogonal
      }
      // 5 standard errors of each estimate.
      EXPECT_NEAR(mean, 0, 5 * deviation / std::sqrt(count)) << parameter.name;
      EXPECT_NEAR(std::sqrt(square), deviation, 5 * deviation / std::sqrt(2 * count)) << parameter.name;
      EXPECT_NEAR(fourth / (square * square), 3, 5 * std::sqrt(24 / count) + 0.1) << parameter.name << " is not normal";
    }
  }
}

// "All of the LSTM's parameters with the uniform distribution between -0.08 and 0.08" (Sutskever, Vinyals and Le 2014,
// section 3.4); the same within 0.1 in Luong, Pham and Manning (2015), section 4.1.
TEST(Initialisation, DrawsAllParametersUniformlyWhereTheSourceDoes) {
  for (const double bound : {0.08, 0.1}) {
    ModelOptions options = initialised_options(Attention::kAdditive);
    options.initialization = Initialization::kUniform;
    options.initial_deviation = bound / std::sqrt(3.0);
    Model model(options);
    std::fill(model.parameters().begin(), model.parameters().end(), 9.0);
    model.initialise(6);
    for (const Parameter& parameter : model.layout().parameters) {
      const Moments found(values_of(model, parameter.name));
      expect_uniform(found, bound, parameter.name);
      if (found.count < 1000) continue;
      EXPECT_NEAR(found.fourth / (found.square * found.square), 1.8, 0.1) << parameter.name << " is not uniform";
    }
  }
}

// PyTorch's Linear draws weights and biases uniformly within 1 / sqrt(inputs), its Embedding from N(0, 1). The inputs
// are those of the replication's layers (zhengyang-2002/Paper_reading-Replicating, Code/Model.py), with n = 128 and m
// = 32.
TEST(Initialisation, DrawsAsPyTorchDoesByTheInputsOfEachLayer) {
  const ModelOptions options =
      with(initialised_options(Attention::kAdditive),
           "attention=mlp cell=mlp embedding=32 state=128 alignment=128 initial-state=forward state-word=previous "
           "readout=mlp readout-state=current embedding-biases=false readout-rank=0 initialization=pytorch");
  const auto inputs_of = [](const std::string& name) -> double {
    const std::string letter = name.substr(name.rfind('/') + 1);
    if (name.starts_with("attention/")) return letter == "v_a" ? 128 : 384;  // Linear(3n -> n), Linear(n -> 1)
    if (name.starts_with("readout/")) {
      if (letter == "W_o" || letter == "b_w") return 32;                // fc
      return letter == "W_2" || letter == "b_2" ? 16 : 32 + 128 + 256;  // Wg
    }
    if (letter.ends_with("_2")) return 64;                    // the second Linear of each perceptron
    if (name.starts_with("decoder/")) return 128 + 32 + 256;  // Wf
    return letter == "U" || letter == "b_U" ? 128 : 32;       // hh, xh
  };
  Model model(options);
  model.initialise(6);
  for (const Parameter& parameter : model.layout().parameters) {
    const Moments found(values_of(model, parameter.name));
    if (parameter.name.ends_with("/embedding")) {
      EXPECT_NEAR(found.square, 1, 5 * std::sqrt(2 / found.count)) << parameter.name;
    } else {
      expect_uniform(found, 1 / std::sqrt(inputs_of(parameter.name)), parameter.name);
    }
  }
}

TEST(Initialisation, DrawsTheSoftmaxBiasAsPyTorchDoesWhereItsMatrixIsTheEmbeddingTable) {
  const ModelOptions options =
      with(initialised_options(Attention::kNone),
           "cell=tanh encoder=forward embedding=8 state=8 initial-state=final state-word=previous state-inputs=word "
           "readout=linear readout-state=current readout-inputs=state tied-embeddings=target readout-rank=0 "
           "initialization=pytorch");
  Model model(options);
  model.initialise(6);
  for (const double x : values_of(model, "readout/b_w")) EXPECT_LE(std::abs(x), 1 / std::sqrt(8.0));
}

TEST(Initialisation, IsAFunctionOfTheSeed) {
  const ModelOptions options = initialised_options(Attention::kAdditive);
  Model a(options), b(options), other(options);
  std::fill(b.parameters().begin(), b.parameters().end(), 3.0f);
  a.initialise(7);
  b.initialise(7);
  other.initialise(8);
  EXPECT_EQ(std::memcmp(a.parameters().data(), b.parameters().data(), a.parameters().size_bytes()), 0);
  for (const Parameter& parameter : a.layout().parameters) {
    if (parameter.shape.size() == 1) continue;
    const auto x = values_of(a, parameter.name), y = values_of(other, parameter.name);
    std::size_t equal = 0;
    for (std::size_t i = 0; i < x.size(); ++i) equal += x[i] == y[i] ? 1 : 0;
    EXPECT_LT(equal, x.size() / 100) << parameter.name;
  }
}

TEST(Initialisation, DrawsEveryParameterFromItsOwnStream) {
  Model model(initialised_options(Attention::kAdditive));
  model.initialise(9);
  std::map<double, std::string> first;
  for (const Parameter& parameter : model.layout().parameters) {
    if (parameter.shape.size() == 1) continue;
    const double value = std::abs(values_of(model, parameter.name).front() / values_of(model, parameter.name)[1]);
    EXPECT_TRUE(first.emplace(value, parameter.name).second) << parameter.name << " repeats " << first[value];
  }
}

TEST(Initialisation, DoesNotDependOnTheVocabulary) {
  ModelOptions options = initialised_options(Attention::kAdditive);
  Model small(options);
  options.source_words = 531;
  options.target_words = 777;
  Model large(options);
  small.initialise(10);
  large.initialise(10);
  std::size_t compared = 0;
  for (const Parameter& parameter : small.layout().parameters) {
    if (large.layout().find(parameter.name).shape != parameter.shape) continue;
    EXPECT_EQ(values_of(small, parameter.name), values_of(large, parameter.name)) << parameter.name;
    ++compared;
  }
  EXPECT_EQ(compared, small.layout().parameters.size() - 4);  // two embeddings, W_o and b_w
}

}  // namespace
}  // namespace rnnsearch::model

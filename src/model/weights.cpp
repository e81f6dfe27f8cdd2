#include "model/weights.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <string>
#include <utility>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/parallel.h"
#include "rnnsearch/base/portable.h"

namespace rnnsearch::model {
namespace {

using layers::CellKind;

CellKind cell_kind(const ModelOptions& o, bool encoder) {
  switch (o.cell) {
    case Cell::kGru:
      return o.gru_reset == GruReset::kBefore ? CellKind::kGru : CellKind::kGruResetAfter;
    case Cell::kLstm:
      return CellKind::kLstm;
    case Cell::kTanh:
      return CellKind::kTanh;
    case Cell::kMlp:
      return encoder ? CellKind::kMlpEncoder : CellKind::kMlp;
  }
  return CellKind::kGru;
}

// The suffixes of the gates of a cell, in the order of its x.
std::vector<std::string> gates_of(CellKind kind) {
  switch (kind) {
    case CellKind::kGru:
    case CellKind::kGruResetAfter:
      return {"", "_z", "_r"};
    case CellKind::kLstm:
      return {"", "_i", "_f", "_o"};
    default:
      return {""};
  }
}

// Divides the parameter block. The same calls list the parameters and create the views, so these always agree.
class LayoutBuilder {
 public:
  /// With an empty block the parameters are only listed.
  explicit LayoutBuilder(std::span<Real> block) : block_(block) {}

  struct Block {
    std::string name;
    std::size_t size;
  };
  /// A matrix in memory whose column blocks are separate parameters in a checkpoint. Blocks without columns are left
  /// out.
  Matrix add_columns(std::size_t rows, const std::vector<Block>& columns) {
    return add_blocks("", {{"", rows}}, columns);
  }
  /// The same with row blocks too; the parameters are named prefix + row block + column block. Blocks
  /// without rows are left out.
  Matrix add_blocks(const std::string& prefix, const std::vector<Block>& row_blocks,
                    const std::vector<Block>& column_blocks) {
    std::size_t rows = 0, cols = 0;
    for (const auto& column_block : column_blocks) cols += column_block.size;
    for (const auto& row_block : row_blocks) {
      std::size_t column = 0;
      for (const auto& column_block : column_blocks) {
        if (row_block.size > 0 && column_block.size > 0) {
          layout_.parameters.push_back({prefix + row_block.name + column_block.name,
                                        {row_block.size, column_block.size},
                                        layout_.size + rows * cols + column,
                                        cols});
        }
        column += column_block.size;
      }
      rows += row_block.size;
    }
    return {take(rows * cols), rows, cols};
  }
  std::span<Real> add_vector(const std::vector<Block>& blocks) {
    const std::size_t start = layout_.size;
    std::size_t size = 0;
    for (const auto& block : blocks) {
      layout_.parameters.push_back({block.name, {block.size}, start + size, block.size});
      size += block.size;
    }
    return {take(size), size};
  }
  /// The number of elements so far.
  std::size_t size() const { return layout_.size; }
  /// Marks the end of the dense part of the layout.
  void end_of_dense() { layout_.dense = layout_.size; }
  ParameterLayout layout() && { return std::move(layout_); }

 private:
  Real* take(std::size_t count) {
    Real* here = layout_.size + count > block_.size() ? nullptr : block_.data() + layout_.size;
    layout_.size += count;
    return here;
  }

  std::span<Real> block_;
  ParameterLayout layout_;
};

class Composition {
 public:
  using Block = LayoutBuilder::Block;

  Composition(std::span<Real> block, const ModelOptions& options) : layout(block), o(options), widths(options) {}

  std::vector<Block> beside(CellKind kind, std::size_t n) const {
    const auto gates = gates_of(kind);
    std::vector<Block> columns;
    columns.reserve(gates.size());
    for (const auto& gate : gates) columns.push_back({gate, layers::cell_input_width(kind, n) / gates.size()});
    return columns;
  }

  layers::RecurrentWeights recurrent(const std::string& at, CellKind kind, std::size_t n,
                                     const std::vector<Block>& inputs) {
    layers::RecurrentWeights w;
    const auto gates = beside(kind, n);
    const std::size_t all = gates.size(), half = n / 2;
    // Of the first `count` gates.
    const auto vector = [&](const std::string& letter, std::size_t count) {
      std::vector<Block> blocks;
      for (std::size_t g = 0; g < count; ++g) blocks.push_back({at + letter + gates[g].name, gates[g].size});
      return layout.add_vector(blocks);
    };
    const bool normalises = o.layer_normalization;
    w.W_in = layout.add_blocks(at, inputs, gates);
    if (normalises) {
      w.cell.x_normalisation = {vector("g", all), vector("b", all)};
    } else {
      w.b = vector("b", o.gate_biases ? all : 1);
    }
    if (kind == CellKind::kMlpEncoder) {
      w.cell.b_U = layout.add_vector({{at + "b_U", half}});
      w.cell.U_2 = layout.add_columns(half, {{at + "U_2", n}});
    }
    if (kind == CellKind::kGru) {
      w.cell.U_gates = layout.add_columns(n, {{at + "U_z", n}, {at + "U_r", n}});
      w.cell.U = layout.add_columns(n, {{at + "U", n}});
    } else {
      w.cell.U = layout.add_blocks(at, {{"U", n}}, gates);
    }
    if (normalises && kind != CellKind::kTanh) w.cell.U_normalisation = {vector("g_U", all), vector("b_U", all)};
    if (normalises && kind == CellKind::kLstm) {
      w.cell.c_normalisation = {layout.add_vector({{at + "g_c", n}}), layout.add_vector({{at + "b_c", n}})};
    }
    if (kind == CellKind::kGruResetAfter && o.gate_biases && !normalises) {
      w.cell.b_U = layout.add_vector({{at + "b_U", n}});
    }
    if (kind == CellKind::kMlp || kind == CellKind::kMlpEncoder) {
      w.cell.W_2 = layout.add_columns(half, {{at + "W_2", n}});
      w.cell.b_2 = layout.add_vector({{at + "b_2", n}});
    }
    return w;
  }

  std::string layer(std::size_t k) const { return k == 0 ? "" : "layer" + std::to_string(k + 1) + "/"; }

  std::span<Real> embedding_bias(const std::string& at) {
    return o.embedding_biases ? layout.add_vector({{at + "embedding_bias", o.embedding}}) : std::span<Real>{};
  }

  void attention(Weights& w) {
    const kernels::Score& score = o.attention.score();
    const std::size_t n = o.state, C = widths.context, A = widths.score;
    if (score.joint) {
      const auto W_a = layout.add_columns(n + C, {{"attention/W_a", A}});
      w.attention.W_a = {W_a.data, n, A};
      w.attention.U_a = {W_a.data ? W_a.data + n * A : nullptr, C, A};
    } else {
      if (score.projects_query) w.attention.W_a = layout.add_columns(n, {{"attention/W_a", A}});
      if (score.projects_keys) w.attention.U_a = layout.add_columns(C, {{"attention/U_a", A}});
    }
    if (score.has_bias) w.attention.b_a = layout.add_vector({{"attention/b_a", A}});
    if (score.has_v) w.attention.v_a = layout.add_vector({{"attention/v_a", A}});
    if (o.attention_window == AttentionWindow::kLocalP) {
      w.attention.W_p = layout.add_columns(n, {{"attention/W_p", o.alignment}});
      w.attention.v_p = layout.add_vector({{"attention/v_p", o.alignment}});
    }
  }

  void readout(Weights& w) {
    const std::vector<Block> inputs{
        {"U_o", widths.readout_state}, {"V_o", widths.readout_word}, {"C_o", widths.readout_context}};
    const std::string at = "readout/";
    const bool has_vector = o.readout != Readout::kLinear || o.has_linear_vector();
    if (!has_vector) {
      if (o.readout_rank > 0) {
        w.readout.W_o_left = layout.add_blocks(at, inputs, {{"", o.readout_rank}});
      } else if (!o.ties_output()) {
        w.readout.output.W_o = layout.add_blocks(at, inputs, {{"", o.target_words}});
      }
    } else {
      const std::size_t width = o.readout == Readout::kMaxout ? 2 * o.maxout
                                : o.readout == Readout::kMlp  ? o.embedding / 2
                                                              : o.readout_width();
      w.readout.W = layout.add_blocks(at, inputs, {{"", width}});
      w.readout.b = layout.add_vector({{at + "b_o", width}});
      if (o.readout == Readout::kMlp) {
        w.readout.W_2 = layout.add_columns(width, {{at + "W_2", o.embedding}});
        w.readout.b_2 = layout.add_vector({{at + "b_2", o.embedding}});
      }
      if (o.readout_rank > 0)
        w.readout.W_o_left = layout.add_columns(widths.hidden, {{at + "W_o_left", o.readout_rank}});
    }
    if (!o.ties_output() && (o.readout_rank > 0 || has_vector)) {
      w.readout.output.W_o =
          layout.add_columns(o.readout_rank > 0 ? o.readout_rank : widths.hidden, {{at + "W_o", o.target_words}});
    }
    w.readout.output.b_w = layout.add_vector({{at + "b_w", o.target_words}});
  }

  void tables(Weights& w) {
    const auto table = [&](const char* name, std::size_t words) {
      return layout.add_columns(words, {{name, o.embedding}});
    };
    const char* const of_target = o.ties_sides() ? "embedding" : "decoder/embedding";
    if (o.ties_output()) w.target_embedding.E = table(of_target, o.target_words);
    w.parts.output_table = part();
    layout.end_of_dense();
    if (!o.ties_sides()) w.encoder.embedding.E = table("encoder/embedding", o.source_words);
    if (!o.ties_output()) w.target_embedding.E = table(of_target, o.target_words);
    if (o.ties_sides()) w.encoder.embedding.E = w.target_embedding.E;
    if (o.ties_output()) w.readout.output.E = w.target_embedding.E;
  }

  /// All elements since the last part.
  GradientPart part() {
    const std::size_t first = std::exchange(parted, layout.size());
    return {first, parted - first};
  }

  Weights all() {
    Weights w;
    const std::size_t e = o.encoder_width();
    w.encoder.embedding.bias = embedding_bias("encoder/");
    for (std::size_t k = 0; k < o.layers; ++k) {
      const std::vector<Block> input{{"W", k == 0 ? o.embedding : widths.annotation}};
      auto& directions = w.encoder.layers.emplace_back();
      directions[0] = recurrent("encoder/" + layer(k) + "forward/", widths.encoder_cell, e, input);
      if (o.bidirectional()) {
        if (k == 0) w.parts.first_direction = part();
        directions[1] = recurrent("encoder/" + layer(k) + "backward/", widths.encoder_cell, e, input);
      }
    }
    w.parts.encoder = part();
    if (o.attends()) {
      attention(w);
    } else if (o.has_context() && o.fixed_context == FixedContext::kTanh) {
      w.initial.summary.W = layout.add_columns(widths.annotation, {{"context/V", o.state}});
      w.initial.summary.b = layout.add_vector({{"context/b_V", o.state}});
    }
    for (std::size_t k = 0; k < o.layers && o.initial_state == InitialState::kProjected; ++k) {
      auto& initial = w.initial.layers.emplace_back();
      const std::string at = "decoder/" + layer(k) + "initial/";
      initial.W = layout.add_columns(o.has_fixed_context() ? widths.context : e, {{at + "W_s", o.state}});
      initial.b = layout.add_vector({{at + "b_s", o.state}});
    }
    w.parts.between = part();
    w.target_embedding.bias = embedding_bias("decoder/");
    for (std::size_t k = 0; k < o.layers; ++k) {
      const std::vector<Block> first{{"W", widths.state_word}, {"F", widths.state_fed}, {"C", widths.state_context}};
      w.decoder.push_back(recurrent("decoder/" + layer(k), widths.decoder_cell, o.state,
                                    k == 0 ? first : std::vector<Block>{{"W", o.state}}));
    }
    w.parts.decoder = part();
    readout(w);
    w.parts.readout = part();
    tables(w);
    return w;
  }

  LayoutBuilder layout;
  const ModelOptions& o;
  const Widths widths;
  std::size_t parted = 0;  // the number of elements that belong to a part
};

// The random stream of a parameter, which depends only on its name (FNV-1a).
std::uint64_t stream_of(const std::string& name) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

enum class Kind { kZero, kOne, kOrthogonal, kNarrow, kWide, kUniform, kXavier, kFanIn, kStandard };

Kind kind_of(const Parameter& parameter, Initialization initialization) {
  const std::string letter = parameter.name.substr(parameter.name.rfind('/') + 1);
  const bool vector = parameter.shape.size() == 1, scores = letter == "v_a" || letter == "v_p";
  if (vector && letter.starts_with('g')) return Kind::kOne;  // gains (Ba, Kiros and Hinton 2016, section 3.1)
  if (initialization == Initialization::kUniform) return Kind::kUniform;
  if (initialization == Initialization::kPytorch) {
    if (letter == "embedding_bias") return Kind::kZero;  // PyTorch's Embedding has no bias
    return letter == "embedding" ? Kind::kStandard : Kind::kFanIn;
  }
  const bool paper = initialization == Initialization::kPaper;
  if (vector && (paper || !scores)) return Kind::kZero;
  if (initialization == Initialization::kXavier) return Kind::kXavier;
  if (initialization == Initialization::kGaussian) return Kind::kWide;
  const bool recurrent = letter == "U" || letter == "U_z" || letter == "U_r" || letter == "U_i" || letter == "U_f" ||
                         (letter == "U_o" && !parameter.name.starts_with("readout/"));
  if (recurrent && parameter.rows() == parameter.cols()) return Kind::kOrthogonal;
  if (paper && (letter == "W_a" || letter == "U_a")) return Kind::kNarrow;
  return Kind::kWide;
}

// The total number of rows of the parameters `letters` of a folder such as "readout/", whose products are added.
std::size_t rows_of(const ParameterLayout& layout, const std::string& folder,
                    std::initializer_list<const char*> letters) {
  std::size_t rows = 0;
  for (const char* const letter : letters) {
    const auto at = std::find_if(layout.parameters.begin(), layout.parameters.end(),
                                 [&](const Parameter& other) { return other.name == folder + letter; });
    if (at != layout.parameters.end()) rows += at->shape.size() == 1 ? at->shape[0] : at->rows();
  }
  return rows;
}

// The number whose inverse square root bounds a parameter in PyTorch: the number of inputs of its Linear, which may be
// several parameters here, or the state width in nn.RNN, nn.GRU and nn.LSTM.
std::size_t fan_in(const ParameterLayout& layout, const Parameter& parameter, const ModelOptions& o) {
  const std::size_t slash = parameter.name.rfind('/') + 1;
  const std::string folder = parameter.name.substr(0, slash), letter = parameter.name.substr(slash);
  const bool encoder = folder.starts_with("encoder/");
  if (folder == "attention/") {
    if (letter == "v_a" || letter == "v_p") return parameter.count();
    // A score with a bias (kernels/scores.h) has one Linear over [s; h_j], the others have two.
    if (rows_of(layout, folder, {"b_a"}) > 0 && letter != "W_p") return rows_of(layout, folder, {"W_a", "U_a"});
    return parameter.rows();
  }
  if (folder == "readout/") {
    if (letter == "W_2" || letter == "b_2") return rows_of(layout, folder, {"W_2"});
    if (letter == "W_o" || letter == "b_w") return o.output_width();  // W_o may be an embedding table
    if (letter == "W_o_left") return parameter.rows();
    return rows_of(layout, folder, {"U_o", "V_o", "C_o"});
  }
  if (folder == "context/") return rows_of(layout, folder, {"V"});
  if (folder.ends_with("initial/")) return rows_of(layout, folder, {"W_s"});
  if (o.cell != Cell::kMlp) return encoder ? o.encoder_width() : o.state;
  if (letter == "U_2" || letter == "W_2" || letter == "b_2") return rows_of(layout, folder, {"W_2"});
  if (!encoder) return rows_of(layout, folder, {"W", "F", "C", "U"});
  return letter == "U" || letter == "b_U" ? rows_of(layout, folder, {"U"}) : rows_of(layout, folder, {"W"});
}

// other -= (row . other) row
void subtract_share(std::size_t n, const double* row, double* other) {
  double product[4] = {0, 0, 0, 0};  // four partial sums, so that the additions do not wait for each other
  std::size_t k = 0;
  for (; k + 4 <= n; k += 4) {
    for (std::size_t lane = 0; lane < 4; ++lane) product[lane] += row[k + lane] * other[k + lane];
  }
  for (; k < n; ++k) product[0] += row[k] * other[k];
  const double share = (product[0] + product[1]) + (product[2] + product[3]);
  for (k = 0; k < n; ++k) other[k] -= share * row[k];
}

// Draws a matrix [n, n], row-major, uniformly from the orthogonal matrices.
std::vector<double> random_orthogonal(std::size_t n, std::uint64_t seed, std::uint64_t stream) {
  // Gram-Schmidt on the rows of a Gaussian matrix gives the same distribution as the U of its singular value
  // decomposition, which the released code uses: both are uniform over the orthogonal matrices.
  std::vector<double> q(n * n);
  Random random(seed, stream);
  for (double& value : q) value = random.normal();
  const auto row = [&](std::size_t i) { return q.data() + i * n; };
  // A few rows at a time, which stay in a cache during one pass over the rows before them.
  constexpr std::size_t kRows = 8;
  for (std::size_t first = 0; first < n; first += kRows) {
    const std::size_t end = std::min(n, first + kRows);
    for (std::size_t i = 0; i < first; ++i) {
      for (std::size_t j = first; j < end; ++j) subtract_share(n, row(i), row(j));
    }
    for (std::size_t j = first; j < end; ++j) {
      for (std::size_t i = first; i < j; ++i) subtract_share(n, row(i), row(j));
      double square = 0;
      for (std::size_t k = 0; k < n; ++k) square += row(j)[k] * row(j)[k];
      for (std::size_t k = 0; k < n; ++k) row(j)[k] /= std::sqrt(square);
    }
  }
  return q;
}

}  // namespace

Widths::Widths(const ModelOptions& o)
    : encoder_cell(cell_kind(o, true)),
      decoder_cell(cell_kind(o, false)),
      annotation(o.annotation_width()),
      context(o.context_width()),
      score(o.attends() ? o.attention.score().width(o.state, context, o.alignment) : 0),
      cell_state(layers::cell_state_width(decoder_cell, o.state)) {
  readout_state = o.readout_inputs.state ? o.state : 0;
  readout_context = o.readout_inputs.context ? context : 0;
  hidden = o.readout_width();
  word = o.feedback == Feedback::kOutput ? hidden : o.embedding;
  readout_word = o.readout_inputs.word ? word : 0;
  state_word = o.state_inputs.word ? word : 0;
  state_fed = o.input_feeding ? hidden : 0;
  state_context = o.state_inputs.context ? context : 0;
}

ParameterLayout layout_of(const ModelOptions& options) {
  Composition composition({}, options);
  composition.all();
  return std::move(composition.layout).layout();
}

Weights weights_in(const ModelOptions& options, std::span<Real> block) {
  Composition composition(block, options);
  Weights weights = composition.all();
  assert(block.size() >= weights.parts.readout.first + weights.parts.readout.size);
  return weights;
}

const Parameter& ParameterLayout::find(const std::string& name) const {
  const auto found = std::find_if(parameters.begin(), parameters.end(), [&](const auto& p) { return p.name == name; });
  if (found == parameters.end()) throw Error("model: there is no parameter {}", name);
  return *found;
}

void copy_in(const Parameter& parameter, std::span<const Real> dense, std::span<Real> block) {
  assert(dense.size() == parameter.count());
  for (std::size_t i = 0; i < parameter.rows(); ++i) {
    std::copy_n(dense.data() + i * parameter.cols(), parameter.cols(),
                block.data() + parameter.offset + i * parameter.stride);
  }
}

void initialise(const ParameterLayout& layout, const ModelOptions& options, std::uint64_t seed, std::span<Real> block) {
  const double deviation = options.initial_deviation;
  parallel_for(layout.parameters.size(), [&](std::size_t index) {
    const Parameter& parameter = layout.parameters[index];
    const std::uint64_t stream = stream_of(parameter.name);
    std::vector<double> values(parameter.count());
    Random random(seed, stream);
    const auto uniform = [&](double bound) {
      for (double& value : values) value = bound * (2 * random.uniform() - 1);
    };
    const auto normal = [&](double of_values) {
      for (double& value : values) value = of_values * random.normal();
    };
    const Kind kind = kind_of(parameter, options.initialization);
    if (kind == Kind::kOne) values.assign(values.size(), 1.0);
    if (kind == Kind::kOrthogonal) values = random_orthogonal(parameter.rows(), seed, stream);
    if (kind == Kind::kUniform) uniform(std::sqrt(3.0) * deviation);
    if (kind == Kind::kXavier) uniform(std::sqrt(6 / static_cast<double>(parameter.rows() + parameter.cols())));
    if (kind == Kind::kFanIn) uniform(1 / std::sqrt(static_cast<double>(fan_in(layout, parameter, options))));
    if (kind == Kind::kStandard) normal(1);
    if (kind == Kind::kNarrow) normal(deviation / 10);
    if (kind == Kind::kWide) normal(deviation);
    const std::vector<Real> rounded(values.begin(), values.end());
    copy_in(parameter, rounded, block);
  });
}

}  // namespace rnnsearch::model

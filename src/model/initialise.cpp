#include "model/weights.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "rnnsearch/base/parallel.h"
#include "rnnsearch/base/random.h"

namespace rnnsearch::model {
namespace {

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
  if (initialization != Initialization::kPaper) {
    if (vector && !scores) return Kind::kZero;
    return initialization == Initialization::kXavier ? Kind::kXavier : Kind::kWide;
  }
  if (vector) return Kind::kZero;
  const bool recurrent = letter == "U" || letter == "U_z" || letter == "U_r" || letter == "U_i" || letter == "U_f" ||
                         (letter == "U_o" && !parameter.name.starts_with("readout/"));
  if (recurrent && parameter.rows() == parameter.cols()) return Kind::kOrthogonal;
  if (letter == "W_a" || letter == "U_a") return Kind::kNarrow;
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

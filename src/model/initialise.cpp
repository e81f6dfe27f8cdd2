#include "model/initialise.h"

#include <cmath>
#include <string>
#include <vector>

#include "rnnsearch/base/random.h"
#include "rnnsearch/kernels/parallel.h"

namespace rnnsearch::model {
namespace {

// FNV-1a: a stream that depends on the name alone.
std::uint64_t stream_of(const std::string& name) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

enum class Kind { kZero, kOrthogonal, kNarrow, kWide };

Kind kind_of(const Parameter& parameter) {
  if (parameter.shape.size() == 1) return Kind::kZero;
  const std::string letter = parameter.name.substr(parameter.name.rfind('/') + 1);
  if (letter == "U" || letter == "U_z" || letter == "U_r") return Kind::kOrthogonal;
  if (letter == "W_a" || letter == "U_a") return Kind::kNarrow;
  return Kind::kWide;
}

}  // namespace

std::vector<double> random_orthogonal(std::size_t n, std::uint64_t seed, std::uint64_t stream) {
  // Gram-Schmidt on the rows of a Gaussian matrix gives the same distribution as the U of its singular value
  // decomposition, which the released code takes: both are uniform over the orthogonal matrices.
  std::vector<double> q(n * n);
  Random random(seed, stream);
  for (double& value : q) value = random.normal();
  for (std::size_t i = 0; i < n; ++i) {
    double* row = q.data() + i * n;
    double square = 0;
    for (std::size_t k = 0; k < n; ++k) square += row[k] * row[k];
    for (std::size_t k = 0; k < n; ++k) row[k] /= std::sqrt(square);
    for (std::size_t j = i + 1; j < n; ++j) {
      double* other = q.data() + j * n;
      double product[4] = {0, 0, 0, 0};  // four sums that do not wait for one another
      std::size_t k = 0;
      for (; k + 4 <= n; k += 4) {
        for (std::size_t lane = 0; lane < 4; ++lane) product[lane] += row[k + lane] * other[k + lane];
      }
      for (; k < n; ++k) product[0] += row[k] * other[k];
      const double share = (product[0] + product[1]) + (product[2] + product[3]);
      for (k = 0; k < n; ++k) other[k] -= share * row[k];
    }
  }
  return q;
}

template <class Real>
void initialise(const ParameterLayout& layout, std::uint64_t seed, double deviation, std::span<Real> block) {
  kernels::parallel_for(layout.parameters.size(), [&](std::size_t index) {
    const Parameter& parameter = layout.parameters[index];
    const std::uint64_t stream = stream_of(parameter.name);
    std::vector<double> values(parameter.count());
    const Kind kind = kind_of(parameter);
    if (kind == Kind::kOrthogonal) {
      values = random_orthogonal(parameter.rows(), seed, stream);
    } else if (kind != Kind::kZero) {
      Random random(seed, stream);
      for (double& value : values) value = (kind == Kind::kNarrow ? deviation / 10 : deviation) * random.normal();
    }
    const std::vector<Real> rounded(values.begin(), values.end());
    copy_in<Real>(parameter, rounded, block);
  });
}

template void initialise(const ParameterLayout&, std::uint64_t, double, std::span<float>);
template void initialise(const ParameterLayout&, std::uint64_t, double, std::span<double>);

}  // namespace rnnsearch::model

// Writes random parallel text of any size, which costs prepare and train as much as a real corpus of that size:
//   synthetic_text PAIRS SOURCE_FILE TARGET_FILE [SEED]
// The same arguments give the same text. Sentence lengths are those of WMT'14 English to French (850 million English
// words, section 4.1 of the paper, in 40.8 million pairs): 21 words on average, a seventh more for French, log-normal
// and correlated. Words follow the two regimes of Ferrer i Cancho and Sole (2001): p(rank) ~ 1 / rank for the most
// frequent 8,000, ~ 1 / rank^2 beyond, so that 30,000 words cover 97% and new words keep occurring. Rare words are
// longer, as in natural text.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numbers>
#include <string>

namespace {

constexpr double kFrequent = 8000;  // ranks of the first regime
constexpr double kMeanWords = 21, kTargetShare = 8.0 / 7;
constexpr double kSpread = 0.65;       // standard deviation of the logarithm of a length
constexpr double kTargetSpread = 0.2;  // of the logarithm of the ratio of the two lengths
constexpr int kLongest = 400;

/// xorshift128+ (Vigna 2017).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_{seed * 0x9e3779b97f4a7c15u + 1, 0xbf58476d1ce4e5b9u} {
    for (int i = 0; i < 20; ++i) next();
  }
  std::uint64_t next() {
    std::uint64_t x = state_[0];
    const std::uint64_t y = state_[1];
    state_[0] = y;
    x ^= x << 23;
    state_[1] = x ^ y ^ (x >> 18) ^ (y >> 5);
    return state_[1] + y;
  }
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  std::array<std::uint64_t, 2> state_;
};

/// Inverts the distribution function of a density ~ 1 / x up to kFrequent, ~ kFrequent / x^2 beyond.
double draw_rank(Random& random) {
  const double body = std::log(kFrequent), tail = 1;
  const double place = random.uniform() * (body + tail);
  return place < body ? std::exp(place) : std::min(kFrequent / (body + tail - place), 1e15);
}

class Side {
 public:
  Side(const char* path, char final_letter) : path_(path), final_letter_(final_letter), file_(std::fopen(path, "wb")) {
    if (!file_) fail();
    std::setvbuf(file_, nullptr, _IOFBF, 1 << 20);
  }
  void write(int words, Random& random) {
    line_.clear();
    for (int i = 0; i < words; ++i) {
      auto rank = static_cast<std::uint64_t>(draw_rank(random));
      do line_ += static_cast<char>('a' + rank % 26);
      while ((rank /= 26) > 0);
      line_ += final_letter_;
      line_ += i + 1 < words ? ' ' : '\n';
    }
    if (std::fwrite(line_.data(), 1, line_.size(), file_) != line_.size()) fail();
  }
  void close() {
    if (std::fclose(file_) != 0) fail();
  }

 private:
  [[noreturn]] void fail() const {
    std::perror(path_);
    std::exit(1);
  }

  const char* path_;
  char final_letter_;
  std::FILE* file_;
  std::string line_;
};

}  // namespace

int main(int argc, char** argv) {
  const long long pairs = argc > 1 ? std::atoll(argv[1]) : 0;
  if (argc < 4 || argc > 5 || pairs <= 0) {
    std::fprintf(stderr, "usage: synthetic_text PAIRS SOURCE_FILE TARGET_FILE [SEED]\n");
    return 1;
  }
  Random random(argc > 4 ? std::strtoull(argv[4], nullptr, 10) : 1);
  Side source(argv[2], 's'), target(argv[3], 't');
  const auto length = [](double logarithm) {
    return std::min(kLongest, std::max(1, static_cast<int>(std::exp(logarithm))));
  };
  const double mean = std::log(kMeanWords + 0.5) - kSpread * kSpread / 2;
  for (long long i = 0; i < pairs; ++i) {
    const double logarithm = mean + kSpread * random.normal();
    source.write(length(logarithm), random);
    target.write(length(logarithm + std::log(kTargetShare) + kTargetSpread * random.normal()), random);
  }
  source.close();
  target.close();
  return 0;
}

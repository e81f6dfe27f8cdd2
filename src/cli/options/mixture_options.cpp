#include "cli/options/mixture_options.h"

#include <algorithm>

#include "cli/options/named_path.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/option.h"
#include "rnnsearch/comm/meet.h"
#include "rnnsearch/train/shared_files.h"

namespace rnnsearch::cli {
namespace {

struct MixedFile {
  std::filesystem::path path;
  double weight = 0;
};

MixedFile mixed_file(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  MixedFile file;
  if (colon == std::string::npos || colon == 0 || !value::read(text.substr(colon + 1), file.weight) ||
      !(file.weight > 0)) {
    throw UsageError("--mix is '{}', but must be a corpus, a colon and a weight above 0, such as back.h5:0.5", text);
  }
  file.path = text.substr(0, colon);
  return file;
}

}  // namespace

void add_mixture(Options& options, std::vector<std::string>& mix) {
  options.add("mix", mix, Placeholder{"FILE:WEIGHT"}, kWeightedFile, Later::kFree,
              "another corpus to train on, and the number of its pairs per pair of --corpus, such as back.h5:0.5; "
              "repeat the option for several corpora. All corpora need the same vocabularies and text options (prepare "
              "--vocabulary-of); an epoch is one pass over --corpus");
}

std::vector<std::filesystem::path> path_without_weight(const std::string& text) {
  return {mixed_file(text).path};
}

void check_mixture_options(const std::vector<std::string>& mix) {
  std::vector<std::filesystem::path> paths;
  for (const std::string& text : mix) paths.push_back(mixed_file(text).path);
  check_each_once("mix", paths);
}

Mixture::Mixture(std::vector<std::string>& mix, const corpus::Corpus& first, const comm::Communicator& communicator)
    : first_(first) {
  corpora_.reserve(mix.size());
  for (std::string& text : mix) {
    auto [path, weight] = mixed_file(text);
    path = std::filesystem::absolute(path).lexically_normal();
    text = fmt::format("{}:{}", path, value::write(weight));
    corpora_.push_back(train::open_corpus(path, communicator));
    others_.push_back({&corpora_.back(), weight});
  }
  comm::root_does(communicator, [&] { corpus::check_mixture(first_, others_); });
}

bool Mixture::has_alignments() const {
  return first_.has_alignments() || std::any_of(corpora_.begin(), corpora_.end(),
                                                [](const corpus::Corpus& other) { return other.has_alignments(); });
}

std::vector<std::string> Mixture::lines() const {
  std::vector<std::string> lines;
  const corpus::Shares shares(first_, others_);
  for (std::size_t k = 0; k < others_.size(); ++k) {
    const corpus::Corpus& other = *others_[k].corpus;
    lines.push_back(fmt::format("an epoch has {} pairs of {}, which has {}", shares.pairs_of(k + 1), other.path(),
                                other.train_pairs()));
    if (const std::string warning = corpus::other_libraries(first_, other); !warning.empty())
      lines.push_back("warning: " + warning);
  }
  return lines;
}

}  // namespace rnnsearch::cli

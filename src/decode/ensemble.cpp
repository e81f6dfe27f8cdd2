#include "rnnsearch/decode/ensemble.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <utility>

#include "rnnsearch/kernels/rows.h"
#include "rnnsearch/kernels/softmax.h"

namespace rnnsearch::decode {
namespace {

// Sentences share a product over shortlists until it has about so many rows.
constexpr std::size_t kRowsOfProduct = 32;

bool has_attention(const model::Model<float>& model) {
  return model.options().attention != model::Attention::kNone;
}

// log((1 - share) exp(a) + share exp(b))
double mixed(double a, double b, double share) {
  const double most = std::max(a, b);
  return most + std::log((1 - share) * std::exp(a - most) + share * std::exp(b - most));
}

}  // namespace

Ensemble::Ensemble(model::Model<float>& model) : models_{&model}, weights_{1.0} {}

Ensemble::Ensemble(std::vector<model::Model<float>*> models, std::vector<double> weights, EnsembleOf of)
    : models_(std::move(models)), weights_(std::move(weights)), of_(of) {
  assert(!models_.empty() && models_.size() == weights_.size());
  const double sum = std::accumulate(weights_.begin(), weights_.end(), 0.0);
  for (double& weight : weights_) {
    assert(weight > 0);
    weight /= sum;
  }
  for ([[maybe_unused]] const auto* model : models_) {
    assert(model->options().source_words == models_.front()->options().source_words);
    assert(model->options().target_words == target_words());
    assert(model->options().right_to_left() == right_to_left());
  }
}

std::size_t Ensemble::source_length(std::size_t words) const {
  std::size_t longest = 0;
  for (const auto* model : models_) longest = std::max(longest, model->options().source_length(words));
  return longest;
}

bool Ensemble::attends() const {
  return std::any_of(models_.begin(), models_.end(), [](const auto* model) { return has_attention(*model); });
}

EnsembleSteps::EnsembleSteps(const Ensemble& ensemble, std::size_t rows)
    : ensemble_(ensemble), rows_of_sentence_(rows) {
  for (std::size_t m = 0; m < ensemble.size(); ++m) {
    members_.push_back({&ensemble.model(m), has_attention(ensemble.model(m))});
  }
}

void EnsembleSteps::add(std::span<const std::uint32_t> kept, const Sentences& source, const Sentences& shortlists) {
  assert(waiting() == 0 && (shortlists.empty() || kept.empty()));
  first_waiting_ = static_cast<std::uint32_t>(kept.size());
  begun_ = 0;
  for (Member& member : members_) {
    for (auto& number : member.state.sentence) {
      number = static_cast<std::uint32_t>(std::lower_bound(kept.begin(), kept.end(), number) - kept.begin());
    }
    model::Encoded<float> encoded = member.model->encode(source);
    member.waiting = member.model->start(encoded);
    member.encoded.replace(kept, std::move(encoded));
    if (!shortlists.empty()) {
      member.shortlist =
          member.model->shortlist(shortlists, std::max<std::size_t>(1, kRowsOfProduct / rows_of_sentence_));
    }
  }
}

void EnsembleSteps::start(std::size_t count) {
  for (Member& member : members_) member.state.append(member.waiting, begun_, count, first_waiting_);
  begun_ += count;
}

std::size_t EnsembleSteps::source_length(std::size_t b) const {
  std::size_t longest = 0;
  for (const Member& member : members_) longest = std::max(longest, member.encoded.source_length(b));
  return longest;
}

void EnsembleSteps::predict(MatrixView<float> log_probabilities, MatrixView<float> alpha) {
  Member& first = members_.front();
  first.model->predict(first.encoded, first.state, {log_probabilities, alpha, nullptr, first.output()});
  // The models so far have the weights `all` and, of those with attention, `attending`.
  double all = ensemble_.weight(0), attending = first.attends ? all : 0;
  for (std::size_t m = 1; m < members_.size(); ++m) {
    Member& member = members_[m];
    const double weight = ensemble_.weight(m);
    const auto more = log_probabilities_.shape(log_probabilities.rows, log_probabilities.cols);
    const bool aligns = alpha.cols > 0 && member.attends;
    const auto more_alpha = aligns ? alpha_.shape(alpha.rows, alpha.cols) : MatrixView<float>();
    member.model->predict(member.encoded, member.state, {more, more_alpha, nullptr, member.output()});
    const double share = weight / (all + weight);
    if (ensemble_.of() == EnsembleOf::kProbabilities) {
      kernels::mix_log_probabilities<float>(more, share, log_probabilities);
    } else {
      kernels::interpolate<float>(more, share, log_probabilities);
    }
    if (aligns) kernels::interpolate<float>(more_alpha, weight / (attending + weight), alpha);
    all += weight;
    attending += member.attends ? weight : 0;
  }
}

void EnsembleSteps::predict(kernels::TopWords<float>& top, MatrixView<float> alpha) {
  assert(members_.size() == 1);
  Member& only = members_.front();
  only.model->predict(only.encoded, only.state, {{}, alpha, &top, only.output()});
}

void EnsembleSteps::predict_all(std::span<const std::uint32_t> row, MatrixView<float> log_probabilities) {
  Member& only = members_.front();
  only.model->predict_all(row, log_probabilities, {only.output(), only.state.sentence});
}

void EnsembleSteps::advance(std::span<const std::uint32_t> parent, std::span<const WordId> chosen) {
  for (Member& member : members_) {
    member.state.select(parent, chosen);
    member.model->advance(member.state);
  }
}

std::vector<double> score(const Ensemble& ensemble, const Sentences& source, const Sentences& target) {
  if (ensemble.size() == 1) return ensemble.model(0).score(source, target);
  auto words = ensemble.model(0).word_scores(source, target);
  double all = ensemble.weight(0);  // of the models so far
  for (std::size_t m = 1; m < ensemble.size(); ++m) {
    const auto more = ensemble.model(m).word_scores(source, target);
    const double share = ensemble.weight(m) / (all + ensemble.weight(m));
    for (std::size_t b = 0; b < words.size(); ++b) {
      for (std::size_t i = 0; i < words[b].size(); ++i) {
        double& score = words[b][i];
        score = ensemble.of() == EnsembleOf::kProbabilities ? mixed(score, more[b][i], share)
                                                            : (1 - share) * score + share * more[b][i];
      }
    }
    all += ensemble.weight(m);
  }
  std::vector<double> scores;
  scores.reserve(words.size());
  for (const auto& of_pair : words) scores.push_back(std::accumulate(of_pair.begin(), of_pair.end(), 0.0));
  return scores;
}

}  // namespace rnnsearch::decode

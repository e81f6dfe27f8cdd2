#include "rnnsearch/decode/ensemble.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <utility>

#include "rnnsearch/base/parallel.h"
#include "rnnsearch/base/portable.h"
#include "rnnsearch/kernels/softmax.h"

namespace rnnsearch::decode {
namespace {

// Sentences share a product over shortlists until it has about so many rows.
constexpr std::size_t kRowsOfProduct = 32;

bool has_attention(const model::Model& model) { return model.options().attention != model::Attention::kNone; }

// log((1 - share) exp(a) + share exp(b))
double mixed(double a, double b, double share) {
  const double most = std::max(a, b);
  return most + portable::log((1 - share) * portable::exp(a - most) + share * portable::exp(b - most));
}

}  // namespace

Ensemble::Ensemble(model::Model& model) : models_{&model}, weights_{1.0} {}

Ensemble::Ensemble(std::vector<model::Model*> models, std::vector<double> weights, EnsembleMean mean)
    : models_(std::move(models)), weights_(std::move(weights)), mean_(mean) {
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
    : ensemble_(ensemble), rows_of_sentence_(rows), members_(ensemble.size()) {
  for (std::size_t m = 0; m < ensemble.size(); ++m) {
    members_[m].model = &ensemble.model(m);
    members_[m].attends = has_attention(ensemble.model(m));
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
    model::Encoded encoded = member.model->encode(source);
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

void EnsembleSteps::run(std::size_t m, model::Prediction wanted, MatrixView<float> alpha) {
  Member& member = members_[m];
  if (m == 0) attending_ = 0;
  wanted.shortlist = member.output();
  if (m == 0) wanted.alpha = alpha;
  const bool joins = m > 0 && alpha.cols > 0 && member.attends;
  if (joins) wanted.alpha = alpha_.shape(alpha.rows, alpha.cols);
  member.model->predict(member.encoded, member.state, wanted);
  if (member.attends) attending_ += ensemble_.weight(m);
  if (joins) kernels::interpolate({wanted.alpha, ensemble_.weight(m) / attending_, alpha});
}

template <class Write>
void EnsembleSteps::mix(MatrixView<float> to, const Write& write) {
  double all = 0;  // the weight of the models so far
  for (std::size_t m = 0; m < members_.size(); ++m) {
    const auto own = m == 0 ? to : log_probabilities_.shape(to.rows, to.cols);
    write(m, own);
    all += ensemble_.weight(m);
    if (m == 0) continue;
    const double share = ensemble_.weight(m) / all;
    if (ensemble_.mean() == EnsembleMean::kProbabilities) {
      kernels::mix_log_probabilities({own, share, to});
    } else {
      kernels::interpolate({own, share, to});
    }
  }
}

void EnsembleSteps::predict(MatrixView<float> log_probabilities, MatrixView<float> alpha) {
  mix(log_probabilities, [&](std::size_t m, MatrixView<float> own) { run(m, {own, {}, nullptr, nullptr}, alpha); });
}

void EnsembleSteps::predict_all(std::span<const std::uint32_t> row, MatrixView<float> log_probabilities) {
  mix(log_probabilities, [&](std::size_t m, MatrixView<float> own) {
    members_[m].model->predict_all(row, own, {members_[m].output(), members_[m].state.sentence});
  });
}

// Each model tells the scores of all words that some model lists. That of a word in no list is at most the mean of the
// scores of the last words of the lists.
void EnsembleSteps::predict_listed(std::size_t length, MatrixView<float> alpha) {
  for (std::size_t m = 0; m < members_.size(); ++m) {
    members_[m].top.limit = length;
    run(m, {{}, {}, &members_[m].top, nullptr}, alpha);
  }
  if (members_.size() == 1) return;
  const std::size_t R = rows(), width = members_.size() * length + 1;
  lists_.resize(R);
  parallel_for(R, [&](std::size_t i) {
    auto& list = lists_[i];
    list.clear();
    for (const Member& member : members_) {
      for (const auto& entry : member.top.row(i)) {
        if (std::ranges::find(list, entry.word, &NextWords::Entry::word) == list.end()) list.push_back(entry);
      }
    }
  });
  const auto mixed = mixed_.shape(R, width);
  mix(mixed, [&](std::size_t m, MatrixView<float> own) {
    std::vector<kernels::WordOfRow> unlisted;
    for (std::size_t i = 0; i < R; ++i) {
      std::fill_n(own.row(i), width, members_[m].others(i));
      const auto listed = members_[m].top.row(i);
      for (std::size_t k = 0; k < lists_[i].size(); ++k) {
        const auto found = std::ranges::find(listed, lists_[i][k].word, &NextWords::Entry::word);
        if (found != listed.end()) {
          own(i, k) = found->log_probability;
        } else {
          unlisted.push_back({i, lists_[i][k].word, &own(i, k)});
        }
      }
    }
    std::ranges::sort(unlisted, {}, &kernels::WordOfRow::word);
    members_[m].top.look_up(unlisted);
  });
  parallel_for(R, [&](std::size_t i) {
    for (std::size_t k = 0; k < lists_[i].size(); ++k) lists_[i][k].log_probability = mixed(i, k);
  });
}

NextWords EnsembleSteps::listed(std::size_t row) const {
  const auto is_nan = [&](const Member& member) { return member.top.is_nan(row); };
  if (std::any_of(members_.begin(), members_.end(), is_nan)) return {.is_nan = true};
  if (members_.size() == 1) return {.listed = members_[0].top.row(row), .others = members_[0].others(row)};
  float others = mixed_.view()(row, mixed_.view().cols - 1);
  // Twice the error of mix_log_probabilities, for each time that it was called.
  const auto calls = static_cast<float>(members_.size() - 1);
  if (others > kNever) others += 2 * calls * (1e-6F + 2e-7F * std::abs(others));
  return {.listed = lists_[row], .others = others};
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
        score = ensemble.mean() == EnsembleMean::kProbabilities ? mixed(score, more[b][i], share)
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

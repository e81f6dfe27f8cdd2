#include "cli/options/training_options.h"

#include <sstream>

#include "cli/options/common.h"
#include "rnnsearch/comm/meet.h"
#include "rnnsearch/decode/translate.h"
#include "rnnsearch/evaluate/metrics.h"
#include "rnnsearch/storage/sealed_file.h"
#include "rnnsearch/train/run_directory.h"

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
      !(file.weight > 0))
    throw UsageError("--mix is '{}', but must be a corpus, a colon and a weight above 0, such as back.h5:0.5", text);
  file.path = text.substr(0, colon);
  return file;
}

}  // namespace

void add_training_options(Options& options, TrainingSettings& settings) {
  declare_architecture(options, settings.model);
  declare(options, settings.train);

  options.group("When to stop (the first limit reached; 0: no limit)");
  options.add("stop-before", settings.stop_before, Later::kFree, within(0, 1e6),
              "minutes before the end of the job, fractions allowed, by which the last checkpoint is written; training "
              "then ends with exit code 85. The job ends at RNNSEARCH_END_TIME, or else at SLURM_JOB_END_TIME, in "
              "seconds since 1970. Default: 2 where one of them is set");

  options.group("Validation");
  options.add("validate-bleu", settings.validation.validate_bleu, Later::kFree,
              "translate the dev set at each validation and report BLEU and chrF (with --best-metric ter also TER, "
              "which takes longer)");
  options.add("validate-beam", settings.validation.validate_beam, Later::kFree, within(1, 1000),
              "beam width of the translations of --validate-bleu; 1 is greedy search");
  options.add(
      "validate-sentences", settings.validation.validate_sentences, Later::kFree, within(1, 1e5),
      "number of sentences of the dev set that each rank processes together; affects memory and speed, not the result");
}

void add_mixture(Options& options, std::vector<std::string>& mix) {
  options.add("mix", mix, Placeholder{"FILE:WEIGHT"}, kWeightedFile, Later::kFree,
              "another corpus to train on, and the number of its pairs per pair of --corpus, such as back.h5:0.5; "
              "repeat the option for several corpora. All corpora need the same vocabularies and text options (prepare "
              "--vocabulary-of); an epoch is one pass over --corpus");
}

std::vector<std::filesystem::path> path_without_weight(const std::string& text) { return {mixed_file(text).path}; }

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
  return first_.has_alignments() ||
         std::ranges::any_of(corpora_, [](const corpus::Corpus& other) { return other.has_alignments(); });
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

namespace {

class DevSet {
 public:
  DevSet(const corpus::Corpus& corpus, const comm::Communicator& communicator, const ValidationOptions& options)
      : corpus_(corpus), world_(communicator), options_(options), set_(corpus.read_set("dev")) {
    if (set_.source.empty())
      throw Error("the dev set holds no sentence pairs; prepare the corpus again with a dev set");
    std::vector<std::uint32_t> order(set_.source.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order, [&](auto a, auto b) { return set_.source.length(a) < set_.source.length(b); });
    const auto ranks = static_cast<std::size_t>(communicator.size()), chunk = options.validate_sentences;
    // What is computed together may decide roundings, so groups that are the same on any number of ranks are cut before
    // they are dealt out. Otherwise each rank cuts its share, so that all have as much to do.
    shares_.resize(ranks);
    if (options.same_on_any_ranks) {
      for (std::size_t i = 0; i < order.size(); ++i) add(order[i], i % chunk == 0, shares_[i / chunk % ranks]);
    } else {
      for (std::size_t i = 0; i < order.size(); ++i) add(order[i], i / ranks % chunk == 0, shares_[i % ranks]);
    }
  }

  train::ValidationResult validate(model::Model& model, const std::function<bool()>& should_stop,
                                   std::string& translations) const {
    const auto& share = shares_[static_cast<std::size_t>(world_.rank())];
    const std::size_t turns = shares_.front().size();
    std::vector<double> losses(turns);  // negative log-likelihoods
    double sums[] = {0, 0};             // words, sentences whose translation is NaN
    std::string lines;
    // Rank 0 has the most groups; all ranks make as many turns, for should_stop asks all of them.
    for (std::size_t turn = 0; turn < turns; ++turn) {
      if (should_stop()) return {0, 0, true};
      if (turn == share.size()) continue;  // it has one group less
      Sentences source, target;
      for (const std::uint32_t sentence : share[turn]) {
        source.add(set_.source[sentence]);
        target.add(set_.target[sentence]);
      }
      const model::Loss part = model.loss(source, target);
      losses[turn] = part.negative_log_likelihood;
      sums[0] += static_cast<double>(part.words);
      if (options_.validate_bleu) lines += translated(model, source, sums[1]);
    }
    world_.all_reduce(std::span<double>(sums));
    const std::vector<double> of_ranks = world_.all_gather(losses);
    double loss = 0;
    for (std::size_t turn = 0; turn < turns; ++turn) {  // in the order of the groups
      for (std::size_t rank = 0; rank < shares_.size(); ++rank) loss += of_ranks[rank * turns + turn];
    }
    const bool scored = options_.validate_bleu && sums[1] == 0;
    train::ValidationResult result{loss / sums[0], std::nan("")};
    if (scored) score(world_.gather(lines), translations, result);
    return result;
  }

  /// The translation of example_of.
  std::string example(model::Model& model) const {
    Sentences source;
    source.add(set_.source[example_of(set_.source)]);
    double ignored = 0;
    std::string line = translated(model, source, ignored);
    line.pop_back();
    return line;
  }

 private:
  using Group = std::vector<std::uint32_t>;  // sentences that are computed together

  static void add(std::uint32_t sentence, bool begins, std::vector<Group>& groups) {
    if (begins) groups.emplace_back();
    groups.back().push_back(sentence);
  }

  std::vector<corpus::PlaceholderWord> placeholders() const {
    return corpus::known_placeholders(corpus_.pipeline(), corpus_.source_vocabulary(), corpus_.target_vocabulary());
  }

  /// One line a sentence; adds to `nan` those for which the model computes NaN.
  std::string translated(model::Model& model, const Sentences& source, double& nan) const {
    decode::SearchOptions search;
    search.beam = options_.validate_beam;
    search.retry_below = 0;  // early in a training hardly any hypothesis ends, and retries would take most of its time
    search.batch_sentences = options_.validate_sentences;
    search.placeholders = placeholders();
    std::string lines;
    for (const auto& best : decode::translate(model, source, search)) {
      if (best.front().is_nan()) ++nan;
      std::vector<std::string> words;
      for (const WordId id : best.front().words) words.push_back(corpus_.target_vocabulary().word_in_text(id));
      lines += corpus_.pipeline().to_text(words) + '\n';
    }
    return lines;
  }

  /// At the root: the scores, and all translations in the order of the dev set.
  void score(const std::vector<std::string>& of_ranks, std::string& translations,
             train::ValidationResult& result) const {
    if (!world_.is_root()) return;
    std::vector<std::string> hypotheses(set_.source.size());
    for (std::size_t rank = 0; rank < of_ranks.size(); ++rank) {
      std::istringstream lines(of_ranks[rank]);
      for (const Group& group : shares_[rank]) {
        for (const std::uint32_t sentence : group) std::getline(lines, hypotheses[sentence]);
      }
    }
    const std::size_t known = placeholders().size();
    for (std::size_t i = 0; known > 0 && i < hypotheses.size(); ++i) {
      std::vector<std::string> spans;
      corpus_.pipeline().source_line(set_.source_text[i], known, spans);
      hypotheses[i] = text::with_spans(hypotheses[i], spans);
    }
    for (const auto& line : hypotheses) translations += line + '\n';
    result.bleu = evaluate::corpus_bleu(hypotheses, set_.references, {}).score;
    result.chrf = evaluate::corpus_chrf(hypotheses, set_.references, {});
    if (options_.ter) result.ter = evaluate::corpus_ter(hypotheses, set_.references, {});
  }

  const corpus::Corpus& corpus_;
  const comm::Communicator& world_;
  ValidationOptions options_;
  corpus::EvaluationSet set_;
  std::vector<std::vector<Group>> shares_;  // of each rank
};

}  // namespace

std::string dev_set_of(const corpus::Corpus& corpus, const ValidationOptions& options, train::BestMetric metric) {
  const corpus::EvaluationSet set = corpus.read_set("dev");
  storage::Digest digest;
  for (const Sentences* sentences : {&set.source, &set.target}) {
    for (std::size_t i = 0; i < sentences->size(); ++i) digest.add(std::as_bytes((*sentences)[i])).add("\n");
  }
  if (metric == train::BestMetric::kLoss) return "dev set " + digest.hex();
  for (const auto& reference : set.references) {
    for (const std::string& line : reference) digest.add(line).add("\n");
  }
  return fmt::format("dev set {}, beam {}", digest.hex(), options.validate_beam);
}

std::size_t example_of(const Sentences& source) {
  std::vector<std::size_t> lines(source.size());
  std::iota(lines.begin(), lines.end(), std::size_t{0});
  const auto middle = lines.begin() + static_cast<std::ptrdiff_t>(lines.size() / 2);
  std::nth_element(lines.begin(), middle, lines.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(source.length(a), a) < std::pair(source.length(b), b);
  });
  return *middle;
}

train::Validator make_validator(const corpus::Corpus& corpus, const comm::Communicator& communicator,
                                const ValidationOptions& options,
                                std::function<void(std::uint64_t update, const std::string& translations)> keep,
                                std::function<void(const std::string& translation)> show) {
  const bool is_root = communicator.is_root();
  return [is_root, dev = std::make_shared<const DevSet>(corpus, communicator, options), keep = std::move(keep),
          show = std::move(show)](model::Model& model, std::uint64_t update, const std::function<bool()>& should_stop) {
    std::string translations;
    const auto result = dev->validate(model, should_stop, translations);
    if (!translations.empty()) keep(update, translations);
    if (is_root && !result.interrupted) show(dev->example(model));
    return result;
  };
}

}  // namespace rnnsearch::cli

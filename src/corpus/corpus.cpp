#include "rnnsearch/corpus/corpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "rnnsearch/base/error.h"
#include "rnnsearch/corpus/format.h"
#include "rnnsearch/storage/sealed_file.h"

namespace rnnsearch::corpus {
namespace {

constexpr const char* kRemedy = "; make it again with rnnsearch prepare";

/// One side ("source", "target") of the training part or an evaluation set, or its "alignment".
struct SideData {
  std::string words_path, offset_path;
  std::uint64_t pairs = 0, words = 0;
};

SideData inspect_side(const storage::File& file, const std::string& group, const std::string& side) {
  SideData data{group + "/" + side + "_words", group + "/" + side + "_offset", 0, 0};
  const std::uint64_t offsets = file.shape(data.offset_path)[0];
  data.words = file.shape(data.words_path)[0];
  if (offsets == 0) throw Error("corpus: {} of {} is empty{}", data.offset_path, file.name(), kRemedy);
  data.pairs = offsets - 1;
  const std::uint64_t first = file.read_range<std::uint64_t>(data.offset_path, 0, 1)[0];
  const std::uint64_t last = file.read_range<std::uint64_t>(data.offset_path, data.pairs, 1)[0];
  if (first != 0 || last != data.words)
    throw Error("corpus: {} of {} begins at {} and ends at {} but there are {} words{}", data.offset_path, file.name(),
                first, last, data.words, kRemedy);
  return data;
}

/// Evaluation sets keep every pair. Training pairs have words on both sides, unless empty targets were kept.
enum class Lengths { kAny, kPositive };

/// The starts of sentences [first, first + count) of one side, and the end of the last one: [count + 1].
std::vector<std::uint64_t> read_offsets(const storage::File& file, const SideData& data, std::uint64_t first,
                                        std::uint64_t count, Lengths lengths) {
  auto offsets = file.read_range<std::uint64_t>(data.offset_path, first, count + 1);
  if (!std::is_sorted(offsets.begin(), offsets.end()) || offsets.back() > data.words)
    throw Error("corpus: {} of {} is not ascending between the pairs {} and {}{}", data.offset_path, file.name(), first,
                first + count, kRemedy);
  if (const auto empty = std::adjacent_find(offsets.begin(), offsets.end());
      lengths == Lengths::kPositive && empty != offsets.end())
    throw Error("corpus: {} of {} gives pair {} no words{}", data.offset_path, file.name(),
                first + static_cast<std::uint64_t>(empty - offsets.begin()), kRemedy);
  return offsets;
}

/// Appends sentences [first, first + count) of one side.
void read_side(const storage::File& file, const SideData& data, std::uint64_t first, std::uint64_t count,
               std::size_t vocabulary, Lengths lengths, Sentences& sentences) {
  const auto offsets = read_offsets(file, data, first, count, lengths);
  const auto words = file.read_range<WordId>(data.words_path, offsets.front(), offsets.back() - offsets.front());
  const auto odd = [&](WordId id) { return id >= vocabulary || id == kStart || id == kEnd; };
  const auto beyond = std::find_if(words.begin(), words.end(), odd);
  if (beyond != words.end() && *beyond < vocabulary)
    throw Error("corpus: {} of {} holds {} among its words{}", data.words_path, file.name(), kSpecialSymbols[*beyond],
                kRemedy);
  if (beyond != words.end())
    throw Error("corpus: {} of {} holds the word id {} but the vocabulary has {} words{}", data.words_path, file.name(),
                *beyond, vocabulary, kRemedy);
  const std::uint64_t shift = sentences.words.size() - offsets.front();  // may wrap around; the addition wraps back
  sentences.words.insert(sentences.words.end(), words.begin(), words.end());
  for (std::size_t i = 1; i < offsets.size(); ++i) sentences.offsets.push_back(offsets[i] + shift);
}

std::vector<float> read_weights(const storage::File& file, std::uint64_t first, std::uint64_t count) {
  auto weights = file.read_range<float>(kWeights, first, count);
  for (const float weight : weights)
    if (!(weight >= 0) || !std::isfinite(weight))
      throw Error("corpus: {} of {} holds {}, which is no weight of a pair{}", kWeights, file.name(), weight, kRemedy);
  return weights;
}

/// Appends the links of pairs [first, first + count), which are the last ones of `block`.
void read_links(const storage::File& file, const SideData& data, std::uint64_t first, std::uint64_t count,
                PairBlock& block) {
  const auto offsets = read_offsets(file, data, first, count, Lengths::kAny);
  const auto positions = file.read_range<WordId>(data.words_path, offsets.front(), offsets.back() - offsets.front());
  const std::size_t pair_of_first = block.source.size() - count;
  for (std::size_t i = 0; i < count; ++i) {
    const auto links = std::span(positions).subspan(offsets[i] - offsets.front(), offsets[i + 1] - offsets[i]);
    const std::uint64_t ends[] = {block.source.length(pair_of_first + i), block.target.length(pair_of_first + i)};
    bool sound = links.size() % 2 == 0;
    for (std::size_t k = 0; k < links.size(); ++k) sound = sound && links[k] < ends[k % 2];
    if (!sound)
      throw Error("corpus: {} of {} does not hold links between the words of pair {}{}", data.words_path, file.name(),
                  first + i, kRemedy);
    block.links.add(links);
  }
}

}  // namespace

struct Corpus::Implementation {
  std::filesystem::path path;
  storage::File file;
  Vocabulary source_vocabulary, target_vocabulary;
  bool joint_vocabulary = false;
  TextPipeline pipeline;
  std::string fingerprint;
  Selection selection;
  SideData source, target;  // of the training part
  std::optional<SideData> alignment;
  bool has_weights = false;

  Implementation(const std::filesystem::path& path_, Verify verify, const std::function<void()>& poll)
      : path(path_),
        file(storage::open_sealed(path, "corpus",
                                  verify == Verify::kDigest ? storage::SealCheck::kDigest : storage::SealCheck::kFooter,
                                  poll)) {
    storage::check_format(file, kCorpusFormat);
    source_vocabulary = read_vocabulary(file, "source");
    target_vocabulary = read_vocabulary(file, "target");
    joint_vocabulary = file.has_attribute("/vocabulary", kJoint);
    pipeline = read_pipeline(file);
    if (joint_vocabulary && source_vocabulary.words() != target_vocabulary.words())
      throw Error("corpus: the two sides of {} should share a vocabulary but have different words{}", file.name(),
                  kRemedy);
    fingerprint = file.text_attribute("/", "fingerprint");
    selection = read_selection(file);
    check_text(file, "/", fingerprint);
    std::tie(source, target) = inspect_pairs("/train");
    has_weights = file.exists(kWeights);
    if (has_weights && file.shape(kWeights)[0] != source.pairs)
      throw Error("corpus: {} of {} has {} weights for {} pairs{}", kWeights, file.name(), file.shape(kWeights)[0],
                  source.pairs, kRemedy);
    if (!file.exists("/train/alignment_words")) return;
    alignment = inspect_side(file, "/train", "alignment");
    if (alignment->pairs != source.pairs)
      throw Error("corpus: /train of {} has {} alignments for {} pairs{}", file.name(), alignment->pairs, source.pairs,
                  kRemedy);
  }

  Lengths target_lengths() const { return selection.cleaning.keep_empty_targets ? Lengths::kAny : Lengths::kPositive; }

  std::pair<SideData, SideData> inspect_pairs(const std::string& group) const {
    std::pair<SideData, SideData> sides{inspect_side(file, group, "source"), inspect_side(file, group, "target")};
    if (sides.first.pairs != sides.second.pairs)
      throw Error("corpus: {} of {} has {} source and {} target sentences{}", group, file.name(), sides.first.pairs,
                  sides.second.pairs, kRemedy);
    return sides;
  }

  std::vector<std::string> set_names() const {
    std::vector<std::string> names;
    if (file.exists("/dev")) names.emplace_back("dev");
    if (file.exists("/test"))
      for (const std::string& name : file.children("/test")) names.push_back("test/" + name);
    return names;
  }
};

Corpus::Corpus(const std::filesystem::path& path, Verify verify, const std::function<void()>& poll) {
  try {
    implementation_ = std::make_unique<Implementation>(path, verify, poll);
  } catch (const Error& error) {
    const std::string message = error.what();
    throw Error(message.starts_with("corpus: ") ? message : "corpus: " + message);
  }
}
Corpus::~Corpus() = default;
Corpus::Corpus(Corpus&&) noexcept = default;
Corpus& Corpus::operator=(Corpus&&) noexcept = default;

const std::filesystem::path& Corpus::path() const {
  return implementation_->path;
}
const Vocabulary& Corpus::source_vocabulary() const {
  return implementation_->source_vocabulary;
}
const Vocabulary& Corpus::target_vocabulary() const {
  return implementation_->target_vocabulary;
}
bool Corpus::joint_vocabulary() const {
  return implementation_->joint_vocabulary;
}
const TextPipeline& Corpus::pipeline() const {
  return implementation_->pipeline;
}
const std::string& Corpus::fingerprint() const {
  return implementation_->fingerprint;
}
const Selection& Corpus::selection() const {
  return implementation_->selection;
}
std::uint64_t Corpus::train_pairs() const {
  return implementation_->source.pairs;
}
std::uint64_t Corpus::train_source_words() const {
  return implementation_->source.words;
}
std::uint64_t Corpus::train_target_words() const {
  return implementation_->target.words;
}
bool Corpus::has_alignments() const {
  return implementation_->alignment.has_value();
}
bool Corpus::has_weights() const {
  return implementation_->has_weights;
}
std::vector<std::string> Corpus::set_names() const {
  return implementation_->set_names();
}

PairBlock Corpus::read_pairs(std::uint64_t first, std::uint64_t count) const {
  const Implementation& it = *implementation_;
  assert(first <= it.source.pairs && count <= it.source.pairs - first);
  PairBlock block;
  read_side(it.file, it.source, first, count, it.source_vocabulary.size(), Lengths::kPositive, block.source);
  read_side(it.file, it.target, first, count, it.target_vocabulary.size(), it.target_lengths(), block.target);
  if (it.alignment) read_links(it.file, *it.alignment, first, count, block);
  block.weights = it.has_weights ? read_weights(it.file, first, count) : std::vector(count, 1.0F);
  return block;
}

std::array<std::vector<std::uint64_t>, 2> Corpus::read_lengths(std::uint64_t first, std::uint64_t count) const {
  const Implementation& it = *implementation_;
  assert(first <= it.source.pairs && count <= it.source.pairs - first);
  const auto lengths = [&](const SideData& data, Lengths expected) {
    auto offsets = read_offsets(it.file, data, first, count, expected);
    std::adjacent_difference(offsets.begin(), offsets.end(), offsets.begin());
    offsets.erase(offsets.begin());
    return offsets;
  };
  return {lengths(it.source, Lengths::kPositive), lengths(it.target, it.target_lengths())};
}

EvaluationSet Corpus::read_set(const std::string& name) const {
  const Implementation& it = *implementation_;
  const std::vector<std::string> names = it.set_names();
  if (std::find(names.begin(), names.end(), name) == names.end())
    throw Error("corpus: {} has no set '{}'; it has {}", it.file.name(), name,
                names.empty() ? "none" : fmt::to_string(fmt::join(names, ", ")));
  const std::string group = "/" + name;
  EvaluationSet set;
  set.name = name;
  const auto [source, target] = it.inspect_pairs(group);
  const std::uint64_t pairs = source.pairs;
  read_side(it.file, source, 0, pairs, it.source_vocabulary.size(), Lengths::kAny, set.source);
  read_side(it.file, target, 0, pairs, it.target_vocabulary.size(), Lengths::kAny, set.target);
  const auto texts = [&](const std::string& path) {
    auto lines = it.file.read_texts(path);
    if (lines.size() != pairs)
      throw Error("corpus: {} of {} has {} lines for {} pairs{}", path, it.file.name(), lines.size(), pairs, kRemedy);
    for (const std::string& line : lines) check_text(it.file, path, line);
    return lines;
  };
  set.source_text = texts(group + "/source_text");
  do {
    set.references.push_back(texts(group + "/" + reference_name(set.references.size())));
  } while (it.file.exists(group + "/" + reference_name(set.references.size())));
  return set;
}

}  // namespace rnnsearch::corpus

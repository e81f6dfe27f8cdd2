#include "rnnsearch/corpus/corpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <tuple>

#include "rnnsearch/base/error.h"
#include "rnnsearch/corpus/format.h"
#include "rnnsearch/storage/sealed_file.h"

namespace rnnsearch::corpus {
namespace {

constexpr const char* kRemedy = "; make it again with rnnsearch prepare";

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
Lengths target_lengths(const Selection& selection) {
  return selection.cleaning.keep_empty_targets ? Lengths::kAny : Lengths::kPositive;
}

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

Corpus::Corpus(const std::filesystem::path& path, Verify verify, const std::function<void()>& poll) try
    : path_(path),
      file_(storage::open_sealed(path, "corpus",
                                 verify == Verify::kDigest ? storage::SealCheck::kDigest : storage::SealCheck::kFooter,
                                 poll)) {
  storage::check_format(file_, kCorpusFormat);
  source_vocabulary_ = read_vocabulary(file_, "source");
  target_vocabulary_ = read_vocabulary(file_, "target");
  joint_vocabulary_ = file_.has_attribute("/vocabulary", kJoint);
  pipeline_ = read_pipeline(file_);
  if (joint_vocabulary_ && source_vocabulary_.words() != target_vocabulary_.words())
    throw Error("corpus: the two sides of {} should share a vocabulary but have different words{}", file_.name(),
                kRemedy);
  fingerprint_ = file_.text_attribute("/", "fingerprint");
  selection_ = read_selection(file_);
  check_text(file_, "/", fingerprint_);
  std::tie(source_, target_) = inspect_pairs("/train");
  has_weights_ = file_.exists(kWeights);
  if (has_weights_ && file_.shape(kWeights)[0] != source_.pairs)
    throw Error("corpus: {} of {} has {} weights for {} pairs{}", kWeights, file_.name(), file_.shape(kWeights)[0],
                source_.pairs, kRemedy);
  if (!file_.exists("/train/alignment_words")) return;
  alignment_ = inspect_side(file_, "/train", "alignment");
  if (alignment_->pairs != source_.pairs)
    throw Error("corpus: /train of {} has {} alignments for {} pairs{}", file_.name(), alignment_->pairs, source_.pairs,
                kRemedy);
} catch (const Error& error) {
  const std::string message = error.what();
  throw Error(message.starts_with("corpus: ") ? message : "corpus: " + message);
}

std::pair<SideData, SideData> Corpus::inspect_pairs(const std::string& group) const {
  std::pair<SideData, SideData> sides{inspect_side(file_, group, "source"), inspect_side(file_, group, "target")};
  if (sides.first.pairs != sides.second.pairs)
    throw Error("corpus: {} of {} has {} source and {} target sentences{}", group, file_.name(), sides.first.pairs,
                sides.second.pairs, kRemedy);
  return sides;
}

std::vector<std::string> Corpus::set_names() const {
  std::vector<std::string> names;
  if (file_.exists("/dev")) names.emplace_back("dev");
  if (file_.exists("/test"))
    for (const std::string& name : file_.children("/test")) names.push_back("test/" + name);
  return names;
}

PairBlock Corpus::read_pairs(std::uint64_t first, std::uint64_t count) const {
  assert(first <= source_.pairs && count <= source_.pairs - first);
  PairBlock block;
  read_side(file_, source_, first, count, source_vocabulary_.size(), Lengths::kPositive, block.source);
  read_side(file_, target_, first, count, target_vocabulary_.size(), target_lengths(selection_), block.target);
  if (alignment_) read_links(file_, *alignment_, first, count, block);
  block.weights = has_weights_ ? read_weights(file_, first, count) : std::vector(count, 1.0F);
  return block;
}

std::array<std::vector<std::uint64_t>, 2> Corpus::read_lengths(std::uint64_t first, std::uint64_t count) const {
  assert(first <= source_.pairs && count <= source_.pairs - first);
  const auto lengths = [&](const SideData& data, Lengths expected) {
    auto offsets = read_offsets(file_, data, first, count, expected);
    std::adjacent_difference(offsets.begin(), offsets.end(), offsets.begin());
    offsets.erase(offsets.begin());
    return offsets;
  };
  return {lengths(source_, Lengths::kPositive), lengths(target_, target_lengths(selection_))};
}

EvaluationSet Corpus::read_set(const std::string& name) const {
  const std::vector<std::string> names = set_names();
  if (std::find(names.begin(), names.end(), name) == names.end())
    throw Error("corpus: {} has no set '{}'; it has {}", file_.name(), name,
                names.empty() ? "none" : fmt::to_string(fmt::join(names, ", ")));
  const std::string group = "/" + name;
  EvaluationSet set;
  set.name = name;
  const auto [source, target] = inspect_pairs(group);
  const std::uint64_t pairs = source.pairs;
  read_side(file_, source, 0, pairs, source_vocabulary_.size(), Lengths::kAny, set.source);
  read_side(file_, target, 0, pairs, target_vocabulary_.size(), Lengths::kAny, set.target);
  const auto texts = [&](const std::string& path) {
    auto lines = file_.read_texts(path);
    if (lines.size() != pairs)
      throw Error("corpus: {} of {} has {} lines for {} pairs{}", path, file_.name(), lines.size(), pairs, kRemedy);
    for (const std::string& line : lines) check_text(file_, path, line);
    return lines;
  };
  set.source_text = texts(group + "/source_text");
  do {
    set.references.push_back(texts(group + "/" + reference_name(set.references.size())));
  } while (file_.exists(group + "/" + reference_name(set.references.size())));
  return set;
}

}  // namespace rnnsearch::corpus

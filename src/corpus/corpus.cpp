#include "rnnsearch/corpus/corpus.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "rnnsearch/base/error.h"
#include "rnnsearch/corpus/format.h"
#include "rnnsearch/storage/sealed_file.h"

namespace rnnsearch::corpus {
namespace {

constexpr const char* kRemedy = "; make it again with rnnsearch prepare";

/// One side ("source", "target") of a shard or an evaluation set.
struct SideData {
  std::string words_path, offset_path;
  std::uint64_t pairs = 0, words = 0;
};

struct Shard {
  std::uint64_t first = 0;  // number of its first pair in the training part
  SideData source, target;
  std::optional<SideData> alignment;
  std::uint64_t pairs() const { return source.pairs; }
};

SideData inspect_side(const storage::File& file, const std::string& group, const std::string& side) {
  SideData data{group + "/" + side + "_words", group + "/" + side + "_offset", 0, 0};
  const auto one = [&](const std::string& path) {
    const auto shape = file.shape(path);
    if (shape.size() != 1) throw Error("corpus: {} of {} is not a list{}", path, file.name(), kRemedy);
    return shape[0];
  };
  const std::uint64_t offsets = one(data.offset_path);
  data.words = one(data.words_path);
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
  std::optional<Selection> selection;
  std::vector<Shard> shards;
  std::uint64_t pairs = 0, source_words = 0, target_words = 0;

  Implementation(const std::filesystem::path& path_, Verify verify, const std::function<void()>& poll)
      : path(path_),
        file(storage::open_sealed(path, "corpus",
                                  verify == Verify::kDigest ? storage::SealCheck::kDigest : storage::SealCheck::kFooter,
                                  poll)) {
    storage::check_format(file, kCorpusFormat, kCorpusVersion);
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
    const std::size_t count = file.children("/train").size();
    for (std::size_t i = 0; i < count; ++i) {
      const std::string group = shard_path(i);
      Shard shard{pairs, inspect_side(file, group, "source"), inspect_side(file, group, "target"), {}};
      if (file.exists(group + "/alignment_words")) shard.alignment = inspect_side(file, group, "alignment");
      expect_pairs(group, shard);
      pairs += shard.pairs();
      source_words += shard.source.words;
      target_words += shard.target.words;
      shards.push_back(std::move(shard));
    }
  }

  Lengths target_lengths() const {
    return selection && selection->cleaning.keep_empty_targets ? Lengths::kAny : Lengths::kPositive;
  }

  void expect_same_pairs(const std::string& group, const Shard& shard) const {
    if (shard.source.pairs != shard.target.pairs)
      throw Error("corpus: {} of {} has {} source and {} target sentences{}", group, file.name(), shard.source.pairs,
                  shard.target.pairs, kRemedy);
  }

  /// Of a shard of the training part: either all of them have alignments or none.
  void expect_pairs(const std::string& group, const Shard& shard) const {
    expect_same_pairs(group, shard);
    const bool aligned = shards.empty() ? shard.alignment.has_value() : shards.front().alignment.has_value();
    if (shard.alignment.has_value() != aligned || (aligned && shard.alignment->pairs != shard.pairs()))
      throw Error("corpus: {} of {} has {} alignments for {} pairs{}", group, file.name(),
                  shard.alignment ? shard.alignment->pairs : 0, shard.pairs(), kRemedy);
  }

  /// Calls take(shard, first pair within the shard, number of pairs) for each shard that has some of the pairs [first,
  /// first + count).
  template <class Take>
  void for_each_part(std::uint64_t first, std::uint64_t count, const Take& take) const {
    assert(first <= pairs && count <= pairs - first);
    auto shard = std::upper_bound(shards.begin(), shards.end(), first,
                                  [](std::uint64_t pair, const Shard& other) { return pair < other.first; });
    if (shard != shards.begin()) --shard;
    for (; count > 0; ++shard) {
      const std::uint64_t start = first - shard->first, part = std::min(count, shard->pairs() - start);
      take(*shard, start, part);
      first += part;
      count -= part;
    }
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
const std::optional<Selection>& Corpus::selection() const {
  return implementation_->selection;
}
std::uint64_t Corpus::train_pairs() const {
  return implementation_->pairs;
}
std::uint64_t Corpus::train_source_words() const {
  return implementation_->source_words;
}
std::uint64_t Corpus::train_target_words() const {
  return implementation_->target_words;
}
bool Corpus::has_alignments() const {
  return !implementation_->shards.empty() && implementation_->shards.front().alignment;
}
std::vector<std::string> Corpus::set_names() const {
  return implementation_->set_names();
}

PairBlock Corpus::read_pairs(std::uint64_t first, std::uint64_t count) const {
  const Implementation& it = *implementation_;
  PairBlock block;
  it.for_each_part(first, count, [&](const Shard& shard, std::uint64_t start, std::uint64_t part) {
    read_side(it.file, shard.source, start, part, it.source_vocabulary.size(), Lengths::kPositive, block.source);
    read_side(it.file, shard.target, start, part, it.target_vocabulary.size(), it.target_lengths(), block.target);
    if (shard.alignment) read_links(it.file, *shard.alignment, start, part, block);
  });
  return block;
}

std::array<std::vector<std::uint64_t>, 2> Corpus::read_lengths(std::uint64_t first, std::uint64_t count) const {
  const Implementation& it = *implementation_;
  std::array<std::vector<std::uint64_t>, 2> lengths;
  it.for_each_part(first, count, [&](const Shard& shard, std::uint64_t start, std::uint64_t part) {
    for (const auto& [data, list] : {std::pair{&shard.source, &lengths[0]}, {&shard.target, &lengths[1]}}) {
      const auto offsets =
          read_offsets(it.file, *data, start, part, data == &shard.source ? Lengths::kPositive : it.target_lengths());
      for (std::size_t i = 0; i + 1 < offsets.size(); ++i) list->push_back(offsets[i + 1] - offsets[i]);
    }
  });
  return lengths;
}

EvaluationSet Corpus::read_set(const std::string& name) const {
  const Implementation& it = *implementation_;
  const std::vector<std::string> names = it.set_names();
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    std::string list;
    for (const std::string& other : names) list += (list.empty() ? "" : ", ") + other;
    throw Error("corpus: {} has no set '{}'; it has {}", it.file.name(), name, list.empty() ? "none" : list);
  }
  const std::string group = "/" + name;
  EvaluationSet set;
  set.name = name;
  const Shard shard{0, inspect_side(it.file, group, "source"), inspect_side(it.file, group, "target"), {}};
  it.expect_same_pairs(group, shard);
  read_side(it.file, shard.source, 0, shard.pairs(), it.source_vocabulary.size(), Lengths::kAny, set.source);
  read_side(it.file, shard.target, 0, shard.pairs(), it.target_vocabulary.size(), Lengths::kAny, set.target);
  const auto texts = [&](const std::string& path) {
    auto lines = it.file.read_texts(path);
    if (lines.size() != shard.pairs())
      throw Error("corpus: {} of {} has {} lines for {} pairs{}", path, it.file.name(), lines.size(), shard.pairs(),
                  kRemedy);
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

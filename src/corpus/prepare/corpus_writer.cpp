#include "corpus/prepare/corpus_writer.h"

#include <algorithm>
#include <cassert>
#include <string_view>
#include <utility>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/parallel.h"
#include "rnnsearch/corpus/aligner.h"
#include "rnnsearch/corpus/format.h"
#include "rnnsearch/corpus/mixture.h"

namespace rnnsearch::corpus {
namespace {

/// Writes everything but the sentences.
storage::File& begin(storage::File& file, const CorpusHead& head) {
  storage::write_format(file, kCorpusFormat);
  write_vocabulary(file, "source", head.source);
  write_vocabulary(file, "target", head.target);
  if (head.joint) file.write_attribute("/vocabulary", kJoint, 1);
  write_pipeline(file, head.pipeline);
  write_selection(file, head.selection);
  return file;
}

constexpr std::uint32_t kUnlikely = ~std::uint32_t{0};  // in place of a number of positions

}  // namespace

void encode(const text::WordList& words, const Vocabulary& vocabulary, std::vector<WordId>& ids) {
  ids.clear();
  for (std::size_t i = 0; i < words.size(); ++i) ids.push_back(vocabulary.id(words[i]));
}

std::vector<RawSet> sets_of(const Corpus& corpus) {
  std::vector<RawSet> sets;
  for (const std::string& name : corpus.set_names()) {
    EvaluationSet set = corpus.read_set(name);
    RawSet& raw = sets.emplace_back();
    raw.name = name;
    raw.lines.push_back(std::move(set.source_text));
    for (auto& reference : set.references) raw.lines.push_back(std::move(reference));
  }
  return sets;
}

void check_output(const std::filesystem::path& output, bool overwrite,
                  const std::vector<std::filesystem::path>& inputs) {
  namespace fs = std::filesystem;
  const auto refuse = [&](const std::string& why) { throw Error("corpus: cannot write {}: {}", output, why); };
  if (!output.has_filename()) refuse("a file name was expected");
  const fs::path folder = output.has_parent_path() ? output.parent_path() : fs::path(".");
  std::error_code reason;
  if (!fs::is_directory(folder, reason)) refuse(fmt::format("there is no folder {}; create it first", folder));
  if (fs::is_directory(output, reason)) refuse("it is a folder, but a file name was expected");
  if (!overwrite || !fs::exists(output, reason)) return;
  for (const fs::path& input : inputs)
    if (fs::equivalent(input, output, reason)) refuse("it is one of the input files; choose another name");
}

bool is_there(const std::filesystem::path& output, const CorpusHead& head, const std::vector<RawSet>& sets,
              const std::string& fingerprint) {
  std::error_code reason;
  if (!std::filesystem::exists(output, reason)) return false;
  std::string what;
  try {
    const Corpus there(output);
    FirstDifference difference("in " + output.string(), "here");
    const Selection &a = there.selection(), &b = head.selection;
    TextPipeline pipeline = there.pipeline();
    if (fingerprint.empty()) pipeline.source_subwords = head.pipeline.source_subwords;  // perhaps yet to be learned
    if (fingerprint.empty()) pipeline.target_subwords = head.pipeline.target_subwords;
    difference.compare(pipeline, head.pipeline);
    difference.compare(a.cleaning, b.cleaning);
    difference.compare(sets_of(there) == sets, "its development and test sets are others");
    if (fingerprint.empty()) {
      difference.compare(there.has_alignments() == head.sizes.links.has_value(),
                         "only one of the two has word alignments");
      difference.compare(there.has_weights() == head.sizes.weights, "only one of the two has weights of pairs");
    } else {
      difference.compare("the number of pairs of the training text", a.pairs_read, b.pairs_read);
      difference.compare("joint-vocabulary", there.joint_vocabulary(), head.joint);
      difference.compare("the size of the source vocabulary", there.source_vocabulary().size(), head.source.size());
      difference.compare("the size of the target vocabulary", there.target_vocabulary().size(), head.target.size());
      difference.compare(there.fingerprint() == fingerprint && a.dropped == b.dropped,
                         "its training text, the weights of its pairs or their word alignments are others");
    }
    what = difference.text();
  } catch (const Error& error) {
    what = error.what();
  }
  if (what.empty()) return true;
  throw Error("corpus: cannot write {}: it already exists, and {}; choose another name, or give --overwrite", output,
              what);
}

void check_still_absent(const std::filesystem::path& output) {
  std::error_code reason;
  if (std::filesystem::exists(output, reason))
    throw Error(
        "corpus: cannot write {}: another process has written it in the meantime; choose another name, or give "
        "--overwrite",
        output);
}

SideWriter::SideWriter(storage::File& file, const std::string& side, std::uint64_t pairs, std::uint64_t words)
    : file_(file),
      side_(side),
      words_(file, fmt::format("/train/{}_words", side), words),
      offset_(file, fmt::format("/train/{}_offset", side), pairs + 1) {
  offset_.append(std::span(&end_, 1));
}

void SideWriter::add(std::span<const WordId> ids) {
  const std::uint64_t length = ids.size();
  digest_.add(std::as_bytes(std::span(&length, 1))).add(std::as_bytes(ids));
  words_.append(ids);
  end_ += length;
  offset_.append(std::span(&end_, 1));
}

void SideWriter::flush() {
  assert(words_.room() == 0 && offset_.room() == 0);
  words_.flush();
  offset_.flush();
}

Sentences SideWriter::read(std::uint64_t first, std::uint64_t count) const {
  Sentences sentences;
  sentences.offsets = file_.read_range<std::uint64_t>(fmt::format("/train/{}_offset", side_), first, count + 1);
  const std::uint64_t begin = sentences.offsets.front();
  sentences.words =
      file_.read_range<WordId>(fmt::format("/train/{}_words", side_), begin, sentences.offsets.back() - begin);
  for (std::uint64_t& offset : sentences.offsets) offset -= begin;
  return sentences;
}

CorpusWriter::CorpusWriter(const std::filesystem::path& output, CorpusHead head)
    : head_(std::move(head)),
      writer_(output),
      source_(begin(writer_.file(), head_), "source", head_.sizes.pairs, head_.sizes.source_words),
      target_(writer_.file(), "target", head_.sizes.pairs, head_.sizes.target_words) {
  if (head_.sizes.links) links_.emplace(writer_.file(), "alignment", head_.sizes.pairs, *head_.sizes.links);
  if (head_.sizes.weights) weights_.emplace(writer_.file(), kWeights, head_.sizes.pairs);
}

bool CorpusWriter::add(std::span<const WordId> source, std::span<const WordId> target,
                       std::span<const std::uint32_t> links, float weight) {
  if (!source_.has_room(source) || !target_.has_room(target) || !(links_ ? links_->has_room(links) : links.empty()))
    return false;
  source_.add(source);
  target_.add(target);
  if (links_) links_->add(links);
  if (weights_) {
    weights_->append(std::span(&weight, 1));
    weights_digest_.add(std::as_bytes(std::span(&weight, 1)));
  }
  return true;
}

CorpusHead CorpusWriter::learn_links(const std::filesystem::path& folder, double least) {
  source_.flush();
  target_.flush();
  if (weights_) weights_->flush();
  const CorpusHead::Sizes& all = head_.sizes;
  const auto read = [&](std::uint64_t first, std::uint64_t count) {
    return Aligner::Pairs{source_.read(first, count), target_.read(first, count)};
  };
  // As if all sentences had the mean length.
  const double cells =
      static_cast<double>(all.source_words) * static_cast<double>(all.target_words) / static_cast<double>(all.pairs);
  const Aligner aligner(all.pairs, cells, read);
  learned_.emplace(folder);  // because the sizes must be known before the links are written
  CorpusHead::Sizes likely{.links = 0, .weights = all.weights};
  std::array counts{std::vector<std::uint64_t>(head_.source.size()), std::vector<std::uint64_t>(head_.target.size())};
  for (std::uint64_t first = 0; first < all.pairs; first += Aligner::kBlock) {
    const Aligner::Pairs pairs = read(first, std::min<std::uint64_t>(Aligner::kBlock, all.pairs - first));
    std::vector<Aligner::Links> links(pairs.source.size());
    parallel_for(links.size(), [&](std::size_t i) { links[i] = aligner.links(pairs.source[i], pairs.target[i]); });
    for (std::size_t i = 0; i < links.size(); ++i) {
      const auto& [positions, likelihood_ratio] = links[i];
      const bool keep = likelihood_ratio >= least;
      const std::uint32_t size = keep ? static_cast<std::uint32_t>(positions.size()) : kUnlikely;
      learned_->write(&size, sizeof size);
      if (!keep) continue;
      learned_->write(positions.data(), positions.size() * sizeof positions[0]);
      ++likely.pairs;
      likely.source_words += pairs.source.length(i);
      likely.target_words += pairs.target.length(i);
      *likely.links += size;
      for (const WordId word : pairs.source[i]) ++counts[0][word];
      for (const WordId word : pairs.target[i]) ++counts[1][word];
    }
  }
  learned_->rewind();
  if (least > 0) {
    CorpusHead head = head_;
    head.sizes = likely;
    for (const auto& [words, count] : {std::pair{&head.source, &counts[0]}, {&head.target, &counts[1]}}) {
      (*count)[kEnd] = likely.pairs;
      *words = Vocabulary(words->words(), std::move(*count));
    }
    return head;
  }
  links_.emplace(writer_.file(), "alignment", all.pairs, *likely.links);
  std::vector<std::uint32_t> links;
  for (std::uint64_t i = 0; i < all.pairs; ++i) {
    read_learned(links);
    links_->add(links);
  }
  return head_;
}

bool CorpusWriter::read_learned(std::vector<std::uint32_t>& links) {
  std::uint32_t size = 0;
  learned_->read(&size, sizeof size);
  if (size == kUnlikely) return false;
  links.resize(size);
  learned_->read(links.data(), size * sizeof links[0]);
  return true;
}

void CorpusWriter::copy_likely(CorpusWriter& to) {
  std::vector<std::uint32_t> links;
  for (std::uint64_t first = 0; first < head_.sizes.pairs; first += Aligner::kBlock) {
    const std::uint64_t count = std::min<std::uint64_t>(Aligner::kBlock, head_.sizes.pairs - first);
    const Sentences source = source_.read(first, count), target = target_.read(first, count);
    std::vector<float> weights(count, 1);
    if (weights_) weights = writer_.file().read_range<float>(kWeights, first, count);
    for (std::size_t i = 0; i < count; ++i) {
      if (!read_learned(links)) continue;
      [[maybe_unused]] const bool fits = to.add(source[i], target[i], links, weights[i]);
      assert(fits);
    }
  }
}

void CorpusWriter::add_set(const RawSet& set) {
  const auto& [name, lines] = set;
  storage::File& file = writer_.file();
  const TextPipeline& pipeline = head_.pipeline;
  const std::size_t known = known_placeholders(pipeline, head_.source, head_.target).size();
  text::WordList words;
  std::vector<WordId> ids;
  Sentences source, target;
  for (std::size_t i = 0; i < lines[0].size(); ++i) {
    std::vector<std::string> spans;  // as in the lines that a model is to translate
    const std::string line = pipeline.source_line(lines[0][i], known, spans);
    words.clear();
    pipeline.to_words(line, Side::kSource, words);
    encode(words, head_.source, ids);
    source.add(ids);
    words.clear();
    pipeline.to_words(pipeline.target_line(lines[1][i], spans), Side::kTarget, words);
    encode(words, head_.target, ids);
    target.add(ids);
  }
  for (const auto& [side, sentences] : {std::pair{"source", &source}, {"target", &target}}) {
    file.write<WordId>(fmt::format("/{}/{}_words", name, side), sentences->words);
    file.write<std::uint64_t>(fmt::format("/{}/{}_offset", name, side), sentences->offsets);
  }
  file.write_texts(fmt::format("/{}/source_text", name), lines[0]);
  for (std::size_t k = 0; k + 1 < lines.size(); ++k)
    file.write_texts(fmt::format("/{}/{}", name, reference_name(k)), lines[k + 1]);
}

std::string CorpusWriter::fingerprint() const {
  storage::Digest digest;
  const auto add_text = [&](std::string_view text) {
    const std::uint64_t length = text.size();
    digest.add(std::as_bytes(std::span(&length, 1))).add(text);
  };
  for (const Vocabulary* vocabulary : {&head_.source, &head_.target}) {
    for (const std::string& word : vocabulary->words()) add_text(word);
    digest.add(std::as_bytes(std::span(vocabulary->counts())));
  }
  add_text(head_.pipeline.source_language);
  add_text(head_.pipeline.target_language);
  add_text(head_.pipeline.tokenizer);
  add_text(head_.pipeline.lowercase ? "lowercase" : "");
  if (head_.pipeline.normalization != "none") add_text(head_.pipeline.normalization);
  if (head_.pipeline.source_subwords) {
    add_text(subwords_of(head_.pipeline));
    add_text(head_.pipeline.source_subwords.bytes());
    add_text(head_.pipeline.target_subwords.bytes());
  }
  for (const std::string& pattern : head_.pipeline.copies.patterns()) add_text("copy-pattern " + pattern);
  add_text(source_.digest().hex());
  add_text(target_.digest().hex());
  if (links_) add_text(links_->digest().hex());
  if (weights_) add_text("weights " + weights_digest_.hex());
  return digest.hex();
}

std::string CorpusWriter::publish(const std::function<void()>& check) {
  source_.flush();
  target_.flush();
  if (links_) links_->flush();
  if (weights_) weights_->flush();
  std::string print = fingerprint();
  writer_.file().write_attribute("/", "fingerprint", print);
  writer_.publish(check);
  return print;
}

}  // namespace rnnsearch::corpus

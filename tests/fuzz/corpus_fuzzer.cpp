// A corpus whose content is anything: it is refused, or every pair, every set and the batches can be read and are
// sound.
#include "rnnsearch/corpus/corpus.h"

#include <cmath>

#include "rnnsearch/corpus/batches.h"
#include "rnnsearch/corpus/format.h"
#include "rnnsearch/storage/sealed_file.h"
#include "rnnsearch/text/unicode.h"
#include "tests/fuzz/hostile_file.h"

namespace rnnsearch::fuzz {
namespace {

/// As prepare writes it.
HostileFile good_corpus() {
  using Ids = std::vector<WordId>;
  using Offsets = std::vector<std::uint64_t>;
  const auto path = scratch("good.h5");
  storage::SealedWriter writer(path);
  storage::File& file = writer.file();
  storage::write_format(file, corpus::kCorpusFormat);
  file.write_attribute("/", "fingerprint", "0123");
  corpus::write_pipeline(file, {});
  corpus::write_selection(file, {});
  const corpus::Vocabulary vocabulary({"<unk>", "<s>", "</s>", "a", "b", "c"}, {1, 0, 5, 4, 3, 2});
  for (const char* side : {"source", "target"}) corpus::write_vocabulary(file, side, vocabulary);
  file.write_attribute("/vocabulary", corpus::kJoint, 1);
  const auto pairs = [&](const std::string& group, const Ids& words, const Offsets& source, const Offsets& target) {
    file.write<WordId>(group + "/source_words", words);
    file.write<std::uint64_t>(group + "/source_offset", source);
    file.write<WordId>(group + "/target_words", words);
    file.write<std::uint64_t>(group + "/target_offset", target);
  };
  pairs("/train", {3, 4, 5, 3, 0, 4, 5, 4, 3}, {0, 2, 3, 6, 7, 9}, {0, 1, 4, 6, 8, 9});
  file.write<WordId>("/train/alignment_words", Ids{0, 0, 0, 1, 1, 0});
  file.write<std::uint64_t>("/train/alignment_offset", Offsets{0, 2, 4, 4, 4, 6});
  file.write<float>("/train/weights", std::vector<float>{1, 0, 0.5F, 2, 1});
  pairs("/dev", {3, 4, 5}, {0, 2, 2, 3}, {0, 1, 3, 3});
  pairs("/test/t", {3, 4}, {0, 2}, {0, 2});
  for (const char* text : {"source_text", "reference_text", "reference_text_1"}) {
    file.write_texts(std::string("/dev/") + text, std::vector<std::string>{"a b", "", "c"});
    file.write_texts(std::string("/test/t/") + text, std::vector<std::string>{"a b"});
  }
  writer.publish();
  return HostileFile(path);
}

void check_words(const Sentences& sentences, std::size_t vocabulary) {
  require(sentences.offsets.front() == 0 && sentences.offsets.back() == sentences.words.size(), "offsets lead outside");
  for (std::size_t i = 0; i < sentences.size(); ++i)
    require(sentences.offsets[i] <= sentences.offsets[i + 1], "offsets do not ascend");
  for (const WordId id : sentences.words) {
    require(id < vocabulary, "an id beyond the vocabulary");
    require(id != kStart && id != kEnd, "a word that is <s> or </s>");
  }
}

void check_text(const std::vector<std::string>& lines) {
  for (const std::string& line : lines)
    require(!text::first_invalid_utf8(line) && line.find('\n') == line.npos, "a raw line that is none");
}

void read_all(const std::filesystem::path& path) {
  const corpus::Corpus corpus(path);
  const std::size_t source = corpus.source_vocabulary().size(), target = corpus.target_vocabulary().size();
  for (const corpus::Vocabulary* vocabulary : {&corpus.source_vocabulary(), &corpus.target_vocabulary()}) {
    require(vocabulary->size() >= 3 && vocabulary->counts().size() == vocabulary->size(), "a vocabulary in parts");
    check_text(vocabulary->words());
  }
  require(!corpus.joint_vocabulary() || corpus.source_vocabulary().words() == corpus.target_vocabulary().words(),
          "one vocabulary that is two");
  check_text({corpus.pipeline().source_language, corpus.pipeline().target_language, corpus.fingerprint()});
  const std::uint64_t pairs = corpus.train_pairs();
  require(8 * pairs <= std::filesystem::file_size(path), "more pairs than the file has room for");
  std::uint64_t words = 0;
  for (std::uint64_t first = 0; first < pairs; first += 2) {
    const auto block = corpus.read_pairs(first, std::min<std::uint64_t>(2, pairs - first));
    check_words(block.source, source);
    check_words(block.target, target);
    for (std::size_t i = 0; i < block.source.size(); ++i) {
      require(block.weights.at(i) >= 0 && std::isfinite(block.weights[i]), "a weight that is none");
      require(block.source.length(i) > 0 && block.target.length(i) > 0, "a training sentence without words");
      if (block.links.empty()) continue;
      for (std::size_t k = 0; k < block.links.length(i); ++k)
        require(block.links[i][k] < (k % 2 == 0 ? block.source : block.target).length(i), "a link beyond its pair");
    }
    words += block.source.words.size();
  }
  require(words == corpus.train_source_words(), "pairs do not hold the words there are");
  if (pairs > 0) {
    corpus::BatchSequence batches(corpus, {.batch_sentences = 2, .pool_batches = 2, .block_pairs = 2}, 0, 1);
    for (std::uint64_t done = 0; done < 2 * pairs;) done += batches.next().batch_pairs;
  }
  for (const std::string& name : corpus.set_names()) {
    const auto set = corpus.read_set(name);
    check_words(set.source, source);
    check_words(set.target, target);
    check_text(set.source_text);
    require(set.source_text.size() == set.source.size(), "lines without words");
    for (const auto& reference : set.references) {
      check_text(reference);
      require(reference.size() == set.source.size(), "a reference of another length");
    }
  }
}

}  // namespace
}  // namespace rnnsearch::fuzz

void rnnsearch::fuzz::run(Input input) {
  static const HostileFile good = good_corpus();
  const auto path = scratch("corpus.h5");
  const auto kind = good.write(path, input);
  const bool read = accepted([&] { read_all(path); });
  require(read || kind != HostileFile::Kind::kGood, "a good corpus was refused");
  require(!read || kind != HostileFile::Kind::kBrokenSeal, "a corpus that does not have its seal's digest was read");
}

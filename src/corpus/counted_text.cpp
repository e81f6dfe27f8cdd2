#include "corpus/counted_text.h"

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/version.h"
#include "rnnsearch/corpus/format.h"
#include "rnnsearch/storage/digest.h"
#include "rnnsearch/storage/sealed_file.h"

namespace rnnsearch::corpus {
namespace {

namespace fs = std::filesystem;
constexpr const char* kFormat = "rnnsearch-counted";
constexpr std::int64_t kVersion = 1;
constexpr const char *kKey = "key", *kKept = "pairs_kept";

/// A digest of everything that determines the counts, except pipeline and cleaning, which are compared directly.
std::string key_of(const PrepareOptions& options, const Corpus* given) {
  storage::Digest digest;
  const auto add = [&](const auto&... parts) { digest.add(text_of(parts..., "\n")); };
  add(rnnsearch::kVersion);
  for (const TextFiles& text : options.train) {
    for (const fs::path& file : {text.source, text.target}) {
      if (file.empty()) {
        add("columns");
      } else {
        add(fs::absolute(file).string(), " ", fs::file_size(file), " ",
            fs::last_write_time(file).time_since_epoch().count());
      }
    }
    if (!text.alignments.empty()) {  // they decide nothing that is counted, except that they were found to be sound
      add(fs::absolute(text.alignments).string(), " ", fs::file_size(text.alignments), " ",
          fs::last_write_time(text.alignments).time_since_epoch().count());
    }
  }
  add(options.source_words.value_or(0), " ", options.target_words.value_or(0), " ", options.joint_vocabulary);
  const PrepareOptions::SubwordOptions& subwords = options.subwords;  // given models are part of the pipeline
  add(subwords.learned, " ", subwords.normalization, " ", subwords.sample_pairs, " ", subwords.seed);
  if (given) add("vocabulary of ", given->fingerprint());
  return digest.hex();
}

}  // namespace

CountedFile::CountedFile(const PrepareOptions& options, const Corpus* given)
    : path_(options.output.parent_path() / text_of(".", options.output.filename().string(), ".counted")),
      key_(key_of(options, given)) {}

CountedFile::~CountedFile() {
  std::error_code ignored;
  fs::remove(path_, ignored);
}

storage::File CountedFile::open() const {
  storage::File file = storage::open_sealed(path_, "corpus");
  storage::check_format(file, kFormat, kVersion);
  if (file.text_attribute("/", kKey) != key_) throw Error("it belongs to other files or options");
  return file;
}

std::optional<TextPipeline> CountedFile::read_learned(const PrepareOptions& options) const {
  if (!fs::exists(path_)) return std::nullopt;
  try {
    TextPipeline pipeline = read_pipeline(open());
    TextPipeline words = pipeline;
    words.source_subwords = words.target_subwords = {};
    if (!pipeline.source_subwords || !(words == options.pipeline)) return std::nullopt;
    return pipeline;
  } catch (const Error&) {  // whatever it is, it saves nothing
    return std::nullopt;
  }
}

void CountedFile::write_learned(const TextPipeline& pipeline) const {
  storage::SealedWriter writer(path_);
  storage::write_format(writer.file(), kFormat, kVersion);
  writer.file().write_attribute("/", kKey, std::string_view(key_));
  write_pipeline(writer.file(), pipeline);
  writer.publish();
}

std::optional<CountedText> CountedFile::read(const PrepareOptions& options) const {
  if (!fs::exists(path_)) return std::nullopt;
  try {
    const storage::File file = open();
    if (!file.has_attribute("/", kKept) || !(read_pipeline(file) == options.pipeline)) return std::nullopt;
    const auto selection = read_selection(file);
    if (!selection || !(selection->cleaning == options.cleaning)) return std::nullopt;
    CountedText counted;
    counted.head.source = read_vocabulary(file, "source");
    counted.head.target = read_vocabulary(file, "target");
    counted.head.joint = file.has_attribute("/vocabulary", kJoint);
    counted.head.pipeline = options.pipeline;
    counted.head.selection = *selection;
    counted.totals = {file.unsigned_attribute("/", "pairs_read"),
                      file.unsigned_attribute("/", kKept),
                      {},
                      file.text_attribute("/", "text")};
    for (std::size_t i = 0; i < kDropReasons.size(); ++i)
      counted.totals.dropped.counts[i] = file.unsigned_attribute("/", text_of("dropped_", kDropReasons[i].name));
    for (const auto& [name, side] :
         {std::pair<std::string, PrepareReport::Side*>{"source", &counted.source}, {"target", &counted.target}}) {
      side->words = file.unsigned_attribute("/", name + "_words");
      side->distinct_words = file.unsigned_attribute("/", name + "_distinct");
      side->vocabulary = file.shape("/vocabulary/" + name).at(0);
      side->unknown_words = file.unsigned_attribute("/", name + "_unknown");
    }
    if (file.exists("/repeated")) {
      const auto bits = file.read<std::uint8_t>("/repeated");
      counted.repeated = PairSet(std::string(bits.begin(), bits.end()));
    }
    return counted;
  } catch (const Error&) {  // whatever it is, it saves nothing
    return std::nullopt;
  }
}

void CountedFile::write(const CountedText& counted) const {
  storage::SealedWriter writer(path_);
  storage::File& file = writer.file();
  storage::write_format(file, kFormat, kVersion);
  file.write_attribute("/", kKey, std::string_view(key_));
  file.write_attribute("/", "text", std::string_view(counted.totals.digest));
  file.write_attribute("/", "pairs_read", counted.totals.pairs_read);
  file.write_attribute("/", kKept, counted.totals.pairs_kept);
  for (std::size_t i = 0; i < kDropReasons.size(); ++i)
    file.write_attribute("/", text_of("dropped_", kDropReasons[i].name), counted.totals.dropped.counts[i]);
  for (const auto& [name, side] :
       {std::pair<std::string, const PrepareReport::Side*>{"source", &counted.source}, {"target", &counted.target}}) {
    file.write_attribute("/", name + "_words", side->words);
    file.write_attribute("/", name + "_distinct", side->distinct_words);
    file.write_attribute("/", name + "_unknown", side->unknown_words);
  }
  write_vocabulary(file, "source", counted.head.source);
  write_vocabulary(file, "target", counted.head.target);
  if (counted.head.joint) file.write_attribute("/vocabulary", kJoint, 1);
  write_pipeline(file, counted.head.pipeline);
  write_selection(file, counted.head.selection);
  const std::string& bits = counted.repeated.bits();
  if (!bits.empty()) {
    const std::vector<std::uint8_t> bytes(bits.begin(), bits.end());
    file.write<std::uint8_t>("/repeated", bytes);
  }
  writer.publish();
}

}  // namespace rnnsearch::corpus

#include "rnnsearch/corpus/prepare.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>

#include "corpus/line_reader.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/sentences.h"
#include "rnnsearch/corpus/corpus.h"
#include "rnnsearch/corpus/format.h"
#include "rnnsearch/corpus/vocabulary.h"
#include "rnnsearch/storage/digest.h"
#include "rnnsearch/storage/sealed_file.h"

namespace rnnsearch::corpus {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;
using Progress = std::function<void(const PrepareProgress&)>;
constexpr std::uint64_t kPairsBetweenProgress = 1 << 13;

[[noreturn]] void fail_on_counts(LineReader& a, LineReader& b) {
  const std::uint64_t a_lines = a.lines() + a.skip_rest(), b_lines = b.lines() + b.skip_rest();
  throw Error(text_of("corpus: ", a.path().string(), " has ", a_lines, " lines but ", b.path().string(), " has ",
                      b_lines, "; line i of one must translate line i of the other"));
}

/// What is read and checked of a development or test set before anything is written.
struct RawSet {
  std::string group;                            // "/dev", "/test/NAME"
  std::vector<std::vector<std::string>> lines;  // [source, references...][pairs]
};

RawSet read_raw_set(const EvaluationFiles& files, const std::string& group) {
  if (files.references.empty())
    throw Error(text_of("corpus: the set ", group.substr(1), " has no reference translation"));
  RawSet set{group, {}};
  std::vector<LineReader> readers;
  readers.emplace_back(files.source);
  for (const fs::path& reference : files.references) readers.emplace_back(reference);
  for (LineReader& reader : readers) {
    auto& lines = set.lines.emplace_back();
    for (std::string line; reader.next(line);) lines.push_back(line);
    if (reader.lines() != readers.front().lines()) fail_on_counts(readers.front(), reader);
  }
  return set;
}

/// One side of the training text while it is counted and cut.
class WordCounts {
 public:
  void add(const Words& words) {
    running_ += words.size();
    for (const std::string& word : words) {
      if (std::find(kSpecialSymbols.begin(), kSpecialSymbols.end(), word) == kSpecialSymbols.end()) ++table_[word];
    }
  }

  /// `wanted`: as in PrepareOptions; `option` and `path` for the error. Empties the table.
  Vocabulary cut(std::optional<std::size_t> wanted, std::uint64_t sentences, const char* option, const fs::path& path,
                 PrepareReport::Side& report) {
    const std::size_t special = kSpecialSymbols.size(), all = table_.size() + special;
    if (wanted && *wanted > all)
      throw Error(text_of("corpus: ", option, " asks for ", *wanted, " words but ", path.string(), " has only ",
                          table_.size(), " distinct words, which makes ", all, " with ", kSpecialSymbols[0], ", ",
                          kSpecialSymbols[1], " and ", kSpecialSymbols[2], "; give ", option, " ", all,
                          " or less, or leave the option out"));
    const std::size_t kept = std::min(wanted.value_or(PrepareOptions::kUsualWords), all) - special;
    using Entry = const std::pair<const std::string, std::uint64_t>*;
    std::vector<Entry> entries;
    entries.reserve(table_.size());
    for (const auto& entry : table_) entries.push_back(&entry);
    std::partial_sort(
        entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(kept), entries.end(),
        [](Entry a, Entry b) { return a->second != b->second ? a->second > b->second : a->first < b->first; });
    Words words(kSpecialSymbols.begin(), kSpecialSymbols.end());
    std::vector<std::uint64_t> counts{running_, 0, sentences};
    for (std::size_t i = 0; i < kept; ++i) {
      words.push_back(entries[i]->first);
      counts.push_back(entries[i]->second);
      counts[kUnknown] -= entries[i]->second;
    }
    report = {running_, table_.size(), words.size(), counts[kUnknown]};
    table_ = {};
    return Vocabulary(std::move(words), std::move(counts));
  }

  /// The words of `given`, counted here. Empties the table.
  Vocabulary count(const Vocabulary& given, std::uint64_t sentences, PrepareReport::Side& report) {
    std::vector<std::uint64_t> counts(given.size(), 0);
    counts[kUnknown] = running_;
    counts[kEnd] = sentences;
    for (const auto& [word, count] : table_) {
      const WordId id = given.id(word);
      if (id == kUnknown) continue;
      counts[id] = count;
      counts[kUnknown] -= count;
    }
    report = {running_, table_.size(), given.size(), counts[kUnknown]};
    table_ = {};
    return Vocabulary(given.words(), std::move(counts));
  }

 private:
  std::unordered_map<std::string, std::uint64_t> table_;
  std::uint64_t running_ = 0;
};

/// Reads the training text once; `take` gets the words of each pair that is kept.
template <class Take>
void for_each_pair(const PrepareOptions& options, int pass, const Progress& progress, PrepareReport& report,
                   Take take) {
  LineReader source(options.train_source), target(options.train_target);
  std::string source_line, target_line;
  report.pairs_read = report.pairs_kept = 0;
  report.dropped = {};
  const auto tell = [&] {
    if (progress) progress({pass, source.bytes() + target.bytes(), source.size() + target.size(), report.pairs_read});
  };
  while (true) {
    const bool more = source.next(source_line);
    if (more != target.next(target_line)) fail_on_counts(source, target);
    if (!more) break;
    ++report.pairs_read;
    if (report.pairs_read % kPairsBetweenProgress == 0) tell();
    const Words source_words = options.pipeline.to_words(source_line),
                target_words = options.pipeline.to_words(target_line);
    if (source_words.empty()) {
      ++report.dropped.empty_source;
    } else if (target_words.empty()) {
      ++report.dropped.empty_target;
    } else if (source_words.size() > options.max_length) {
      ++report.dropped.long_source;
    } else if (target_words.size() > options.max_length) {
      ++report.dropped.long_target;
    } else {
      ++report.pairs_kept;
      take(source_words, target_words);
    }
  }
  tell();
}

std::vector<WordId> ids_of(const Words& words, const Vocabulary& vocabulary) {
  std::vector<WordId> ids;
  ids.reserve(words.size());
  for (const std::string& word : words) ids.push_back(vocabulary.id(word));
  return ids;
}

/// Hashes one side's sentences, however they are cut into shards.
class SideDigest {
 public:
  void add(const std::vector<WordId>& ids) {
    const std::uint64_t length = ids.size();
    digest_.add(std::as_bytes(std::span(&length, 1))).add(std::as_bytes(std::span(ids)));
  }
  std::string hex() const { return digest_.hex(); }

 private:
  storage::Digest digest_;
};

/// words and offset of one side of a shard.
class SideWriter {
 public:
  SideWriter(storage::File& file, const std::string& group, const std::string& side)
      : words_(file, group + "/" + side + "_words"), offset_(file, group + "/" + side + "_offset") {
    add_offset();
  }
  void add(const std::vector<WordId>& ids) {
    words_.append(ids);
    add_offset();
  }
  void close() {
    words_.close();
    offset_.close();
  }

 private:
  void add_offset() {
    const std::uint64_t end = words_.size();
    offset_.append(std::span(&end, 1));
  }
  storage::Appender<WordId> words_;
  storage::Appender<std::uint64_t> offset_;
};

struct PairWriter {
  SideWriter source, target;
  PairWriter(storage::File& file, const std::string& group)
      : source(file, group, "source"), target(file, group, "target") {}
  void close() {
    source.close();
    target.close();
  }
};

void write_set(storage::File& file, const RawSet& set, const TextPipeline& pipeline, const Vocabulary& source,
               const Vocabulary& target) {
  PairWriter writer(file, set.group);
  for (const std::string& line : set.lines[0]) writer.source.add(ids_of(pipeline.to_words(line), source));
  for (const std::string& line : set.lines[1]) writer.target.add(ids_of(pipeline.to_words(line), target));
  writer.close();
  file.write_texts(set.group + "/source_text", set.lines[0]);
  for (std::size_t k = 0; k + 1 < set.lines.size(); ++k)
    file.write_texts(set.group + "/" + reference_name(k), set.lines[k + 1]);
}

std::string fingerprint_of(const Vocabulary& source, const Vocabulary& target, const TextPipeline& pipeline,
                           const SideDigest& source_pairs, const SideDigest& target_pairs) {
  storage::Digest digest;
  const auto add_text = [&](std::string_view text) {
    const std::uint64_t length = text.size();
    digest.add(std::as_bytes(std::span(&length, 1))).add(text);
  };
  for (const Vocabulary* vocabulary : {&source, &target}) {
    for (const std::string& word : vocabulary->words()) add_text(word);
    digest.add(std::as_bytes(std::span(vocabulary->counts())));
  }
  add_text(pipeline.source_language);
  add_text(pipeline.target_language);
  add_text(pipeline.tokenizer);
  add_text(pipeline.lowercase ? "lowercase" : "");
  add_text(source_pairs.hex());
  add_text(target_pairs.hex());
  return digest.hex();
}

void check_options(const PrepareOptions& options) {
  check(options.pipeline);
  if (options.max_length == 0) throw Error("corpus: max-length is 0, at least 1 was expected");
  if (options.shard_pairs == 0) throw Error("corpus: shard-pairs is 0, at least 1 was expected");
  for (const auto& [name, words] :
       {std::pair{"source-words", options.source_words}, {"target-words", options.target_words}})
    if (words && *words <= kSpecialSymbols.size())
      throw Error(text_of("corpus: ", name, " is ", *words, ", at least ", kSpecialSymbols.size() + 1,
                          " was expected: three special symbols and a word"));
  std::set<std::string> names;
  for (const EvaluationFiles& test : options.tests) {
    if (test.name.empty() || test.name == "." || test.name == ".." || test.name.find('/') != std::string::npos)
      throw Error(text_of("corpus: a test set cannot be named '", test.name, "'; give it a name without slashes"));
    if (!names.insert(test.name).second) throw Error(text_of("corpus: there are two test sets named ", test.name));
  }
}

void check_output(const PrepareOptions& options) {
  const fs::path& output = options.output;
  const auto refuse = [&](const auto&... why) {
    throw Error(text_of("corpus: cannot write ", output.string(), ": ", why...));
  };
  if (!output.has_filename()) refuse("a file name was expected");
  const fs::path folder = output.has_parent_path() ? output.parent_path() : fs::path(".");
  std::error_code reason;
  if (!fs::is_directory(folder, reason)) refuse("there is no folder ", folder.string(), "; make it first");
  if (fs::is_directory(output, reason)) refuse("it is a folder, a file name was expected");
  if (!fs::exists(output, reason)) return;
  if (!options.overwrite) refuse("it exists already; choose another name, or give --overwrite");
  std::vector<fs::path> inputs{options.train_source, options.train_target};
  const auto add = [&](const EvaluationFiles& set) {
    inputs.push_back(set.source);
    inputs.insert(inputs.end(), set.references.begin(), set.references.end());
  };
  if (options.dev) add(*options.dev);
  for (const EvaluationFiles& test : options.tests) add(test);
  if (!options.vocabulary_of.empty()) inputs.push_back(options.vocabulary_of);
  for (const fs::path& input : inputs)
    if (fs::equivalent(input, output, reason)) refuse("it is one of the files to be read");
}

}  // namespace

PrepareReport prepare(const PrepareOptions& options, const Progress& progress) {
  check_options(options);
  check_output(options);
  std::optional<Corpus> given;
  if (!options.vocabulary_of.empty()) {
    given.emplace(options.vocabulary_of);
    if (given->pipeline().tokenizer != options.pipeline.tokenizer ||
        given->pipeline().lowercase != options.pipeline.lowercase)
      throw Error(text_of("corpus: the vocabularies of ", options.vocabulary_of.string(),
                          " do not fit: it was made with --tokenizer ", given->pipeline().tokenizer,
                          " and --lowercase ", given->pipeline().lowercase ? "true" : "false",
                          "; give the same, or leave --vocabulary-of out"));
    if (given->pipeline().source_language != options.pipeline.source_language ||
        given->pipeline().target_language != options.pipeline.target_language)
      throw Error(text_of("corpus: the vocabularies of ", options.vocabulary_of.string(), " do not fit: they are of ",
                          given->pipeline().source_language, " and ", given->pipeline().target_language,
                          ", and these texts of ", options.pipeline.source_language, " and ",
                          options.pipeline.target_language,
                          "; give the same --source-language and --target-language, or leave --vocabulary-of out"));
  }
  PrepareReport report;
  std::vector<RawSet> sets;
  if (options.dev) sets.push_back(read_raw_set(*options.dev, "/dev"));
  for (const EvaluationFiles& test : options.tests) sets.push_back(read_raw_set(test, "/test/" + test.name));
  for (const RawSet& set : sets) report.sets.emplace_back(set.group.substr(1), set.lines[0].size());

  WordCounts source_counts, target_counts;
  for_each_pair(options, 1, progress, report, [&](const Words& source, const Words& target) {
    source_counts.add(source);
    target_counts.add(target);
  });
  const std::uint64_t pairs = report.pairs_kept;
  if (pairs == 0)
    throw Error(text_of("corpus: nothing is left of the ", report.pairs_read, " pairs of ",
                        options.train_source.string(), " and ", options.train_target.string(), ": ",
                        report.dropped.empty_source, " have an empty source, ", report.dropped.empty_target,
                        " an empty target, ", report.dropped.long_source, " a source and ", report.dropped.long_target,
                        " a target of more than ", options.max_length,
                        " words; look at the files or raise --max-length"));
  const Vocabulary source_vocabulary =
      given ? source_counts.count(given->source_vocabulary(), pairs, report.source)
            : source_counts.cut(options.source_words, pairs, "--source-words", options.train_source, report.source);
  const Vocabulary target_vocabulary =
      given ? target_counts.count(given->target_vocabulary(), pairs, report.target)
            : target_counts.cut(options.target_words, pairs, "--target-words", options.train_target, report.target);

  storage::SealedWriter writer(options.output);
  storage::File& file = writer.file();
  storage::write_format(file, kCorpusFormat, kCorpusVersion);
  write_vocabulary(file, "source", source_vocabulary);
  write_vocabulary(file, "target", target_vocabulary);
  write_pipeline(file, options.pipeline);

  SideDigest source_digest, target_digest;
  std::optional<PairWriter> shard;
  std::uint64_t written = 0, source_words = 0, target_words = 0;
  for_each_pair(options, 2, progress, report, [&](const Words& source, const Words& target) {
    if (written % options.shard_pairs == 0) {
      if (shard) shard->close();
      shard.emplace(file, shard_path(written / options.shard_pairs));
    }
    ++written;
    const auto source_ids = ids_of(source, source_vocabulary), target_ids = ids_of(target, target_vocabulary);
    source_words += source_ids.size();
    target_words += target_ids.size();
    shard->source.add(source_ids);
    shard->target.add(target_ids);
    source_digest.add(source_ids);
    target_digest.add(target_ids);
  });
  if (written != pairs || source_words != report.source.words || target_words != report.target.words)
    throw Error(text_of("corpus: ", options.train_source.string(), " or ", options.train_target.string(),
                        " changed while it was read; prepare again once nothing writes to it"));
  shard->close();
  for (const RawSet& set : sets) write_set(file, set, options.pipeline, source_vocabulary, target_vocabulary);
  report.fingerprint =
      fingerprint_of(source_vocabulary, target_vocabulary, options.pipeline, source_digest, target_digest);
  file.write_attribute("/", "fingerprint", report.fingerprint);
  writer.publish();
  return report;
}

}  // namespace rnnsearch::corpus

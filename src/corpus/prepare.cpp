#include "rnnsearch/corpus/prepare.h"

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <tuple>

#include "corpus/byte_source.h"
#include "corpus/corpus_writer.h"
#include "corpus/counted_text.h"
#include "corpus/line_reader.h"
#include "corpus/pair_cleaner.h"
#include "corpus/repeated_pairs.h"
#include "corpus/subword_models.h"
#include "corpus/text_pass.h"
#include "corpus/word_statistics.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/file.h"
#include "rnnsearch/base/log.h"
#include "rnnsearch/base/packed.h"
#include "rnnsearch/base/parallel.h"
#include "rnnsearch/base/sentences.h"
#include "rnnsearch/corpus/corpus.h"
#include "rnnsearch/corpus/links.h"
#include "rnnsearch/corpus/test_set_file.h"
#include "rnnsearch/corpus/vocabulary.h"
#include "rnnsearch/storage/sealed_file.h"

namespace rnnsearch::corpus {
namespace {

namespace fs = std::filesystem;
using Progress = std::function<void(const PrepareProgress&)>;

RawSet read_raw_set(const EvaluationFiles& files, const LineLimit& limit, const std::string& name) {
  if (files.references.empty()) throw Error(text_of("corpus: the set ", name, " has no reference translation"));
  RawSet set{name, {}};
  std::vector<LineReader> readers;
  readers.emplace_back(files.source, limit, TestSetPart::kSource);
  for (const fs::path& reference : files.references) readers.emplace_back(reference, limit, TestSetPart::kReference);
  for (LineReader& reader : readers) {
    check_same_segments(readers.front(), reader);
    auto& lines = set.lines.emplace_back();
    for (std::string line; reader.next(line);) lines.push_back(line);
    if (reader.lines() != readers.front().lines()) fail_on_counts(readers.front(), reader);
  }
  return set;
}

/// Checks, tokenizes and selects pairs [first, last) of the block.
void split(const TextPipeline& pipeline, const PairCleaner& cleaner, const PairSet& repeated, const TextBlock& block,
           std::size_t first, std::size_t last, Piece& piece) {
  for (Piece::Side* side : {&piece.source, &piece.target}) {
    side->words.clear();
    side->sizes.clear();
  }
  piece.dropped = {};
  piece.links.sizes.clear();
  piece.links.positions.clear();
  text::WordList source, target;
  for (std::size_t i = first; i < last; ++i) {
    check_pair(block, i);
    source.clear();
    target.clear();
    pipeline.to_words(block.source[i], Side::kSource, source);
    pipeline.to_words(block.target[i], Side::kTarget, target);
    auto reason = cleaner.reason(block.source[i], source, block.target[i], target);
    if (!reason && repeated.contains(block.first_pair + i)) reason = Drop::kRepeated;
    if (reason) {
      ++piece.dropped[*reason];
      continue;
    }
    for (const auto& [words, side] : {std::pair{&source, &piece.source}, {&target, &piece.target}}) {
      for (std::size_t k = 0; k < words->size(); ++k) side->words.add((*words)[k]);
      side->sizes.push_back(static_cast<std::uint32_t>(words->size()));
    }
    if (block.alignments.ends.empty()) continue;
    const std::size_t before = piece.links.positions.size();
    const std::string wrong = read_links(block.alignments[i], source.size(), target.size(), piece.links.positions);
    if (!wrong.empty())
      throw Error(text_of("corpus: ", block.alignments.path.string(), " line ", block.first_line + i, ": ", wrong,
                          "; links are between the words of a pair as --tokenizer splits them, such as 0-0 1-2"));
    piece.links.sizes.push_back(static_cast<std::uint32_t>(piece.links.positions.size() - before));
  }
}

/// Throws UsageError: all that is checked here was said on the command line.
void check_options(const PrepareOptions& options) try {
  if (options.vocabulary_of.empty()) check(options.pipeline);  // otherwise that corpus completes the pipeline
  if (options.train.empty()) throw Error("corpus: there is no training text");
  check_subwords(options);
  check(options.cleaning);
  if (options.shard_pairs == 0) throw Error("corpus: shard-pairs is 0, but must be at least 1");
  for (const auto& [name, words] :
       {std::pair{"source-words", options.source_words}, {"target-words", options.target_words}})
    if (words && *words <= kSpecialSymbols.size())
      throw Error(text_of("corpus: ", name, " is ", *words, ", but must be at least ", kSpecialSymbols.size() + 1,
                          ": three special symbols and a word"));
  if (options.joint_vocabulary && !options.vocabulary_of.empty())
    throw Error(
        "corpus: joint-vocabulary cannot be combined with vocabulary-of, which determines the vocabularies; leave one "
        "of them out");
  if (options.joint_vocabulary && options.source_words && options.target_words &&
      *options.source_words != *options.target_words)
    throw Error(text_of("corpus: source-words is ", *options.source_words, " and target-words ", *options.target_words,
                        ", but a joint vocabulary has one size; give one of them, or the same number for both"));
  std::set<std::string> names;
  for (const EvaluationFiles& test : options.tests) {
    if (test.name.empty() || test.name == "." || test.name == ".." || test.name.find('/') != std::string::npos)
      throw Error(text_of("corpus: a test set cannot be named '", test.name, "'; give it a name without slashes"));
    if (!names.insert(test.name).second) throw Error(text_of("corpus: there are two test sets named ", test.name));
  }
} catch (const Error& error) {
  throw UsageError(error.what());
}

/// All input files except the corpus to append to, which the output may replace.
std::vector<fs::path> inputs_of(const PrepareOptions& options) {
  std::vector<fs::path> inputs = files_of(options.train);
  const auto add = [&](const EvaluationFiles& set) {
    inputs.push_back(set.source);
    inputs.insert(inputs.end(), set.references.begin(), set.references.end());
  };
  if (options.dev) add(*options.dev);
  for (const EvaluationFiles& test : options.tests) add(test);
  for (const fs::path& file : {options.vocabulary_of, options.subwords.source_model, options.subwords.target_model,
                               options.subwords.source_codes, options.subwords.target_codes})
    if (!file.empty()) inputs.push_back(file);
  return inputs;
}

std::uint64_t text_bytes(const std::vector<TextFiles>& texts) {
  std::uint64_t bytes = 0;
  for (const fs::path& file : files_of(texts)) bytes += ByteSource::open(file_named(file))->size();
  return bytes;
}

/// The training text and everything that its passes have in common.
struct Text {
  const PrepareOptions& options;
  Team& team;
  const Progress& progress;
  std::vector<std::optional<LineIndex>> index;  // empty for one process

  fs::path folder() const { return options.output.has_parent_path() ? options.output.parent_path() : fs::path("."); }
  PassTotals read(const PassSteps& steps) const {
    return read_text(options.train, options.line_limit, index, team, steps, progress);
  }
};

/// Runs `act` at rank 0 and returns its result on every rank. If it throws, all ranks throw.
template <class Act>
std::string at_root(Team& team, const Act& act) {
  return team.meet([] { return std::string(); }, [&](const auto&) { return std::string(act()); });
}

/// COLLECTIVE. Returns the repeated pairs, and at rank 0 the digest of the text.
std::pair<PairSet, std::string> find_repeated(const Text& text) {
  std::optional<RepeatedPairs> pairs;
  at_root(text.team, [&] {
    pairs.emplace(text.options.memory, text.folder());
    return "";
  });
  PassSteps steps;
  steps.pass = 0;
  steps.work = [](const TextBlock& block, std::size_t first, std::size_t last, Piece& piece) {
    piece.digests.clear();
    for (std::size_t i = first; i < last; ++i) {
      check_pair(block, i);
      piece.digests.push_back(RepeatedPairs::digest_of(block.source[i], block.target[i]));
    }
  };
  steps.collect = [&](const std::vector<Piece>& pieces) {
    for (const Piece& piece : pieces) pairs->add(piece.digests);
  };
  std::string digest = text.read(steps).digest;
  return {PairSet(at_root(text.team, [&] { return pairs->take().bits(); })), std::move(digest)};
}

/// The word counts of the training text.
struct WordTables {
  WordStatistics source, target;
  std::optional<WordStatistics> joint;  // counts of both sides, for a joint vocabulary

  WordTables(const PrepareOptions& options, const fs::path& folder)
      : source(options.memory / (options.joint_vocabulary ? 3 : 2), folder),
        target(options.memory / (options.joint_vocabulary ? 3 : 2), folder) {
    if (options.joint_vocabulary) joint.emplace(options.memory / 3, folder);
  }
  void add(const std::vector<Piece>& pieces) {
    for (const Piece& piece : pieces) {
      source.add_running(piece.source.words.size());
      target.add_running(piece.target.words.size());
      if (joint) joint->add_running(piece.source.words.size() + piece.target.words.size());
    }
    parallel_for(HashedWords::kGroups, [&](std::size_t group) {
      for (const Piece& piece : pieces) {
        source.add(piece.source.words, piece.source.hashed, group);
        target.add(piece.target.words, piece.target.hashed, group);
        if (!joint) continue;
        joint->add(piece.source.words, piece.source.hashed, group);
        joint->add(piece.target.words, piece.target.hashed, group);
      }
    });
  }
  std::vector<WordStatistics*> all() {
    std::vector<WordStatistics*> all{&source, &target};
    if (joint) all.push_back(&*joint);
    return all;
  }
  /// COLLECTIVE. Adds up the counts of all processes at rank 0: process by process, one group of words at a time.
  void gather(Team& team) {
    for (WordStatistics* statistics : all()) {
      team.meet(
          [&] {
            Packer packer;
            packer.add(statistics->running());
            return packer.take();
          },
          [&](const std::vector<std::string>& parts) {
            for (std::size_t rank = 1; rank < parts.size(); ++rank)
              statistics->add_running(Unpacker(parts[rank]).next<std::uint64_t>());
            return std::string();
          });
      for (int rank = 1; rank < team.size(); ++rank) {
        for (std::size_t group = 0; group < HashedWords::kGroups; ++group) {
          team.meet([&] { return team.rank() == rank ? statistics->pack(group) : std::string(); },
                    [&](const std::vector<std::string>& parts) {
                      statistics->merge(group, parts[static_cast<std::size_t>(rank)]);
                      return std::string();
                    });
        }
      }
    }
  }
};

[[noreturn]] void fail_on_nothing(const PrepareOptions& options, const PassTotals& totals) {
  const auto [source, target] = names_of(options.train);
  const DropCounts& dropped = totals.dropped;
  std::string more;
  for (std::size_t i = static_cast<std::size_t>(Drop::kRatio); i < kDropReasons.size(); ++i) {
    if (dropped.counts[i] > 0) more += text_of(", ", dropped.counts[i], ": ", kDropReasons[i].label);
  }
  throw Error(text_of("corpus: none of the ", totals.pairs_read, " pairs of ", source,
                      source == target ? "" : " and " + target, " is kept: ", dropped[Drop::kEmptySource],
                      " have an empty source, ", dropped[Drop::kEmptyTarget], " an empty target, ",
                      dropped[Drop::kLongSource], " a source and ", dropped[Drop::kLongTarget],
                      " a target of more than ", options.cleaning.max_length, " words", more,
                      "; check the files or raise --max-length"));
}

/// Makes the vocabularies. given: the corpus whose words are used, or nullptr. Empties the statistics.
void cut_vocabularies(const PrepareOptions& options, const Corpus* given, WordTables& tables, CountedText& counted) {
  const std::uint64_t pairs = counted.totals.pairs_kept;
  const auto [source_name, target_name] = names_of(options.train);
  const bool of_model = !given && subwords_of(options.pipeline) == "sentencepiece";
  std::optional<Vocabulary> joint;
  if (tables.joint) {
    PrepareReport::Side of_both;
    joint = of_model ? tables.joint->rank(vocabulary_of(options.pipeline.source_subwords), 2 * pairs, of_both)
                     : tables.joint->cut(options.source_words ? options.source_words : options.target_words, 2 * pairs,
                                         options.source_words ? "--source-words" : "--target-words",
                                         text_of(source_name, " and ", target_name), of_both);
  }
  const auto vocabulary = [&](WordStatistics& statistics, const Vocabulary* words, std::optional<std::size_t> wanted,
                              const char* option, const std::string& text, const text::Subwords& subwords,
                              PrepareReport::Side& side) {
    if (of_model && !words) return statistics.rank(vocabulary_of(subwords), pairs, side);
    return words ? statistics.count(*words, pairs, side) : statistics.cut(wanted, pairs, option, text, side);
  };
  counted.head.source =
      vocabulary(tables.source,
                 joint   ? &*joint
                 : given ? &given->source_vocabulary()
                         : nullptr,
                 options.source_words, "--source-words", source_name, options.pipeline.source_subwords, counted.source);
  counted.head.target =
      vocabulary(tables.target,
                 joint   ? &*joint
                 : given ? &given->target_vocabulary()
                         : nullptr,
                 options.target_words, "--target-words", target_name, options.pipeline.target_subwords, counted.target);
  counted.head.joint = joint || (given && given->joint_vocabulary());
}

/// COLLECTIVE. Reads the text to find repeated pairs, if these are dropped, and then to count its words. Only the
/// result of rank 0 is complete.
CountedText count_words(const Text& text, const PairCleaner& cleaner, const Corpus* given) {
  const PrepareOptions& options = text.options;
  CountedText counted;
  std::string digest;
  if (options.cleaning.drop_repeated) std::tie(counted.repeated, digest) = find_repeated(text);
  std::optional<WordTables> tables;
  text.team.meet(
      [&] {
        tables.emplace(options, text.folder());
        return std::string();
      },
      [](const auto&) { return std::string(); });
  PassSteps steps;
  steps.work = [&](const TextBlock& block, std::size_t first, std::size_t last, Piece& piece) {
    split(options.pipeline, cleaner, counted.repeated, block, first, last, piece);
    piece.source.hashed.group(piece.source.words);
    piece.target.hashed.group(piece.target.words);
  };
  steps.keep = [&](const std::vector<Piece>& pieces) { tables->add(pieces); };
  counted.totals = text.read(steps);
  at_root(text.team, [&] {
    if (!digest.empty() && digest != counted.totals.digest) fail_on_change(options.train);
    if (counted.totals.pairs_kept == 0) fail_on_nothing(options, counted.totals);
    return "";
  });
  tables->gather(text.team);
  at_root(text.team, [&] {
    cut_vocabularies(options, given, *tables, counted);
    CorpusHead& head = counted.head;
    head.pipeline = options.pipeline;
    head.selection = {options.cleaning, counted.totals.pairs_read, counted.totals.dropped};
    if (options.append_to.empty()) return "";
    head.selection.pairs_read += given->selection()->pairs_read;
    head.selection.dropped += given->selection()->dropped;
    head.source = add_counts(head.source, given->source_vocabulary());
    head.target = add_counts(head.target, given->target_vocabulary());
    return "";
  });
  return counted;
}

/// COLLECTIVE. Sends the words and the repeated pairs from rank 0 to all ranks.
void share(Team& team, CountedText& counted) {
  if (team.size() == 1) return;
  const std::string shared = at_root(team, [&] {
    Packer packer;
    packer.add_text(counted.repeated.bits());
    for (const Vocabulary* vocabulary : {&counted.head.source, &counted.head.target}) {
      packer.add(std::uint64_t{vocabulary->size()});
      for (const std::string& word : vocabulary->words()) packer.add_text(word);
    }
    return packer.take();
  });
  if (team.rank() == 0) return;
  Unpacker unpacker(shared);
  counted.repeated = PairSet(std::string(unpacker.next_text()));
  for (Vocabulary* vocabulary : {&counted.head.source, &counted.head.target}) {
    std::vector<std::string> words(unpacker.next<std::uint64_t>());
    for (std::string& word : words) word = unpacker.next_text();
    *vocabulary = Vocabulary(std::move(words));
  }
}

/// Checks whether the pairs that are added are the last `count` pairs of a corpus.
class LastPairs {
 public:
  LastPairs(const Corpus& corpus, std::uint64_t count)
      : corpus_(corpus),
        same_(count > 0 && count <= corpus.train_pairs()),
        next_(corpus.train_pairs() - (same_ ? count : 0)) {}

  void add(std::span<const WordId> source, std::span<const WordId> target) {
    if (!same_) return;
    if (at_ == block_.source.size()) {
      if (next_ == corpus_.train_pairs()) {  // the text has grown since it was counted
        same_ = false;
        return;
      }
      block_ = corpus_.read_pairs(next_, std::min(kPairs, corpus_.train_pairs() - next_));
      next_ += block_.source.size();
      at_ = 0;
    }
    same_ = std::ranges::equal(source, block_.source[at_]) && std::ranges::equal(target, block_.target[at_]);
    ++at_;
  }
  bool are_these() const { return same_; }

 private:
  static constexpr std::uint64_t kPairs = 1 << 14;  // pairs read at once
  const Corpus& corpus_;
  bool same_;
  std::uint64_t next_;
  PairBlock block_;
  std::size_t at_ = 0;  // index in block_
};

void check_vocabulary_of(const PrepareOptions& options, const Corpus& given) {
  const TextPipeline &there = given.pipeline(), &here = options.pipeline;
  const PrepareOptions::Explicit& set = options.given;
  if ((set.tokenizer && there.tokenizer != here.tokenizer) ||
      (set.normalization && there.normalization != here.normalization) ||
      (set.lowercase && there.lowercase != here.lowercase))
    throw Error(text_of("corpus: the vocabularies of ", options.vocabulary_of.string(),
                        " do not fit: it was made with --tokenizer ", there.tokenizer, ", --normalization ",
                        there.normalization, " and --lowercase ", there.lowercase ? "true" : "false",
                        "; leave these options out, to use those of the corpus, or leave --vocabulary-of out"));
  if ((set.source_language && there.source_language != here.source_language) ||
      (set.target_language && there.target_language != here.target_language))
    throw Error(text_of("corpus: the vocabularies of ", options.vocabulary_of.string(),
                        " do not fit: its languages are ", there.source_language, " and ", there.target_language,
                        ", and those of this text are ", here.source_language, " and ", here.target_language,
                        "; leave --source-language and --target-language out, to use those of the corpus, or leave "
                        "--vocabulary-of out"));
}

/// COLLECTIVE. Sends the pipeline of rank 0, which read it or learned its subwords, to every rank.
void share_pipeline(Team& team, TextPipeline& pipeline) {
  const std::string shared = at_root(team, [&] {
    Packer packer;
    for (const std::string* text :
         {&pipeline.source_language, &pipeline.target_language, &pipeline.tokenizer, &pipeline.normalization})
      packer.add_text(*text);
    packer.add(std::uint64_t{pipeline.lowercase});
    if (!pipeline.source_subwords) return packer.take();
    packer.add_text(subwords_of(pipeline));
    packer.add_text(pipeline.source_subwords.bytes());
    packer.add_text(pipeline.target_subwords.bytes());
    return packer.take();
  });
  if (team.rank() == 0) return;
  Unpacker unpacker(shared);
  for (std::string* text :
       {&pipeline.source_language, &pipeline.target_language, &pipeline.tokenizer, &pipeline.normalization})
    *text = unpacker.next_text();
  pipeline.lowercase = unpacker.next<std::uint64_t>() != 0;
  if (unpacker.empty()) return;
  const auto kind = text::subword_kind_of(std::string(unpacker.next_text()));
  pipeline.source_subwords = text::Subwords::of(kind, std::string(unpacker.next_text()));
  pipeline.target_subwords = text::Subwords::of(kind, std::string(unpacker.next_text()));
  if (pipeline.source_subwords == pipeline.target_subwords) pipeline.target_subwords = pipeline.source_subwords;
}

}  // namespace

PrepareReport prepare(const PrepareOptions& options, const Progress& progress) {
  Alone alone;
  return prepare(options, alone, progress);
}

PrepareReport prepare(const PrepareOptions& asked, Team& team, const Progress& progress) {
  PrepareReport report;
  PrepareOptions options = asked;
  std::optional<Corpus> given;
  std::string digest_of_given;  // at rank 0
  if (!options.append_to.empty()) {
    team.meet(
        [&] {
          if (team.rank() == 0) digest_of_given = storage::sealed_digest(options.append_to, "corpus");
          given.emplace(options.append_to, team.rank() == 0 ? Verify::kDigest : Verify::kSkip);
          options.cleaning = selection_of(*given).cleaning;
          options.pipeline = given->pipeline();
          options.vocabulary_of.clear();
          options.subwords = {};
          options.joint_vocabulary = false;
          return std::string();
        },
        [](const auto&) { return std::string(); });
  }
  const bool appends = given.has_value();
  std::optional<CountedFile> file;
  std::vector<RawSet> sets;
  at_root(team, [&] {
    check_options(options);
    check_output(options.output, options.overwrite, inputs_of(options));
    remove_abandoned(options.output);  // before anything is written, because abandoned files may fill the disk
    if (appends) sets = sets_of(*given);
    if (!options.vocabulary_of.empty()) {
      given.emplace(options.vocabulary_of);
      check_vocabulary_of(options, *given);
      options.pipeline = given->pipeline();
    }
    if (options.dev) sets.push_back(read_raw_set(*options.dev, options.line_limit, "dev"));
    for (const EvaluationFiles& test : options.tests)
      sets.push_back(read_raw_set(test, options.line_limit, "test/" + test.name));
    std::set<std::string> names;
    for (const RawSet& set : sets) {
      report.sets.emplace_back(set.name, set.lines[0].size());
      if (!names.insert(set.name).second)
        throw Error(text_of("corpus: ", options.append_to.string(), " has a set ", set.name,
                            " already; leave this set out, or give the test set another name"));
    }
    if (text_bytes(options.train) >= options.keep_counts_from) file.emplace(options, given ? &*given : nullptr);
    const bool learns = !given && options.subwords.learned != "none";
    if (const auto learned = learns && file ? file->read_learned(options) : std::nullopt) {
      options.pipeline = *learned;
      report.learned_before = true;
    } else if (!given) {
      options.pipeline = with_subwords(options, progress);
      if (learns && file) file->write_learned(options.pipeline);
    }
    return "";
  });
  share_pipeline(team, options.pipeline);
  if (given && team.rank() == 0) {
    const std::string changed = changed_libraries(options.pipeline);
    if (!changed.empty()) log_line(text_of("[prepare] corpus ", given->path().string(), ": ", changed));
  }
  if (!appends) options.pipeline.libraries = {};  // all text is split here
  Text text{options, team, progress, {}};
  if (team.size() > 1) text.index = index_lines(files_of(options.train), team);
  const PairCleaner cleaner(options.cleaning);
  CountedText counted;
  report.counted_before = !at_root(team, [&] {
                             if (!file) return "";
                             auto before = file->read(options);
                             if (!before) return "";
                             counted = *std::move(before);
                             return "it was counted before";
                           }).empty();
  if (!report.counted_before) counted = count_words(text, cleaner, given ? &*given : nullptr);
  share(team, counted);

  std::optional<CorpusWriter> writer;
  std::optional<LastPairs> appended_before;
  at_root(team, [&] {
    if (file && !report.counted_before) file->write(counted);
    counted.head.aligned = (appends && given->has_alignments()) ||
                           std::any_of(options.train.begin(), options.train.end(),
                                       [](const TextFiles& files) { return !files.alignments.empty(); });
    writer.emplace(options.output, counted.head, options.shard_pairs);
    if (appends) writer->add(*given);
    std::error_code ignored;
    if (appends && fs::equivalent(options.append_to, options.output, ignored))
      appended_before.emplace(*given, counted.totals.pairs_kept);
    return "";
  });
  PassSteps write;
  write.pass = 2;
  write.work = [&](const TextBlock& block, std::size_t first, std::size_t last, Piece& piece) {
    split(options.pipeline, cleaner, counted.repeated, block, first, last, piece);
    encode(piece.source.words, counted.head.source, piece.source.ids);
    encode(piece.target.words, counted.head.target, piece.target.ids);
  };
  write.collect = [&](const std::vector<Piece>& pieces) {
    for (const Piece& piece : pieces) {
      std::size_t source_begin = 0, target_begin = 0, links_begin = 0;
      for (std::size_t i = 0; i < piece.kept(); ++i) {
        const auto source = std::span(piece.source.ids).subspan(source_begin, piece.source.sizes[i]);
        const auto target = std::span(piece.target.ids).subspan(target_begin, piece.target.sizes[i]);
        const std::size_t positions = piece.links.sizes.empty() ? 0 : piece.links.sizes[i];
        writer->add(source, target, std::span(piece.links.positions).subspan(links_begin, positions));
        links_begin += positions;
        if (appended_before) appended_before->add(source, target);
        source_begin += piece.source.sizes[i];
        target_begin += piece.target.sizes[i];
      }
    }
  };
  const PassTotals written = text.read(write);
  report.fingerprint = at_root(team, [&] {
    if (written.digest != counted.totals.digest) fail_on_change(options.train);
    if (appended_before && appended_before->are_these())
      throw Error(text_of(
          "corpus: the last ", counted.totals.pairs_kept, " pairs of ", options.append_to.string(),
          " are the pairs of this text, as words of its vocabulary: the text seems to have been appended already, "
          "perhaps by the same job; to append it once more, write a corpus with another name with --output"));
    for (const RawSet& set : sets) writer->add_set(set);
    return writer->publish([&] {
      if (appended_before) check_still_the_same(options.append_to, digest_of_given);
      if (!options.overwrite) check_still_absent(options.output);
    });
  });
  if (appends) report.pairs_before = given->train_pairs();
  report.pairs_read = counted.totals.pairs_read;
  report.pairs_kept = counted.totals.pairs_kept;
  report.dropped = counted.totals.dropped;
  report.source = counted.source;
  report.target = counted.target;
  return report;
}

}  // namespace rnnsearch::corpus

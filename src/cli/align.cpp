#include "rnnsearch/cli/command.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

#include "cli/options/common.h"
#include "cli/options/translation_options.h"
#include "cli/progress.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/file.h"
#include "rnnsearch/base/parallel.h"
#include "rnnsearch/base/printable.h"
#include "rnnsearch/base/signals.h"
#include "rnnsearch/comm/meet.h"
#include "rnnsearch/corpus/aligner.h"
#include "rnnsearch/corpus/text_lines.h"
#include "rnnsearch/corpus/text_pipeline.h"
#include "rnnsearch/decode/shortlist.h"
#include "rnnsearch/decode/translate_lines.h"
#include "rnnsearch/evaluate/alignment.h"
#include "rnnsearch/report/heat_map.h"
#include "rnnsearch/report/input_files.h"
#include "rnnsearch/train/run_directory.h"

namespace rnnsearch::cli {
namespace {

namespace fs = std::filesystem;

// Lines between two gatherings at the root: memory does not grow with the text. Not a function of the number of ranks,
// because what is computed together, and so the rounding, must not be one either.
constexpr std::size_t kPortion = 4096;

struct Settings {
  fs::path model, source, target, gold_links;
  bool statistical = false;
  std::string lines;
  LineLimit line_limit;
  std::size_t gold_first_word = 0;
  fs::path json, pharaoh, lexical_table, svg;
  std::string links = "argmax";
  double threshold = 0.5;
  bool bars = false, heat_map = false;
  decode::TranslationOptions translation;
  ThreadOptions threads;
  std::string precision;
};

/// Whether weights are printed for people, because no other result was asked for.
bool prints_text(const Settings& s) {
  return s.json.empty() && s.pharaoh.empty() && s.lexical_table.empty() && s.svg.empty() && s.gold_links.empty();
}

/// Words and weights of one line, as results show them.
struct Sentence {
  std::size_t line = 0;                     // from 1
  std::vector<std::string> source, target;  // </s> at the target's end, and at the source's if the encoder reads it
  std::size_t source_words = 0;             // without </s>
  decode::WordPair ids;                     // without </s>; <unk> for words that the model does not know
  std::vector<float> alpha;                 // [target, source]
  double log_probability = 0;

  const float* row(std::size_t i) const { return alpha.data() + i * source.size(); }
};

/// A file, or standard output: then held until all is done, because it is printed whole or not at all.
class Sink {
 public:
  Sink(const char* option, const fs::path& path) : file_(option, path, held_) {}
  void write(const std::string& text) {
    file_.write(text);
    file_.check();
  }
  void publish() {
    file_.publish();
    std::cout << held_.str();
  }

 private:
  std::ostringstream held_;
  OutputFile file_;
};

/// What people read: words without the marks by which the tokeniser knows where they touched. Subwords keep theirs,
/// which say what is a word.
std::vector<std::string> without_marks(std::vector<std::string> words, const corpus::TextPipeline& pipeline) {
  if (pipeline.target_subwords) return words;
  for (std::string& word : words) word = pipeline.to_text({word});
  return words;
}

/// For people: what each target word looked at, most first; 0.1 and more, three at most, one at least.
std::string text_of_sentence(const Sentence& sentence, const corpus::TextPipeline& pipeline, bool heat_map) {
  const auto source = without_marks(sentence.source, pipeline), target = without_marks(sentence.target, pipeline);
  std::string text = fmt::format("line {}, log-probability {:.6f}\n", sentence.line, sentence.log_probability);
  if (heat_map)
    return text + report::terminal_heat_map({source, target, {sentence.alpha.begin(), sentence.alpha.end()}}) + "\n";
  std::vector<std::size_t> order(sentence.source.size());
  for (std::size_t i = 0; i < sentence.target.size(); ++i) {
    const float* const row = sentence.row(i);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return row[a] > row[b]; });
    text += "  " + printable(target[i]) + " <-";
    for (std::size_t k = 0; k < std::min<std::size_t>(3, order.size()); ++k) {
      if (k > 0 && row[order[k]] < 0.1f) break;
      text += (k > 0 ? ", " : " ") + printable(source[order[k]]) + " " + fixed(static_cast<double>(row[order[k]]), 2);
    }
    text += "\n";
  }
  return text + "\n";
}

/// What is made of links. At the root alone. Files appear when they are published.
class LinkResults {
 public:
  /// `settings` outlives this. Throws Error for a place that cannot be written.
  explicit LinkResults(const Settings& settings) : settings_(settings) {
    if (!settings.pharaoh.empty()) pharaoh_.emplace("--pharaoh", settings.pharaoh);
    if (!settings.lexical_table.empty()) lexical_table_.emplace("--lexical-table", settings.lexical_table);
  }
  bool are_wanted() const { return pharaoh_ || lexical_table_ || !settings_.gold_links.empty(); }

  /// In the order of the lines. `gold`: nullptr if there are none.
  void add(const evaluate::Links& links, std::span<const WordId> source, std::span<const WordId> target,
           const evaluate::GoldLinks* gold) {
    if (lexical_table_)
      for (const auto& link : links) lexical_counts_.add(source[link.source], target[link.target]);
    if (pharaoh_) pharaoh_->write(evaluate::pharaoh_line(links) + "\n");
    if (gold) statistics_ += evaluate::sentence_statistics(links, *gold);
  }
  evaluate::AlignmentScore score() const { return evaluate::alignment_score_of(statistics_); }

  /// Throws Error where a file cannot be written.
  void publish(const corpus::Vocabulary& source, const corpus::Vocabulary& target) {
    if (pharaoh_) pharaoh_->publish();
    if (lexical_table_) {
      lexical_counts_.for_each_line(source, target,
                                    [&](const std::string& line) { lexical_table_->write(line + "\n"); });
      lexical_table_->publish();
    }
    if (!settings_.gold_links.empty() && settings_.json != "-") std::cout << evaluate::lines_of(score());
  }

 private:
  const Settings& settings_;
  std::optional<Sink> pharaoh_, lexical_table_;
  decode::LexicalCounts lexical_counts_;
  evaluate::AlignmentStatistics statistics_;
};

/// At the root alone. Files appear when they are published; pictures appear at once.
class Alignments {
 public:
  /// What they refer to outlives this. Throws Error for a place that cannot be written.
  Alignments(const Settings& settings, const decode::Translator& translator)
      : settings_(settings), translator_(translator), links_(settings) {
    if (!settings.json.empty()) {
      json_.emplace("--json", settings.json);
      json_->write(report::alignment_file_begin(settings.model.string()));
    }
    if (!settings.svg.empty()) {
      std::error_code error;
      fs::create_directories(settings.svg, error);
      if (!fs::is_directory(settings.svg)) {
        throw Error("--svg {} is not a folder and cannot be made one{}", settings.svg,
                    error ? ": " + error.message() : "");
      }
    }
    if (prints_text(settings)) {
      text_.emplace("", "-");
    }
  }

  /// In the order of the lines. `gold`: nullptr if there are none.
  void add(const Sentence& sentence, const evaluate::GoldLinks* gold) {
    if (json_) {
      json_->write((sentences_ > 0 ? ",\n" : "\n") + report::alignment_file_sentence(sentence.line, sentence.source,
                                                                                     sentence.target, sentence.alpha,
                                                                                     sentence.log_probability));
    }
    ++sentences_;
    if (text_) text_->write(text_of_sentence(sentence, translator_.pipeline, settings_.heat_map));
    if (links_.are_wanted()) links_.add(links_of(sentence), sentence.ids.source, sentence.ids.target, gold);
    if (!settings_.svg.empty()) draw(sentence);
  }

  /// Throws Error where a file cannot be written.
  void publish() {
    if (json_) {
      json_->write(
          report::alignment_file_end(settings_.gold_links.empty() ? Json() : evaluate::json_of(links_.score())));
      json_->publish();
    }
    if (text_) text_->publish();
    links_.publish(translator_.source_vocabulary, translator_.target_vocabulary);
  }

 private:
  evaluate::Links links_of(const Sentence& sentence) const {
    const evaluate::SoftAlignment soft{sentence.alpha, sentence.source.size(), sentence.source_words,
                                       sentence.target.size() - 1};
    return settings_.links == "argmax" ? evaluate::argmax_links(soft)
                                       : evaluate::threshold_links(soft, static_cast<float>(settings_.threshold));
  }

  void draw(const Sentence& sentence) const {
    const report::AttentionMatrix matrix{without_marks(sentence.source, translator_.pipeline),
                                         without_marks(sentence.target, translator_.pipeline),
                                         {sentence.alpha.begin(), sentence.alpha.end()}};
    const std::string name = fmt::format("line-{:06}", sentence.line);
    write_file_atomically(settings_.svg / (name + ".svg"),
                          report::heat_map(matrix, fmt::format("Soft alignment of line {}", sentence.line)));
    if (!settings_.bars) return;
    write_file_atomically(
        settings_.svg / (name + "-bars.svg"),
        report::attention_bars(matrix, fmt::format("Attention, step by step, of line {}", sentence.line)));
  }

  const Settings& settings_;
  decode::Translator translator_;
  std::optional<Sink> json_, text_;
  LinkResults links_;
  std::size_t sentences_ = 0;
};

/// The pairs that were asked for.
struct Text {
  std::vector<std::size_t> lines;  // of the files, from 0
  std::vector<std::string> sources, targets;
  std::vector<evaluate::GoldLinks> gold;  // at the root
};

/// One side of the text of --statistical: its words are what white space separates, as in a corpus without tokenizer.
struct NumberedWords {
  explicit NumberedWords(const std::vector<std::string>& lines) {
    corpus::TextPipeline white_space;
    white_space.tokenizer = "none";
    for (const std::string_view symbol : corpus::kSpecialSymbols) id_of(symbol);
    for (const std::string& line : lines) {
      std::vector<WordId> sentence;
      for (const std::string& word : white_space.to_words(line, corpus::Side::kSource)) sentence.push_back(id_of(word));
      sentences.add(sentence);
    }
  }
  WordId id_of(std::string_view word) {
    const auto [found, is_new] = ids.emplace(word, static_cast<WordId>(words.size()));
    if (is_new) words.emplace_back(word);
    return found->second;
  }

  std::vector<std::string> words;
  std::unordered_map<std::string, WordId> ids;
  Sentences sentences;
};

/// --statistical: links that are learned from these pairs. At the root.
void align_by_statistics(const Settings& settings, const Text& text) {
  LinkResults results(settings);
  const NumberedWords source(text.sources), target(text.targets);
  const std::size_t pairs = text.lines.size();
  double cells = 0;
  std::size_t without_links = 0;
  for (std::size_t i = 0; i < pairs; ++i) {
    if (!corpus::Aligner::has_links(source.sentences[i], target.sentences[i])) {
      ++without_links;
    } else {
      cells += static_cast<double>(source.sentences.length(i)) * static_cast<double>(target.sentences.length(i));
    }
    if (text.gold.empty()) continue;
    evaluate::check_links(text.gold[i].possible, source.sentences.length(i), target.sentences.length(i),
                          fmt::format("{}, line {}", settings.gold_links, text.lines[i] + 1));
  }
  const auto read = [&](std::uint64_t first, std::uint64_t count) {
    stop_if_signal_came();
    corpus::Aligner::Pairs block;
    for (std::size_t i = first; i < first + count; ++i) {
      block.source.add(source.sentences[i]);
      block.target.add(target.sentences[i]);
    }
    return block;
  };
  if (without_links > 0)
    log_line(fmt::format("[align] {} of {} get no links: a side is empty, or they have more than 2^20 pairs of words",
                         without_links, counted(pairs, "pair")));
  const corpus::Aligner aligner(pairs, cells, read);
  for (std::size_t first = 0; first < pairs; first += kPortion) {
    stop_if_signal_came();
    std::vector<evaluate::Links> links(std::min(kPortion, pairs - first));
    parallel_for(links.size(), [&](std::size_t i) {
      const auto positions = aligner.links(source.sentences[first + i], target.sentences[first + i]).positions;
      for (std::size_t k = 0; k < positions.size(); k += 2) links[i].push_back({positions[k], positions[k + 1]});
    });
    for (std::size_t i = 0; i < links.size(); ++i) {
      results.add(links[i], source.sentences[first + i], target.sentences[first + i],
                  text.gold.empty() ? nullptr : &text.gold[first + i]);
    }
  }
  results.publish(corpus::Vocabulary(source.words), corpus::Vocabulary(target.words));
}

void declare(Options& options, Settings& settings) {
  options.group("Files");
  options.add("model", settings.model, kInputRun, kBasic,
              "run directory (its best checkpoint, otherwise its latest) or checkpoint file of a model with attention");
  options.add("statistical", settings.statistical,
              "use no model, but link the words of --source and --target as fast_align does (Dyer et al. 2013), by "
              "what this text itself teaches; words are what white space separates. Writes --pharaoh, --lexical-table "
              "and the scores of --gold");
  options.add("source", settings.source, kInputFile, kRequired, "source sentences, one per line");
  options.add("target", settings.target, kBasic, kInputFile,
              "translations of --source, line by line; without it the model translates first");
  options.add("lines", settings.lines, kBasic, Placeholder{"LINES"},
              "use only these lines of the files, counted from 1, such as 1,5,10-20");
  declare(options, settings.line_limit);
  options.group("Results");
  add_json(options, settings.json,
           "the words, the matrix (one row for each target word) and the log-probability of every line");
  options.add("pharaoh", settings.pharaoh, kOutputText,
              "write links as SOURCE-TARGET, words counted from 0 without </s>, one line a sentence");
  options.add("lexical-table", settings.lexical_table, kOutputText,
              "write the words that are linked as TARGET SOURCE PROBABILITY, one pair a line, in the format of Moses's "
              "lex.f2e: the share of the target word among the links of the source word. Words that the model does not "
              "know are <unk>. For translate --shortlist");
  options.add("svg", settings.svg, kBasic, Path{.kind = Path::kOutputFolder, .extension = ".svg"},
              "folder for a heat map of every line, line-000001.svg and so on, as in figure 3 of the paper: black is "
              "0, white is 1");
  options.add("bars", settings.bars,
              "with --svg, also draw line-000001-bars.svg and so on: the weights of every step as bars, beside the "
              "fixed context of a model without attention");
  options.add("heat-map", settings.heat_map, kBasic,
              "print the weights of every line as shaded cells, source words above, target words beside");
  options.group("Links");
  options.add("links", settings.links, Choices{{"argmax", "threshold"}},
              "how links are made. argmax: each target word with the source word of its largest weight, or none if "
              "that is </s>; threshold: every pair with a weight of at least --threshold");
  options.add("threshold", settings.threshold, within(0, 1), "smallest weight of a link, for --links threshold");
  options.add("gold", settings.gold_links, kInputFile,
              "gold alignment: links made by human annotators, one line for each sentence of --source, with 0-0 for a "
              "sure link, 0?1 or 0p1 for a possible one. The command then prints alignment error rate, precision, "
              "recall and F1 with their counts. Needs --target; words must be the model's tokens (those of --json)");
  options.add("gold-first-word", settings.gold_first_word, within(0, 1), "number of the first word in --gold: 0 or 1");
  add_translation_options(options, settings.translation);
  options.group("Machine");
  add_threads(options, settings.threads);
  add_precision(options, settings.precision, ModelUse::kTrained);
}

void check(const Options& options, Settings& settings) {
  if (settings.statistical) {
    if (settings.target.empty()) throw UsageError("--target is missing: --statistical learns from pairs of lines");
    options.refuse(true,
                   {"model", "json", "svg", "bars", "heat-map", "links", "threshold", "precision", "batch-sentences"},
                   "--{0} is for the weights of a model, which --statistical has not; leave one of the two out");
    if (prints_text(settings)) settings.pharaoh = "-";
  } else if (settings.model.empty()) {
    throw UsageError("--model is missing: name a run directory or a checkpoint file, or give --statistical");
  }
  options.refuse(settings.gold_links.empty(), {"gold-first-word"}, "--{0} is for --gold; leave it out");
  if (!settings.gold_links.empty() && settings.target.empty()) {
    throw UsageError("--target is missing: --gold compares the links of given translations");
  }
  for (const auto& [option, path] :
       {std::pair{"--pharaoh", settings.pharaoh}, {"--lexical-table", settings.lexical_table}}) {
    if (settings.gold_links.empty() || path != "-") continue;
    throw UsageError("{0} - and the scores of --gold would mix on standard output; name a file for {0}", option);
  }
  for (const std::string& name : options.given_in("Search")) {
    if (settings.target.empty() || name == "batch-sentences") continue;
    throw UsageError("--{} is for translations that align makes; leave it or --target out", name);
  }
  if (settings.heat_map && !prints_text(settings))
    throw UsageError("--heat-map prints the weights in place of other results; leave it out, or the others");
  if (settings.bars && settings.svg.empty()) throw UsageError("--bars needs --svg FOLDER, where its pictures go");
  check_translation_options(options, settings.translation);
  if (options.given("threshold") && settings.links != "threshold")
    throw UsageError("--threshold applies to --links threshold, but --links is {}", settings.links);
}

Text read_text(const Settings& settings) {
  Text text;
  text.sources = corpus::read_lines(settings.source, settings.line_limit);
  if (!settings.target.empty()) {
    text.targets = corpus::read_lines(settings.target, settings.line_limit);
    corpus::check_same_lines({settings.source, text.sources.size()}, {settings.target, text.targets.size()});
  }
  if (!settings.gold_links.empty()) {
    text.gold =
        evaluate::read_gold_links(corpus::read_lines(settings.gold_links, settings.line_limit),
                                  settings.gold_links.string(), static_cast<std::uint32_t>(settings.gold_first_word));
    corpus::check_same_lines({settings.source, text.sources.size()}, {settings.gold_links, text.gold.size()});
  }
  text.lines = corpus::chosen_lines(settings.lines, text.sources.size(), settings.source);
  const auto choose = [&](auto& all) {
    if (all.empty()) return;
    for (std::size_t i = 0; i < text.lines.size(); ++i) {
      if (text.lines[i] != i) all[i] = std::move(all[text.lines[i]]);
    }
    all.resize(text.lines.size());
  };
  choose(text.sources);
  choose(text.targets);
  choose(text.gold);
  return text;
}

/// The words of a portion's lines, and their ids. At the root.
struct Portion {
  std::vector<std::vector<std::string>> source, target;
  std::vector<decode::WordPair> pairs;

  /// Lines `first` and following; throws Interrupted when a stop signal came.
  void read(const Text& text, std::size_t first, std::size_t lines, const decode::Translator& translator) {
    for (std::size_t i = first; i < first + lines; ++i) {
      stop_if_signal_came();
      decode::WordPair& pair = pairs.emplace_back();
      std::vector<std::string> spans;
      source.push_back(decode::source_words(translator, text.sources[i], spans));
      pair.source = decode::ids_of(source.back(), translator.source_vocabulary);
      if (text.targets.empty()) continue;
      target.push_back(decode::target_words(translator, text.targets[i], spans));
      pair.target = decode::ids_of(target.back(), translator.target_vocabulary);
    }
  }
};

std::vector<std::string> target_words(const train::LoadedModel& loaded, const decode::Aligned& aligned,
                                      const std::vector<std::string>& source, bool replace_unknown) {
  const std::size_t Tx = loaded.model.options().source_length(source.size());
  std::vector<std::string> words;
  for (std::size_t i = 0; i < aligned.target.size(); ++i) {
    words.push_back(loaded.target_vocabulary.word(aligned.target[i]));
    if (aligned.target[i] != kUnknown || !replace_unknown) continue;
    const auto most = decode::aligned_word(std::span(aligned.alpha).subspan(i * Tx, Tx), source.size());
    if (most) words.back() = source[*most];
  }
  return words;
}

int work(const Options&, Settings& settings, const comm::Communicator& communicator) {
  settle_threads(settings.threads, communicator);
  set_precision(settings.precision, communicator);
  Text text;
  root_reads({settings.source, settings.target, settings.gold_links}, settings.threads.stall_timeout, communicator,
             [&] { text = read_text(settings); });
  std::uint64_t line_count = text.sources.size();
  if (settings.statistical) {
    communicator.set_stall_timeout(0);  // rank 0 may take as long as it needs
    comm::root_does(communicator, [&] { decode::until_stopped([&] { align_by_statistics(settings, text); }); });
    if (comm::stop_signal_came_anywhere(communicator))
      throw comm::Stopped("a signal asked to stop; nothing was written");
    return 0;
  }
  communicator.broadcast(std::span(&line_count, 1));
  auto loaded = train::open_model(settings.model, communicator);
  if (loaded.model.options().attention == model::Attention::kNone) {
    throw Error("{} has no attention, so it aligns nothing; name a model that was not trained with attention = none",
                settings.model);
  }
  const decode::Translator translator = translator_of(loaded);
  std::optional<Alignments> results;
  comm::root_does(communicator, [&] {
    for (std::size_t i = 0; i < text.gold.size(); ++i) {
      std::vector<std::string> spans;
      const std::size_t words = decode::source_words(translator, text.sources[i], spans).size();
      evaluate::check_links(text.gold[i].possible, words,
                            decode::target_words(translator, text.targets[i], spans).size(),
                            fmt::format("{}, line {}", settings.gold_links, text.lines[i] + 1));
    }
    results.emplace(settings, translator);
  });

  const bool given = !settings.target.empty();
  decode::SearchOptions& search = settings.translation.search;
  search.placeholders = decode::known_placeholders(translator);
  Progress progress(!communicator.is_root());
  for (std::size_t first = 0; first < line_count; first += kPortion) {
    const std::size_t lines = std::min(kPortion, line_count - first);
    Portion portion;
    if (communicator.is_root()) decode::until_stopped([&] { portion.read(text, first, lines, translator); });
    std::size_t done = 0;  // of the portion, when the root's batch and those of the other ranks are done
    const auto align = [&](const std::vector<const decode::WordPair*>& batch) {
      auto aligned_batch = decode::align_batch(loaded.model, batch, given, search);
      done = std::min(lines, done + static_cast<std::size_t>(communicator.size()) * search.batch_sentences);
      progress.show(fmt::format("[align] {} of {} lines", first + done, line_count));
      return aligned_batch;
    };
    const auto lengths =
        decode::lengths_of(portion.pairs, given ? &decode::WordPair::target : &decode::WordPair::source);
    auto aligned = decode::distribute<decode::WordPair, decode::Aligned>(
        communicator, portion.pairs, decode::by_length(lengths, search.batch_sentences), align);
    if (comm::stop_signal_came_anywhere(communicator)) {
      throw comm::Stopped(settings.svg.empty()
                              ? "a signal asked to stop; no alignment was written"
                              : "a signal asked to stop; no alignment was written but for some pictures");
    }
    std::optional<std::size_t> nan_line;  // of the files
    for (std::size_t i = 0; i < aligned.size() && !nan_line; ++i) {
      if (!std::isfinite(aligned[i]->log_probability)) nan_line = text.lines[first + i];
    }
    decode::refuse_nan(communicator, nan_line, {settings.source.string()});
    if (!results) continue;
    for (std::size_t i = 0; i < lines; ++i) {
      Sentence sentence;
      sentence.line = text.lines[first + i] + 1;
      sentence.target =
          given ? std::move(portion.target[i])
                : target_words(loaded, *aligned[i], portion.source[i], settings.translation.replace_unknown);
      sentence.source = std::move(portion.source[i]);
      sentence.ids = {std::move(portion.pairs[i].source), std::move(aligned[i]->target)};
      sentence.source_words = sentence.source.size();
      const std::string end = loaded.target_vocabulary.word(kEnd);
      sentence.target.push_back(end);
      if (loaded.model.options().source_length(sentence.source_words) > sentence.source_words)
        sentence.source.push_back(end);
      sentence.alpha = std::move(aligned[i]->alpha);
      sentence.log_probability = aligned[i]->log_probability;
      results->add(sentence, text.gold.empty() ? nullptr : &text.gold[first + i]);
    }
  }
  if (results) results->publish();
  return 0;
}

}  // namespace

std::unique_ptr<Invocation> make_align() {
  return invocation_of<Settings>(
      {"align",
       "Shows the attention weights of a model (alpha, section 3.1 of the paper) for given translations or for the "
       "model's own: how much each source word contributes to the context of each target word. Without --json, "
       "--pharaoh, --lexical-table, --svg and --gold the command prints, for every target word, the source words with "
       "the largest weights. Words are the model's tokens, with </s> at the end. Under mpirun the lines are "
       "distributed over the ranks. After SIGTERM or SIGUSR1 the command ends with exit code 85 and prints nothing; "
       "complete pictures are kept.",
       "--model runs/small --source test.en --target test.fr --lines 1-10 --svg pictures"},
      declare, check, work);
}

}  // namespace rnnsearch::cli

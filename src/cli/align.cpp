#include "cli/commands.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <numeric>
#include <optional>
#include <set>
#include <span>

#include "cli/precision.h"
#include "cli/progress.h"
#include "cli/ranks.h"
#include "cli/translation_options.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/figures.h"
#include "rnnsearch/base/file.h"
#include "rnnsearch/base/json.h"
#include "rnnsearch/base/output_file.h"
#include "rnnsearch/base/packed.h"
#include "rnnsearch/base/printable.h"
#include "rnnsearch/base/signals.h"
#include "rnnsearch/base/version.h"
#include "rnnsearch/comm/meet.h"
#include "rnnsearch/corpus/text_lines.h"
#include "rnnsearch/decode/spread.h"
#include "rnnsearch/evaluate/alignment.h"
#include "rnnsearch/report/attention_bars.h"
#include "rnnsearch/report/heat_map.h"
#include "rnnsearch/train/shared_files.h"

namespace rnnsearch::cli {
namespace {

namespace fs = std::filesystem;

// Lines between two gatherings at the root: memory does not grow with the text. Not a function of the number of ranks,
// because what is computed together, and so the rounding, must not be one either.
constexpr std::size_t kPortion = 4096;

struct Settings {
  fs::path model, source, target, gold, json, pharaoh, svg;
  std::string lines;
  std::string links = "argmax";
  double threshold = 0.5;
  std::size_t gold_first_word = 0;
  bool bars = false;
  decode::TranslationOptions translation;
  ThreadOptions threads;
  std::string precision;
};

void declare(Options& options, Settings& settings) {
  options.group("Files");
  options.add(
      "model", settings.model,
      {.help = "run directory (its best checkpoint, otherwise its latest) or checkpoint file of a model with attention",
       .value = "RUN|FILE",
       .required = true});
  options.add("source", settings.source, {.help = "source sentences, one a line", .value = "FILE", .required = true});
  options.add(
      "target", settings.target,
      {.help = "translations of --source, line by line; without it the model translates first", .value = "FILE"});
  options.add("lines", settings.lines,
              {.help = "use only these lines of the files, counted from 1, such as 1,5,10-20", .value = "LINES"});
  options.group("Results");
  options.add("json", settings.json,
              {.help = "write one JSON object with the words, the matrix (one row for each target word) and the "
                       "log-probability of every line; - is standard output",
               .value = "FILE|-"});
  options.add(
      "pharaoh", settings.pharaoh,
      {.help =
           "write links as SOURCE-TARGET, words counted from 0 without </s>, one line a sentence; - is standard output",
       .value = "FILE|-"});
  options.add("svg", settings.svg,
              {.help = "folder for a heat map of every line, line-000001.svg and so on, as in figure 3 of the paper: "
                       "black is 0, white is 1",
               .value = "FOLDER"});
  options.add("bars", settings.bars,
              {.help = "with --svg, also draw line-000001-bars.svg: the weights of every step as bars, beside the "
                       "fixed context of a model without attention"});
  options.group("Links");
  options.add("links", settings.links,
              {.help = "how links are made. argmax: each target word with the source word of its largest weight, or "
                       "none if that is </s>; threshold: every pair with a weight of at least --threshold",
               .choices = {"argmax", "threshold"}});
  options.add("threshold", settings.threshold,
              {.help = "smallest weight of a link, for --links threshold", .low = 0, .high = 1});
  options.add("gold", settings.gold,
              {.help = "links drawn by people, one line for each sentence of --source: 0-0 for sure links, 0?1 or 0p1 "
                       "for possible ones. Prints alignment error rate, precision, recall and F1 with their counts. "
                       "Needs --target; the words must be the model's tokens (those of --json)",
               .value = "FILE"});
  options.add("gold-first-word", settings.gold_first_word,
              {.help = "number of the first word in --gold: 0 or 1", .low = 0, .high = 1});
  add_translation_options(options, settings.translation);
  options.group("Machine");
  add_threads(options, settings.threads);
  add_precision(options, settings.precision);
}

void check(const Settings& settings, const Options& options) {
  if (settings.json == "-" && settings.pharaoh == "-") {
    throw Error("--json and --pharaoh both go to standard output, where they would mix; name a file for one");
  }
  if (!settings.gold.empty() && settings.target.empty()) {
    throw Error("--target is missing: --gold compares the links of given translations");
  }
  if (!settings.gold.empty() && settings.pharaoh == "-") {
    throw Error("--pharaoh - and the scores of --gold would mix on standard output; name a file for --pharaoh");
  }
  std::error_code ignored;
  for (const auto& [option, result] : {std::pair{"--json ", settings.json}, {"--pharaoh ", settings.pharaoh}}) {
    if (result.empty() || result == "-") continue;
    for (const fs::path& text : {settings.source, settings.target, settings.gold}) {
      if (fs::equivalent(result, text, ignored)) {
        throw Error(text_of(option, result.string(), " is one of the files to be read; name another"));
      }
    }
  }
  if (!settings.json.empty() && settings.json.lexically_normal() == settings.pharaoh.lexically_normal()) {
    throw Error(text_of("--json and --pharaoh both go to ", settings.json.string(), "; name a file for each"));
  }
  if (settings.bars && settings.svg.empty()) throw Error("--bars needs --svg FOLDER, where its pictures go");
  if (options.given("threshold") && settings.links != "threshold") {
    throw Error(text_of("--threshold applies to --links threshold, but --links is ", settings.links));
  }
}

/// Lines from 0, ascending, each once; all when nothing is asked.
std::vector<std::size_t> chosen_lines(const std::string& asked, std::size_t lines, const fs::path& source) {
  std::vector<std::size_t> all(lines);
  std::iota(all.begin(), all.end(), std::size_t{0});
  if (asked.empty()) return all;
  std::set<std::size_t> chosen;
  for (std::size_t begin = 0; begin <= asked.size();) {
    const std::size_t end = std::min(asked.find(',', begin), asked.size());
    const char *at = asked.data() + begin, *const stop = asked.data() + end;
    std::size_t first = 0, last = 0;
    const auto number = [&](std::size_t& value) {
      const auto [rest, error] = std::from_chars(at, stop, value);
      at = rest;
      return error == std::errc{};
    };
    bool good = number(first);
    last = first;
    if (good && at != stop && *at == '-') {
      ++at;
      good = number(last);
    }
    if (!good || at != stop || first == 0 || last < first) {
      throw Error(text_of("--lines: '", asked.substr(begin, end - begin),
                          "' is neither a line nor a range of lines; expected 1,5,10-20, lines counted from 1"));
    }
    if (last > lines) {
      throw Error(text_of("--lines: there is no line ", last, " in ", source.string(), ", which has ", lines));
    }
    for (std::size_t line = first; line <= last; ++line) chosen.insert(line - 1);
    begin = end + 1;
  }
  return {chosen.begin(), chosen.end()};
}

/// The pairs that were asked for.
struct Text {
  std::vector<std::size_t> lines;  // of the files, from 0
  std::vector<std::string> sources, targets;
  std::vector<evaluate::GoldLinks> gold;  // at the root
};

Text read_text(const Settings& settings) {
  Text text;
  text.sources = corpus::read_lines(settings.source, corpus::TestSetPart::kSource);
  if (!settings.target.empty()) {
    text.targets = corpus::read_lines(settings.target, corpus::TestSetPart::kReference);
    corpus::check_same_lines({settings.source, corpus::TestSetPart::kSource, text.sources.size()},
                             {settings.target, corpus::TestSetPart::kReference, text.targets.size()});
  }
  if (!settings.gold.empty()) {
    text.gold = evaluate::read_gold_links(settings.gold, static_cast<std::uint32_t>(settings.gold_first_word),
                                          stop_if_signal_came);
    corpus::check_same_lines({settings.source, corpus::TestSetPart::kSource, text.sources.size()},
                             {settings.gold, corpus::TestSetPart::kReference, text.gold.size()});
  }
  text.lines = chosen_lines(settings.lines, text.sources.size(), settings.source);
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

/// A sentence as the ranks hand it to the root.
struct Aligned {
  std::vector<WordId> target;  // without </s>
  double log_probability = 0;  // NaN where the model computes NaN
  std::vector<float> alpha;    // [target words + 1, source words + 1]
};

void pack(Packer& packer, const Aligned& aligned) {
  packer.add_list(aligned.target);
  packer.add(aligned.log_probability);
  packer.add_list(aligned.alpha);
}

void unpack(Unpacker& unpacker, Aligned& aligned) {
  aligned.target = unpacker.next_list<WordId>();
  aligned.log_probability = unpacker.next<double>();
  aligned.alpha = unpacker.next_list<float>();
}

/// Words and weights of one line, as results show them.
struct Sentence {
  std::size_t line = 0;                     // from 1
  std::vector<std::string> source, target;  // </s> at the target's end, and at the source's if the encoder reads it
  std::size_t source_words = 0;             // without </s>
  std::vector<float> alpha;                 // [target, source]
  double log_probability = 0;

  const float* row(std::size_t i) const { return alpha.data() + i * source.size(); }
};

// The shortest number that reads back as this float, not the many digits of its double.
Json json_of(float weight) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, weight).ptr;
  double value = 0;
  std::from_chars(text, end, value);
  return Json(value);
}

Json json_of(const Sentence& sentence) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < sentence.target.size(); ++i) {
    Json row = Json::array();
    for (std::size_t j = 0; j < sentence.source.size(); ++j) row.push_back(json_of(sentence.row(i)[j]));
    rows.push_back(std::move(row));
  }
  Json result = Json::object();
  result["line"] = sentence.line;
  result["source"] = Json::array({sentence.source.begin(), sentence.source.end()});
  result["target"] = Json::array({sentence.target.begin(), sentence.target.end()});
  result["alignment"] = std::move(rows);
  result["log_probability"] = sentence.log_probability;
  return result;
}

Json json_of(const evaluate::AlignmentScore& score) {
  Json result = Json::object();
  result["alignment_error_rate"] = score.error_rate;
  result["precision"] = score.precision;
  result["recall"] = score.recall;
  result["f1"] = score.f1;
  result["links"] = score.statistics.links;
  result["sure"] = score.statistics.sure;
  result["correct_sure"] = score.statistics.correct_sure;
  result["correct_possible"] = score.statistics.correct_possible;
  return result;
}

std::string text_of_score(const evaluate::AlignmentScore& score) {
  const auto& counts = score.statistics;
  char text[512];
  std::snprintf(text, sizeof text,
                "alignment error rate  %.4f\nprecision             %.4f\nrecall                %.4f\n"
                "F1                    %.4f\nlinks                 %llu, of which %llu are possible and %llu are sure\n"
                "sure links of gold    %llu\n",
                score.error_rate, score.precision, score.recall, score.f1,
                static_cast<unsigned long long>(counts.links), static_cast<unsigned long long>(counts.correct_possible),
                static_cast<unsigned long long>(counts.correct_sure), static_cast<unsigned long long>(counts.sure));
  return text;
}

/// What people read: words without the marks by which the tokeniser knows where they touched. Subwords keep theirs,
/// which say what is a word.
std::vector<std::string> without_marks(std::vector<std::string> words, const corpus::TextPipeline& pipeline) {
  if (pipeline.target_subwords) return words;
  for (std::string& word : words) word = pipeline.to_text({word});
  return words;
}

/// For people: what each target word looked at, most first; 0.1 and more, three at most, one at least.
std::string text_of_sentence(const Sentence& sentence, const corpus::TextPipeline& pipeline) {
  const auto source = without_marks(sentence.source, pipeline), target = without_marks(sentence.target, pipeline);
  std::string text = text_of("line ", sentence.line, ", log-probability ", fixed(sentence.log_probability, 6), "\n");
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

/// A file, or standard output: then held until all is done, because it is printed whole or not at all.
class Sink {
 public:
  Sink(const char* option, const fs::path& path) {
    if (path != "-") file_.emplace(option, path, std::cout);
  }
  void write(const std::string& text) {
    if (file_) {
      file_->write(text);
      file_->check();
    } else {
      held_ += text;
    }
  }
  void publish() {
    if (file_) {
      file_->publish();
    } else {
      std::cout << held_;
    }
  }

 private:
  std::optional<OutputFile> file_;
  std::string held_;
};

/// What the root makes of the sentences, in their order.
class Results {
 public:
  Results(const Settings& settings, const corpus::TextPipeline& pipeline) : settings_(settings), pipeline_(pipeline) {
    if (!settings.json.empty()) {
      json_.emplace("--json", settings.json);
      // Sentence by sentence, not as one value: the matrices of a corpus need not fit into memory.
      Json head = Json::object({{"format", "rnnsearch-alignment"},
                                {"format_version", 1},
                                {"created_by", std::string("rnnsearch-") + kVersion},
                                {"model", settings.model.string()}});
      std::string text = head.dump();
      text.back() = ',';
      json_->write(text + "\n\"sentences\":[");
    }
    if (!settings.pharaoh.empty()) pharaoh_.emplace("--pharaoh", settings.pharaoh);
    if (!settings.svg.empty()) {
      std::error_code error;
      fs::create_directories(settings.svg, error);
      if (!fs::is_directory(settings.svg)) {
        throw Error(text_of("--svg ", settings.svg.string(), " is no folder and none can be made there",
                            error ? ": " + error.message() : ""));
      }
    }
    if (settings.json.empty() && settings.pharaoh.empty() && settings.svg.empty() && settings.gold.empty()) {
      text_.emplace("", "-");
    }
  }

  void add(const Sentence& sentence, const evaluate::GoldLinks* gold) {
    if (json_) json_->write((sentences_ > 0 ? ",\n" : "\n") + json_of(sentence).dump());
    ++sentences_;
    if (text_) text_->write(text_of_sentence(sentence, pipeline_));
    if (pharaoh_ || gold) {
      const auto links = links_of(sentence);
      if (pharaoh_) pharaoh_->write(evaluate::pharaoh_line(links) + "\n");
      if (gold) statistics_ += evaluate::sentence_statistics(links, *gold);
    }
    if (!settings_.svg.empty()) draw(sentence);
  }

  void publish() {
    const auto score = evaluate::alignment_score_of(statistics_);
    if (json_) {
      json_->write("\n]");
      if (!settings_.gold.empty()) json_->write(",\n\"gold\":" + json_of(score).dump());
      json_->write("}\n");
      json_->publish();
    }
    if (pharaoh_) pharaoh_->publish();
    if (text_) text_->publish();
    if (!settings_.gold.empty() && settings_.json != "-") std::cout << text_of_score(score);
  }

 private:
  evaluate::Links links_of(const Sentence& sentence) const {
    const evaluate::SoftAlignment soft{sentence.alpha, sentence.source.size(), sentence.source_words,
                                       sentence.target.size() - 1};
    return settings_.links == "argmax" ? evaluate::argmax_links(soft)
                                       : evaluate::threshold_links(soft, static_cast<float>(settings_.threshold));
  }

  void draw(const Sentence& sentence) const {
    const report::AttentionMatrix matrix{without_marks(sentence.source, pipeline_),
                                         without_marks(sentence.target, pipeline_),
                                         {sentence.alpha.begin(), sentence.alpha.end()}};
    char name[32];
    std::snprintf(name, sizeof name, "line-%06llu", static_cast<unsigned long long>(sentence.line));
    report::PictureOptions picture;
    picture.title = text_of("Soft alignment of line ", sentence.line);
    write_file_atomically(settings_.svg / (std::string(name) + ".svg"), report::heat_map(matrix, picture));
    if (!settings_.bars) return;
    picture.title = text_of("Attention, step by step, of line ", sentence.line);
    write_file_atomically(settings_.svg / (std::string(name) + "-bars.svg"), report::attention_bars(matrix, picture));
  }

  const Settings& settings_;
  const corpus::TextPipeline& pipeline_;
  std::optional<Sink> json_, pharaoh_, text_;
  evaluate::AlignmentStatistics statistics_;
  std::size_t sentences_ = 0;
};

/// The words of a portion's lines, and their ids. At the root.
struct Portion {
  std::vector<std::vector<std::string>> source, target;
  std::vector<decode::WordPair> pairs;

  /// Lines `first` and following; throws Interrupted when a stop signal came.
  void read(const Text& text, std::size_t first, std::size_t lines, const train::LoadedModel& loaded) {
    for (std::size_t i = first; i < first + lines; ++i) {
      stop_if_signal_came();
      decode::WordPair& pair = pairs.emplace_back();
      source.push_back(loaded.pipeline.to_words(text.sources[i], corpus::Side::kSource));
      pair.source = decode::ids_of(source.back(), loaded.source_vocabulary);
      if (text.targets.empty()) continue;
      target.push_back(loaded.pipeline.to_words(text.targets[i], corpus::Side::kTarget));
      pair.target = decode::ids_of(target.back(), loaded.target_vocabulary);
    }
  }
};

std::vector<std::string> words_of(const train::LoadedModel& loaded, const Aligned& aligned,
                                  const std::vector<std::string>& source, bool replace_unknown) {
  const std::size_t Tx = loaded.model.options().source_length(source.size());
  std::vector<std::string> words;
  for (std::size_t i = 0; i < aligned.target.size(); ++i) {
    words.push_back(loaded.target_vocabulary.word(aligned.target[i]));
    if (aligned.target[i] != kUnknown || !replace_unknown) continue;
    const auto row = aligned.alpha.begin() + static_cast<std::ptrdiff_t>(i * Tx);
    const auto most = static_cast<std::size_t>(std::max_element(row, row + static_cast<std::ptrdiff_t>(Tx)) - row);
    if (most < source.size()) words.back() = source[most];
  }
  return words;
}

}  // namespace

int run_align(const Arguments& arguments) {
  Settings settings;
  Options options(
      "align",
      "Shows the attention weights of a model (alpha, section 3.1 of the paper), for given translations or for its "
      "own: how much each source word contributes to the context of each target word. Without --json, --pharaoh, --svg "
      "and --gold it prints, for every target word, the source words with the largest weights. Words are the model's "
      "tokens, with </s> at the end. Under mpirun the lines are distributed over the ranks. After SIGTERM or SIGUSR1 "
      "it ends with exit code 85 and prints nothing; pictures that are complete are kept.");
  declare(options, settings);
  if (!options.parse(arguments)) return 0;
  check(settings, options);

  const comm::Communicator world;
  check_same_options(world, options);
  settle_threads(settings.threads, world);
  set_precision(settings.precision, world);
  Text text;
  {
    std::vector<fs::path> texts{settings.source};
    for (const fs::path& other : {settings.target, settings.gold}) {
      if (!other.empty()) texts.push_back(other);
    }
    const PatienceForPipes patience(texts, settings.threads.stall_timeout, world);
    comm::root_does(world, [&] { text = read_text(settings); });
  }
  std::uint64_t line_count = text.sources.size();
  world.broadcast(std::span(&line_count, 1));
  auto loaded = train::open_model(settings.model, world);
  if (loaded.model.options().attention == model::Attention::kNone) {
    throw Error(text_of(settings.model.string(),
                        " has no attention, so it aligns nothing; name a model that was not trained with attention = "
                        "none"));
  }
  std::optional<Results> results;
  comm::root_does(world, [&] {
    for (std::size_t i = 0; i < text.gold.size(); ++i) {
      evaluate::check_links(text.gold[i].possible,
                            loaded.pipeline.to_words(text.sources[i], corpus::Side::kSource).size(),
                            loaded.pipeline.to_words(text.targets[i], corpus::Side::kTarget).size(),
                            text_of(settings.gold.string(), ", line ", text.lines[i] + 1));
    }
    results.emplace(settings, loaded.pipeline);
  });

  const bool given = !settings.target.empty();
  const decode::SearchOptions& search = settings.translation.search;
  Progress progress(!world.is_root());
  for (std::size_t first = 0; first < line_count; first += kPortion) {
    const std::size_t lines = std::min(kPortion, line_count - first);
    Portion portion;
    if (world.is_root()) decode::until_stopped([&] { portion.read(text, first, lines, loaded); });
    std::size_t done = 0;  // of the portion, when the root's batch and those of the other ranks are done
    const auto align = [&](const std::vector<const decode::WordPair*>& batch) {
      auto [source, target] = decode::sentences_of(batch);
      std::vector<bool> is_nan(batch.size());
      if (!given) {
        const auto translations = decode::translate(loaded.model, source, search);
        target = {};
        for (std::size_t i = 0; i < batch.size(); ++i) {
          target.add(translations[i].front().words);
          is_nan[i] = translations[i].front().is_nan();
        }
      }
      std::vector<std::optional<Aligned>> of_batch;
      auto found = loaded.model.align(source, target);
      for (std::size_t i = 0; i < batch.size(); ++i) {
        of_batch.push_back(Aligned{{target[i].begin(), target[i].end()},
                                   is_nan[i] ? std::nan("") : found[i].log_probability,
                                   std::move(found[i].alpha)});
      }
      done = std::min(lines, done + static_cast<std::size_t>(world.size()) * search.batch_sentences);
      progress.show(text_of("[align] ", first + done, " of ", line_count, " lines"));
      return of_batch;
    };
    const auto lengths = given ? decode::target_lengths(portion.pairs) : decode::source_lengths(portion.pairs);
    auto aligned = decode::spread<decode::WordPair, Aligned>(world, portion.pairs,
                                                             decode::by_length(lengths, search.batch_sentences), align);
    if (comm::stop_signal_came_anywhere(world)) {
      throw comm::Stopped(settings.svg.empty()
                              ? "a signal asked to stop; no alignment was written"
                              : "a signal asked to stop; no alignment was written but for some pictures");
    }
    std::optional<std::size_t> nan_line;  // of the files
    for (std::size_t i = 0; i < aligned.size() && !nan_line; ++i) {
      if (!std::isfinite(aligned[i]->log_probability)) nan_line = text.lines[first + i];
    }
    decode::refuse_nan(world, nan_line, {settings.source.string()});
    if (!results) continue;
    for (std::size_t i = 0; i < lines; ++i) {
      Sentence sentence;
      sentence.line = text.lines[first + i] + 1;
      sentence.target = given ? std::move(portion.target[i])
                              : words_of(loaded, *aligned[i], portion.source[i], settings.translation.replace_unknown);
      sentence.source = std::move(portion.source[i]);
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

}  // namespace rnnsearch::cli

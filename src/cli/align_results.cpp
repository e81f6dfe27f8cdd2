#include "cli/align_results.h"

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/file.h"
#include "rnnsearch/base/number_text.h"
#include "rnnsearch/base/printable.h"
#include "rnnsearch/report/alignment_file.h"
#include "rnnsearch/report/heat_map.h"

namespace rnnsearch::cli {
namespace {

namespace fs = std::filesystem;

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

}  // namespace

Alignments::Alignments(const AlignOutputs& settings, const decode::Translator& translator)
    : settings_(settings), translator_(translator) {
  if (!settings.json.empty()) {
    json_.emplace("--json", settings.json);
    json_->write(report::alignment_file_begin(settings.model.string()));
  }
  if (!settings.pharaoh.empty()) pharaoh_.emplace("--pharaoh", settings.pharaoh);
  if (!settings.lexical_table.empty()) lexical_table_.emplace("--lexical-table", settings.lexical_table);
  if (!settings.svg.empty()) {
    std::error_code error;
    fs::create_directories(settings.svg, error);
    if (!fs::is_directory(settings.svg)) {
      throw Error("--svg {} is not a folder and cannot be made one{}", settings.svg,
                  error ? ": " + error.message() : "");
    }
  }
  if (!json_ && !pharaoh_ && !lexical_table_ && settings.svg.empty() && !settings.gold) {
    text_.emplace("", "-");
  }
}

void Alignments::add(const Sentence& sentence, const evaluate::GoldLinks* gold) {
  if (json_) {
    json_->write((sentences_ > 0 ? ",\n" : "\n") + report::alignment_file_sentence(sentence.line, sentence.source,
                                                                                   sentence.target, sentence.alpha,
                                                                                   sentence.log_probability));
  }
  ++sentences_;
  if (text_) text_->write(text_of_sentence(sentence, translator_.pipeline, settings_.heat_map));
  if (pharaoh_ || lexical_table_ || gold) {
    const auto links = links_of(sentence);
    for (const auto& [source, target] : links) {
      if (lexical_table_) lexical_counts_.add(sentence.ids.source[source], sentence.ids.target[target]);
    }
    if (pharaoh_) pharaoh_->write(evaluate::pharaoh_line(links) + "\n");
    if (gold) statistics_ += evaluate::sentence_statistics(links, *gold);
  }
  if (!settings_.svg.empty()) draw(sentence);
}

void Alignments::publish() {
  const auto score = evaluate::alignment_score_of(statistics_);
  if (json_) {
    json_->write(report::alignment_file_end(!settings_.gold ? Json() : evaluate::json_of(score)));
    json_->publish();
  }
  if (pharaoh_) pharaoh_->publish();
  if (lexical_table_) {
    lexical_counts_.for_each_line(translator_.source_vocabulary, translator_.target_vocabulary,
                                  [&](const std::string& line) { lexical_table_->write(line + "\n"); });
    lexical_table_->publish();
  }
  if (text_) text_->publish();
  if (settings_.gold && settings_.json != "-") std::cout << evaluate::lines_of(score);
}

evaluate::Links Alignments::links_of(const Sentence& sentence) const {
  const evaluate::SoftAlignment soft{sentence.alpha, sentence.source.size(), sentence.source_words,
                                     sentence.target.size() - 1};
  return settings_.links == "argmax" ? evaluate::argmax_links(soft)
                                     : evaluate::threshold_links(soft, static_cast<float>(settings_.threshold));
}

void Alignments::draw(const Sentence& sentence) const {
  const report::AttentionMatrix matrix{without_marks(sentence.source, translator_.pipeline),
                                       without_marks(sentence.target, translator_.pipeline),
                                       {sentence.alpha.begin(), sentence.alpha.end()}};
  const std::string name = fmt::format("line-{:06}", sentence.line);
  report::PictureOptions picture;
  picture.title = fmt::format("Soft alignment of line {}", sentence.line);
  write_file_atomically(settings_.svg / (name + ".svg"), report::heat_map(matrix, picture));
  if (!settings_.bars) return;
  picture.title = fmt::format("Attention, step by step, of line {}", sentence.line);
  write_file_atomically(settings_.svg / (name + "-bars.svg"), report::attention_bars(matrix, picture));
}

}  // namespace rnnsearch::cli

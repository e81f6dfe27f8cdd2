#include "report/page_parts.h"

#include <cctype>

#include "report/html.h"

namespace rnnsearch::report {
namespace {

constexpr std::size_t kFewestWords = 5;  // the scores of shorter sentences are too random
constexpr std::size_t kSentencesOfAChoice = 4;
constexpr std::size_t kHeatMaps = 8, kShortest = 5, kLongest = 40;  // per file; lengths include </s>

// The number of words as the score counted them. There is no Chinese tokenizer here, so characters are counted for it.
std::size_t word_count(const std::string& text, const std::string& signature) {
  if (signature.find("tok:zh") != std::string::npos || signature.find("tok:char") != std::string::npos)
    return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return !is_trail_byte(c) && c != ' '; }));
  return evaluate::word_count(text, {});
}

std::optional<double> bleu_of(const SentenceEvaluation& sentence, const std::string& system) {
  const auto found = std::ranges::find(sentence.systems, system, &SentenceEvaluation::OfSystem::system);
  return found == sentence.systems.end() ? std::nullopt : std::optional(found->bleu);
}

// Whether the byte is part of a word: an ASCII letter or digit, part of a non-ASCII character, or a character of <unk>.
bool of_word(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80 || std::isalnum(byte) || std::string_view("'-_<>").find(c) != std::string_view::npos;
}

std::vector<TextPiece> pieces_of(const std::string& text) {
  std::vector<TextPiece> pieces;
  bool word = false;
  for (const char c : text) {
    if (pieces.empty() || of_word(c) != word) pieces.emplace_back();
    word = of_word(c);
    pieces.back().text += c;
  }
  return pieces;
}

void add_card(PageContext& page, pugi::xml_node where, const EvaluationFile& file, const SentenceEvaluation& sentence) {
  const auto card = add(where, "article", {{"class", "sentence"}});
  std::string heading = fmt::format("Sentence {}", grouped(sentence.line));
  if (!sentence.bucket.empty()) heading += fmt::format(", {} words", sentence.bucket);
  add(card, "h4", {}, heading);
  const auto given = add(card, "div", {{"class", "sides"}});
  const auto add_given = [&](const std::string& title, const std::string& text, const std::string& language) {
    add_text(page.side(given, title, language), text.empty() ? "(empty)" : text);
  };
  if (sentence.source) add_given("Source", *sentence.source, file.source_language);
  for (std::size_t k = 0; k < sentence.references.size(); ++k) {
    add_given(sentence.references.size() == 1 ? "Reference" : fmt::format("Reference {}", k + 1),
              sentence.references[k], file.target_language);
  }
  const auto sides = add(card, "div", {{"class", "sides"}});
  for (const auto& translation : sentence.systems) {
    std::string score = fmt::format("BLEU {}", fixed(translation.bleu, 1));
    for (const MetricScore& other : translation.others) {
      if (other.metric == "chrF") score += fmt::format(", chrF {}", fixed(other.score, 1));
    }
    const auto line = page.side(sides, translation.system, file.target_language, true, score);
    if (translation.hypothesis.empty()) add_text(line, "(empty)");
    for (const TextPiece& piece : compared(translation.hypothesis, sentence.references)) {
      if (piece.missing) {
        add(line, "u", {}, piece.text);
      } else {
        add_text(line, piece.text);
      }
    }
  }
}

// Whether the name is a system of the page, which has a colour; "Source" and "Reference" have none.
bool is_system(const Report& report, const std::string& name) {
  return std::ranges::count(report.runs, name, &Run::name) > 0 ||
         std::ranges::count(systems_of(report.evaluations), name) > 0;
}

void add_card(PageContext& page, const Report& report, pugi::xml_node where, const SectionSentence& sentence) {
  const auto card = add(where, "article", {{"class", "sentence"}});
  add(card, "h4", {}, sentence.title);
  const auto sides = add(card, "div", {{"class", "sides"}});
  for (const SectionText& text : sentence.texts) {
    const bool system = is_system(report, text.name);
    const auto line = page.side(sides, text.name, text.language, system);
    add_text(line, text.text.empty() && text.rest.empty() ? "(empty)" : text.text);
    if (text.rest.empty()) continue;
    if (!text.text.empty()) add_text(line, " ");
    add(line, "mark", {}, text.rest);
  }
}

void add_section(PageContext& page, const Report& report, std::size_t i) {
  const SectionFile& section = report.sections[i];
  const auto node = page.section(fmt::format("section-{}", i + 1), section.title);
  for (const std::string& paragraph : section.text) add(node, "p", {}, paragraph);
  for (std::size_t number = 0; number < section.tables.size(); ++number) {
    Table table = section.tables[number];
    table.id = fmt::format("table-section-{}-{}", i + 1, number + 1);
    add_table(node, table);
  }
  if (!section.sentences.empty()) add(node, "h3", {}, "Side by side");
  for (const SectionSentence& sentence : section.sentences) add_card(page, report, node, sentence);
}

}  // namespace

std::vector<TextPiece> compared(const std::string& hypothesis, const std::vector<std::string>& references) {
  // Clipped as in BLEU: a word counts at most as often as in the reference that has it most often.
  std::map<std::string, std::size_t> left;
  for (const std::string& reference : references) {
    std::map<std::string, std::size_t> counts;
    for (const TextPiece& piece : pieces_of(reference)) {
      if (of_word(piece.text.front())) ++counts[piece.text];
    }
    for (const auto& [word, count] : counts) left[word] = std::max(left[word], count);
  }
  auto pieces = pieces_of(hypothesis);
  for (TextPiece& piece : pieces) {
    if (!of_word(piece.text.front())) continue;
    const auto word = left.find(piece.text);
    piece.missing = word == left.end() || word->second == 0;
    if (!piece.missing) --word->second;
  }
  // Neighbouring pieces of the same kind are joined, which makes the page smaller.
  std::vector<TextPiece> joined;
  for (TextPiece& piece : pieces) {
    if (!joined.empty() && joined.back().missing == piece.missing) {
      joined.back().text += piece.text;
    } else {
      joined.push_back(std::move(piece));
    }
  }
  return joined;
}

std::vector<Choice> chosen_sentences(const EvaluationFile& file, std::size_t count) {
  std::vector<std::size_t> long_enough;
  const std::string& signature = file.systems.front().signature;
  for (std::size_t i = 0; i < file.sentences.size(); ++i) {
    const auto& references = file.sentences[i].references;
    if (!references.empty() && word_count(references.front(), signature) >= kFewestWords) long_enough.push_back(i);
  }
  std::vector<Choice> choices;
  // Selects the sentences with the highest values; value_of returns nothing for sentences to exclude.
  const auto choose = [&](const std::string& title, const auto& value_of) {
    std::vector<std::pair<double, std::size_t>> valued;
    for (const std::size_t i : long_enough) {
      if (const std::optional<double> value = value_of(file.sentences[i])) valued.emplace_back(-*value, i);
    }
    std::ranges::stable_sort(valued, [&](const auto& a, const auto& b) {
      return a.first != b.first ? a.first < b.first : file.sentences[a.second].line < file.sentences[b.second].line;
    });
    Choice choice{title, {}};
    for (std::size_t k = 0; k < std::min(count, valued.size()); ++k) choice.sentences.push_back(valued[k].second);
    if (!choice.sentences.empty()) choices.push_back(std::move(choice));
  };
  for (const SystemEvaluation& system : file.systems) {
    if (file.systems.size() < 2) break;
    choose(system.system + " furthest ahead", [&](const SentenceEvaluation& sentence) -> std::optional<double> {
      const auto own = bleu_of(sentence, system.system);
      std::optional<double> other;
      for (const auto& translation : sentence.systems) {
        if (translation.system != system.system) other = std::max(other.value_or(0), translation.bleu);
      }
      if (!own || !other || *own <= *other) return {};
      return *own - *other;
    });
  }
  for (const SystemEvaluation& system : file.systems) {
    for (const auto& [title, sign] : {std::pair(" at its best", 1), std::pair(" at its worst", -1)}) {
      choose(system.system + title, [&, factor = sign](const SentenceEvaluation& sentence) {
        std::optional<double> bleu = bleu_of(sentence, system.system);
        if (bleu) *bleu *= factor;
        return bleu;
      });
    }
  }
  return choices;
}

void add_sentences(PageContext& page, const Report& report) {
  pugi::xml_node section;
  for (const EvaluationFile& file : report.evaluations) {
    const auto choices = chosen_sentences(file, kSentencesOfAChoice);
    if (choices.empty()) continue;
    if (!section) {
      section = page.section("sentences", "Best and worst sentences");
      add(section, "p", {},
          fmt::format("Chosen by the BLEU of the sentence, among references of at least {} words. Underlined: words "
                      "that occur in no reference, or less often than in the translation.",
                      kFewestWords));
    }
    for (const Choice& choice : choices) {
      const auto details = add(section, "details", {{"class", "choice"}});
      if (&choice == &choices.front()) set(details, "open", "open");
      add(add(details, "summary"), "h3", {}, prefix_of(report, file) + choice.title);
      for (const std::size_t i : choice.sentences) add_card(page, details, file, file.sentences[i]);
    }
  }
}

void add_alignments(PageContext& page, const Report& report) {
  if (report.alignments.empty()) return;
  const auto section = page.section("alignments", "Soft alignments");
  add(section, "p", {},
      "Attention weights, as in figure 3 of Bahdanau, Cho and Bengio (2015): each row is a target word, each column a "
      "source word, and a lighter square is a larger weight of the source word.");
  std::size_t number = 0;
  for (const AlignmentFile& file : report.alignments) {
    const std::string name = file.model.empty() ? file.path.stem().string() : file.model;
    if (report.alignments.size() > 1) add(section, "h3", {}, name);
    if (!file.note.empty()) add(section, "p", {}, file.note);
    const auto maps = add(section, "div", {{"class", "maps"}});
    std::vector<const AlignedSentence*> chosen;
    const bool all = file.sentences.size() <= kHeatMaps;
    for (const AlignedSentence& sentence : file.sentences) {
      const std::size_t words = std::max(sentence.alignment.source.size(), sentence.alignment.target.size());
      if (chosen.size() < kHeatMaps && (all || (words >= kShortest && words <= kLongest))) chosen.push_back(&sentence);
    }
    for (const AlignedSentence* sentence : chosen) {
      const std::string id = fmt::format("alignment-{}", ++number);
      const auto figure = add(maps, "figure", {{"class", "map"}, {"id", id}});
      const std::string caption =
          fmt::format("{}{}Sentence {}, log-probability {}", sentence->label, sentence->label.empty() ? "" : " ",
                      grouped(sentence->line), minus_sign(fixed(sentence->log_probability, 2)));
      add(figure, "figcaption", {{"id", id + "-caption"}}, caption);
      const auto region =
          add(figure, "div",
              {{"class", "scroll"}, {"role", "region"}, {"tabindex", "0"}, {"aria-labelledby", id + "-caption"}});
      add_heat_map(region, sentence->alignment, fmt::format("{}, {}", name, caption));
    }
    if (!all) {
      add(section, "p", {{"class", "note"}},
          fmt::format("{} of {} sentences: the first of {} to {} words.", chosen.size(), grouped(file.sentences.size()),
                      kShortest, kLongest));
    }
  }
}

void add_sections(PageContext& page, const Report& report, bool with_sentences) {
  for (std::size_t i = 0; i < report.sections.size(); ++i) {
    if (report.sections[i].sentences.empty() != with_sentences) add_section(page, report, i);
  }
}

}  // namespace rnnsearch::report

#include "rnnsearch/corpus/corpus.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/parallel.h"
#include "rnnsearch/base/printable.h"

namespace rnnsearch::corpus {
namespace {

constexpr std::uint64_t kBlockPairs = 1 << 20;  // whose lengths are read at once
constexpr std::uint64_t kMostBars = 12;
constexpr std::size_t kBarWidth = 24;
constexpr std::array<const char*, 2> kSides{"source", "target"};

/// How many sentences have so many words.
using Lengths = std::map<std::uint64_t, std::uint64_t>;

std::array<Lengths, 2> lengths_of(const Corpus& corpus) {
  std::array<Lengths, 2> lengths;
  for (std::uint64_t first = 0; first < corpus.train_pairs(); first += kBlockPairs) {
    const auto block = corpus.read_lengths(first, std::min(kBlockPairs, corpus.train_pairs() - first));
    for (std::size_t side = 0; side < 2; ++side) {
      for (const std::uint64_t length : block[side]) ++lengths[side][length];
    }
  }
  return lengths;
}

/// 1, 2, 5, 10, 20 ...: the least with which bars of so many lengths each are few enough.
std::uint64_t bar_lengths(std::uint64_t longest) {
  std::uint64_t width = 1;
  for (std::uint64_t step = 0; ceil_div(longest, width) > kMostBars; ++step) {
    width = step % 3 == 1 ? width / 2 * 5 : width * 2;
  }
  return width;
}

Json histogram_of(const std::array<Lengths, 2>& lengths) {
  std::uint64_t longest = 1;
  for (const Lengths& side : lengths) {
    if (!side.empty()) longest = std::max(longest, side.rbegin()->first);
  }
  const std::uint64_t width = bar_lengths(longest);
  Json rows = Json::array();
  const bool has_empty = lengths[0].contains(0) || lengths[1].contains(0);
  for (std::uint64_t from = has_empty ? 0 : 1, next = 0; from <= longest; from = next) {
    next = from == 0 ? 1 : from + width;
    Json row;
    row["from"] = from;
    row["to"] = next - 1;
    for (std::size_t side = 0; side < 2; ++side) {
      std::uint64_t count = 0;
      for (auto at = lengths[side].lower_bound(from); at != lengths[side].end() && at->first < next; ++at) {
        count += at->second;
      }
      row[kSides[side]] = count;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string plain_text(const TextPipeline& pipeline, Side side, const Vocabulary& vocabulary,
                       std::span<const WordId> ids) {
  std::vector<std::string> words;
  for (const WordId id : ids) words.push_back(vocabulary.word_in_text(id));
  return pipeline.to_text(words, side);
}

std::uint64_t unknown_in(const Sentences& sentences) {
  return static_cast<std::uint64_t>(std::count(sentences.words.begin(), sentences.words.end(), kUnknown));
}

std::uint64_t whole(const Json& json, const std::string& name) {
  return static_cast<std::uint64_t>(as_integer(member(json, name)));
}

/// A heading and at least one space behind it.
std::string headed(const std::string& text, std::size_t width) { return left(printable(text), width - 1) + ' '; }

void print_sets(const Json& json, std::ostream& out) {
  out << "\n" << headed("", 18) << "       pairs    source words  unknown    target words  unknown  references\n";
  const auto row = [&](const std::string& name, const Json& set) {
    out << headed(name, 18) << right(grouped(whole(set, "pairs")), 12);
    for (const std::string side : kSides) {
      const std::uint64_t words = whole(set, side + "_words");
      out << right(grouped(words), 16) << right(percent(whole(set, side + "_unknown_words"), words), 9);
    }
    const Json* references = find_member(set, "references");
    out << (references ? right(std::to_string(as_integer(*references)), 12) : "") << "\n";
  };
  row("train", member(json, "train"));
  for (const auto& [name, set] : as_object(member(json, "sets")).items()) row(name, set);
}

void print_selection(const Json& selection, std::uint64_t kept, std::ostream& out) {
  const std::uint64_t read = whole(selection, "pairs_read");
  const auto row = [&](const std::string& name, std::uint64_t count) {
    out << headed(name, 36) << right(grouped(count), 12) << right(percent(count, read), 10) << "\n";
  };
  out << "\n";
  row("pairs read", read);
  row("kept", kept);
  std::size_t reason = 0;
  for (const Json& dropped : as_object(member(selection, "dropped"))) {
    const char* const label = kDropReasons[reason++].label;
    if (const auto count = as_integer(dropped); count > 0)
      row(fmt::format("dropped: {}", label), static_cast<std::uint64_t>(count));
  }
  out << "options";
  for (const auto& [name, value] : as_object(member(selection, "options")).items()) {
    out << "  " << name << " " << (value.is_string() ? as_string(value) : json_text(value));
  }
  out << "\n";
}

void print_lengths(const Json& rows, std::ostream& out) {
  std::array<std::uint64_t, 2> all{};
  std::uint64_t most = 1;
  for (const Json& row : as_array(rows)) {
    for (std::size_t side = 0; side < 2; ++side) {
      all[side] += whole(row, kSides[side]);
      most = std::max(most, whole(row, kSides[side]));
    }
  }
  out << "\n" << headed("words", 12) << headed("source sentences", 24 + kBarWidth) << "target sentences\n";
  for (const Json& row : as_array(rows)) {
    const std::uint64_t from = whole(row, "from"), to = whole(row, "to");
    std::string line = headed(from == to ? std::to_string(from) : fmt::format("{}-{}", from, to), 8);
    for (std::size_t side = 0; side < 2; ++side) {
      const std::uint64_t count = whole(row, kSides[side]);
      const auto bar = static_cast<std::size_t>(ceil_div(count * kBarWidth, most));
      line += right(grouped(count), 12) + right(percent(count, all[side]), 8) + "  " +
              headed(std::string(bar, '#'), kBarWidth + 2);
    }
    line.resize(line.find_last_not_of(' ') + 1);
    out << line << "\n";
  }
}

}  // namespace

void describe_corpus(const Corpus& corpus, std::size_t pairs, Json& json) {
  json["joint_vocabulary"] = corpus.joint_vocabulary();
  json["fingerprint"] = corpus.fingerprint();
  if (corpus.has_alignments()) json["alignments"] = true;
  if (corpus.has_weights()) json["weights"] = true;
  Json& train = json["train"];
  train["pairs"] = corpus.train_pairs();
  train["source_words"] = corpus.train_source_words();
  train["target_words"] = corpus.train_target_words();
  train["source_unknown_words"] = corpus.source_vocabulary().counts()[kUnknown];
  train["target_unknown_words"] = corpus.target_vocabulary().counts()[kUnknown];
  train["lengths"] = histogram_of(lengths_of(corpus));
  const auto& [cleaning, pairs_read, dropped] = corpus.selection();
  Json& selection = json["selection"];
  selection["pairs_read"] = pairs_read;
  for (std::size_t i = 0; i < kDropReasons.size(); ++i) selection["dropped"][kDropReasons[i].name] = dropped.counts[i];
  Json& options = selection["options"];
  options["max-length"] = cleaning.max_length;
  if (cleaning.max_ratio > 0) options["max-ratio"] = cleaning.max_ratio;
  if (cleaning.keep_empty_targets) options["keep-empty-targets"] = true;
  if (cleaning.drop_copies) options["drop-copies"] = true;
  if (cleaning.drop_repeated) options["drop-repeated"] = true;
  if (cleaning.drop_unlikely > 0) options["drop-unlikely"] = cleaning.drop_unlikely;
  if (!cleaning.source_script.empty()) options["source-script"] = cleaning.source_script;
  if (!cleaning.target_script.empty()) options["target-script"] = cleaning.target_script;
  if (!cleaning.source_script.empty() || !cleaning.target_script.empty())
    options["script-share"] = cleaning.script_share;
  json["sets"] = Json::object();
  for (const std::string& name : corpus.set_names()) {
    const auto read = corpus.read_set(name);
    Json& set = json["sets"][name];
    set["pairs"] = read.source.size();
    set["source_words"] = read.source.words.size();
    set["target_words"] = read.target.words.size();
    set["source_unknown_words"] = unknown_in(read.source);
    set["target_unknown_words"] = unknown_in(read.target);
    set["references"] = read.references.size();
  }
  json["pairs"] = Json::array();
  const auto block = corpus.read_pairs(0, std::min<std::uint64_t>(pairs, corpus.train_pairs()));
  for (std::size_t i = 0; i < block.source.size(); ++i) {
    Json pair;
    pair["source"] = plain_text(corpus.pipeline(), Side::kSource, corpus.source_vocabulary(), block.source[i]);
    pair["target"] = plain_text(corpus.pipeline(), Side::kTarget, corpus.target_vocabulary(), block.target[i]);
    json["pairs"].push_back(std::move(pair));
  }
}

void print_corpus(const Json& json, std::ostream& out) {
  static const std::set<std::string> kTables{"train", "selection", "sets", "pairs"};
  for (const auto& [name, value] : as_object(json).items()) {
    if (kTables.contains(name)) continue;
    out << headed(name, 26) << printable(value.is_string() ? as_string(value) : json_text(value)) << "\n";
  }
  print_sets(json, out);
  if (const Json* selection = find_member(json, "selection"))
    print_selection(*selection, whole(member(json, "train"), "pairs"), out);
  print_lengths(member(member(json, "train"), "lengths"), out);
  for (const Json& pair : as_array(member(json, "pairs"))) {
    out << "\n"
        << headed("source", 8) << printable(as_string(member(pair, "source"))) << "\n"
        << headed("target", 8) << printable(as_string(member(pair, "target"))) << "\n";
  }
}

}  // namespace rnnsearch::corpus

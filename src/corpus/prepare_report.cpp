#include "rnnsearch/corpus/prepare_report.h"

#include <algorithm>
#include <cstdio>

#include "rnnsearch/base/number_text.h"
#include "rnnsearch/base/printable.h"

namespace rnnsearch::corpus {
namespace {

namespace fs = std::filesystem;

void print_pairs(std::ostream& out, std::uint64_t read, std::uint64_t kept, const DropCounts& dropped) {
  out << "pairs read     " << grouped(read) << "\n"
      << "pairs kept     " << grouped(kept) << "\n"
      << "pairs dropped  " << grouped(dropped.total());
  for (std::size_t i = 0; i < kDropReasons.size(); ++i) {
    const bool always = i <= static_cast<std::size_t>(Drop::kLongTarget);
    if (dropped.counts[i] == 0 && !always) continue;
    out << (i == 0 ? ": " : ", ") << kDropReasons[i].label << " " << grouped(dropped.counts[i]);
  }
  out << "\n";
}

void print_end(std::ostream& out, const std::string& fingerprint, const fs::path& output) {
  out << "fingerprint    " << fingerprint << "\nwritten to     " << output.string() << "\n";
}

/// What both kinds of report begin with.
Json beginning(const fs::path& output, const std::string& fingerprint, std::uint64_t read, std::uint64_t kept,
               const DropCounts& dropped) {
  Json json;
  json["output"] = output.string();
  json["fingerprint"] = fingerprint;
  json["pairs_read"] = read;
  json["pairs_kept"] = kept;
  for (std::size_t i = 0; i < kDropReasons.size(); ++i) json["dropped"][kDropReasons[i].name] = dropped.counts[i];
  return json;
}

}  // namespace

void print(const PrepareReport& report, const fs::path& output, std::ostream& out) {
  if (report.pairs_before > 0) out << "pairs before   " << grouped(report.pairs_before) << "\n";
  print_pairs(out, report.pairs_read, report.pairs_kept, report.dropped);
  if (report.further_columns > 0) {
    out << "not read       the third and further columns of " << counted(report.further_columns, "line") << "\n";
  }
  const auto side = [&](const char* name, const PrepareReport::Side& s) {
    char coverage[16];
    std::snprintf(coverage, sizeof coverage, "%.2f%%", 100 * s.coverage());
    out << name << grouped(s.words) << " words, " << grouped(s.distinct_words) << " distinct; vocabulary "
        << grouped(s.vocabulary) << " covers " << coverage << ", " << grouped(s.unknown_words) << " are <unk>\n";
  };
  side("source         ", report.source);
  side("target         ", report.target);
  for (const auto& [name, pairs] : report.sets) {
    out << left(printable(name), 14) << " " << grouped(pairs) << " pairs\n";  // with --append somebody else's name
  }
  print_end(out, report.fingerprint, output);
}

void print(const MergeReport& report, const fs::path& output, std::ostream& out) {
  print_pairs(out, report.selection.pairs_read, report.pairs, report.selection.dropped);
  out << "source         " << grouped(report.source_words) << " words\n"
      << "target         " << grouped(report.target_words) << " words\n";
  print_end(out, report.fingerprint, output);
}

Json json_of(const MergeReport& report, const fs::path& output) {
  Json json =
      beginning(output, report.fingerprint, report.selection.pairs_read, report.pairs, report.selection.dropped);
  json["source"]["words"] = report.source_words;
  json["target"]["words"] = report.target_words;
  return json;
}

Json json_of(const PrepareReport& report, const fs::path& output) {
  const auto side = [](const PrepareReport::Side& s) {
    Json json;
    json["words"] = s.words;
    json["distinct_words"] = s.distinct_words;
    json["vocabulary"] = s.vocabulary;
    json["unknown_words"] = s.unknown_words;
    json["coverage"] = s.coverage();
    return json;
  };
  Json json = beginning(output, report.fingerprint, report.pairs_read, report.pairs_kept, report.dropped);
  if (report.pairs_before > 0) json["pairs_before"] = report.pairs_before;
  if (report.further_columns > 0) json["lines_with_further_columns"] = report.further_columns;
  json["source"] = side(report.source);
  json["target"] = side(report.target);
  json["sets"] = Json::object();
  for (const auto& [name, pairs] : report.sets) json["sets"][name] = pairs;
  return json;
}

}  // namespace rnnsearch::corpus

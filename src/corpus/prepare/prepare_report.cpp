#include "rnnsearch/corpus/prepare_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "rnnsearch/base/number_text.h"
#include "rnnsearch/base/printable.h"

namespace rnnsearch::corpus {
namespace fs = std::filesystem;

void print(const PrepareReport& report, const fs::path& output, std::ostream& out) {
  out << "pairs read     " << grouped(report.pairs_read) << "\n"
      << "pairs kept     " << grouped(report.pairs_kept) << "\n"
      << "pairs dropped  " << grouped(report.dropped.total());
  for (std::size_t i = 0; i < kDropReasons.size(); ++i) {
    const bool always = i <= static_cast<std::size_t>(Drop::kLongTarget);
    if (report.dropped.counts[i] == 0 && !always) continue;
    out << (i == 0 ? ": " : ", ") << kDropReasons[i].label << " " << grouped(report.dropped.counts[i]);
  }
  out << "\n";
  if (report.further_columns > 0) {
    out << "not read       the third and further columns of " << counted(report.further_columns, "line") << "\n";
  }
  const auto side = [&](const char* name, const PrepareReport::Side& s) {
    out << fmt::format("{}{} words, {} distinct; vocabulary {} covers {:.2f}%, {} are <unk>\n", name, grouped(s.words),
                       grouped(s.distinct_words), grouped(s.vocabulary), 100 * s.coverage(), grouped(s.unknown_words));
  };
  side("source         ", report.source);
  side("target         ", report.target);
  for (const auto& [name, pairs] : report.sets) {
    out << left(printable(name), 14) << " " << grouped(pairs) << " pairs\n";
  }
  out << "fingerprint    " << report.fingerprint << "\nwritten to     " << output.string() << "\n";
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
  Json json;
  json["output"] = output.string();
  json["fingerprint"] = report.fingerprint;
  json["pairs_read"] = report.pairs_read;
  json["pairs_kept"] = report.pairs_kept;
  for (std::size_t i = 0; i < kDropReasons.size(); ++i)
    json["dropped"][kDropReasons[i].name] = report.dropped.counts[i];
  if (report.further_columns > 0) json["lines_with_further_columns"] = report.further_columns;
  json["source"] = side(report.source);
  json["target"] = side(report.target);
  json["sets"] = Json::object();
  for (const auto& [name, pairs] : report.sets) json["sets"][name] = pairs;
  return json;
}

}  // namespace rnnsearch::corpus

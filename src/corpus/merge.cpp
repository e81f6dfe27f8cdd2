#include "rnnsearch/corpus/merge.h"

#include <algorithm>
#include <sstream>
#include <tuple>
#include <utility>

#include "corpus/corpus_writer.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/corpus/corpus.h"
#include "rnnsearch/corpus/mixture.h"

namespace rnnsearch::corpus {
namespace {

/// Describes the first difference that forbids to merge two corpora, as difference_of_words does; empty if there is
/// none.
std::string difference(const Corpus& a, const Corpus& b) {
  if (std::string words = difference_of_words(a, b); !words.empty()) return words;
  const auto differ = [&](const std::string& what, const auto& in_a, const auto& in_b) {
    std::ostringstream text;
    text << std::boolalpha << what << " is " << in_b << " there and " << in_a << " in " << a.path().string();
    return std::move(text).str();
  };
  const CleaningOptions &c = selection_of(a).cleaning, &d = selection_of(b).cleaning;
  const auto quoted = [](const std::string& text) { return "'" + text + "'"; };
  if (c.max_length != d.max_length) return differ("max-length", c.max_length, d.max_length);
  if (c.max_ratio != d.max_ratio) return differ("max-ratio", c.max_ratio, d.max_ratio);
  if (c.keep_empty_targets != d.keep_empty_targets)
    return differ("keep-empty-targets", c.keep_empty_targets, d.keep_empty_targets);
  if (c.drop_copies != d.drop_copies) return differ("drop-copies", c.drop_copies, d.drop_copies);
  if (c.drop_repeated != d.drop_repeated) return differ("drop-repeated", c.drop_repeated, d.drop_repeated);
  if (c.source_script != d.source_script)
    return differ("source-script", quoted(c.source_script), quoted(d.source_script));
  if (c.target_script != d.target_script)
    return differ("target-script", quoted(c.target_script), quoted(d.target_script));
  if (c.script_share != d.script_share) return differ("script-share", c.script_share, d.script_share);
  return "";
}

}  // namespace

MergeReport merge(const MergeOptions& options) {
  if (options.corpora.size() < 2)
    throw Error(
        text_of("corpus: merging needs at least two corpora, but the number given is ", options.corpora.size()));
  check_output(options.output, options.overwrite, options.corpora);
  std::vector<Corpus> corpora;
  for (const auto& path : options.corpora) corpora.emplace_back(path);
  const Corpus& first = corpora.front();
  CorpusHead head{first.source_vocabulary(), first.target_vocabulary(), first.joint_vocabulary(),
                  first.pipeline(),          selection_of(first),       first.has_alignments()};
  std::vector<RawSet> sets = sets_of(first);
  std::vector<std::string> warnings;
  for (std::size_t i = 1; i < corpora.size(); ++i) {
    const Corpus& corpus = corpora[i];
    if (const std::string what = difference(first, corpus); !what.empty())
      throw Error(text_of("corpus: ", corpus.path().string(), " cannot be merged: ", what,
                          "; prepare it again with the same options and --vocabulary-of ", first.path().string()));
    if (std::string warning = other_libraries(first, corpus); !warning.empty()) warnings.push_back(std::move(warning));
    head.aligned = head.aligned || corpus.has_alignments();
    head.source = add_counts(head.source, corpus.source_vocabulary());
    head.target = add_counts(head.target, corpus.target_vocabulary());
    head.selection.pairs_read += selection_of(corpus).pairs_read;
    head.selection.dropped += selection_of(corpus).dropped;
    for (RawSet& set : sets_of(corpus)) {
      const auto same = std::find_if(sets.begin(), sets.end(), [&](const RawSet& one) { return one.name == set.name; });
      if (same == sets.end()) {
        sets.push_back(std::move(set));
      } else if (same->lines != set.lines) {
        throw Error(text_of("corpus: ", corpus.path().string(), " cannot be merged: its set ", set.name,
                            " differs from the set of that name in an earlier corpus; prepare one of the two corpora "
                            "without it"));
      }
    }
  }
  CorpusWriter writer(options.output, head, options.shard_pairs);
  for (const Corpus& corpus : corpora) writer.add(corpus);
  for (const RawSet& set : sets) writer.add_set(set);
  MergeReport report{writer.pairs(),     writer.source_words(), writer.target_words(), head.selection, "",
                     std::move(warnings)};
  report.fingerprint = writer.publish([&] {
    if (!options.overwrite) check_still_absent(options.output);
  });
  return report;
}

}  // namespace rnnsearch::corpus

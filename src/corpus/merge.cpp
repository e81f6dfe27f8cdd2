#include "rnnsearch/corpus/merge.h"

#include <algorithm>
#include <utility>

#include "corpus/corpus_writer.h"
#include "corpus/difference.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/corpus/corpus.h"
#include "rnnsearch/corpus/mixture.h"

namespace rnnsearch::corpus {
namespace {

/// Describes the first difference that forbids to merge two corpora, as difference_of_words does; empty if there is
/// none.
std::string difference(const Corpus& a, const Corpus& b) {
  if (std::string words = difference_of_words(a, b); !words.empty()) return words;
  return difference(selection_of(a).cleaning, selection_of(b).cleaning, {"in " + a.path().string(), "there"});
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
  report.unchanged = !options.overwrite && is_there(options.output, head, sets, writer.fingerprint());
  report.fingerprint = report.unchanged ? writer.fingerprint() : writer.publish([&] {
    if (!options.overwrite) check_still_absent(options.output);
  });
  return report;
}

}  // namespace rnnsearch::corpus

#include "cli/options/shortlist_options.h"

#include <memory>
#include <string>
#include <utility>

#include "cli/progress.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/number_text.h"
#include "rnnsearch/base/packed.h"
#include "rnnsearch/base/signals.h"
#include "rnnsearch/comm/meet.h"
#include "rnnsearch/corpus/text_stream.h"
#include "rnnsearch/decode/shortlist.h"

namespace rnnsearch::cli {

void add_shortlist_options(Options& options, ShortlistOptions& shortlist) {
  options.group("Shortlists");
  options.add("shortlist", shortlist.table, kInputFile,
              "lexical table with a target word, a source word and a probability on each line, as align "
              "--lexical-table or Moses (lex.f2e) writes it. A sentence is translated with the most frequent words and "
              "the most probable translations of its words alone, which is faster (Jean et al. 2015)");
  options.add("shortlist-frequent", shortlist.frequent, within(0, 1e8),
              "number of most frequent target words that every sentence may use; the whole vocabulary gives the "
              "translations without --shortlist");
  options.add("shortlist-translations", shortlist.translations, within(0, 1e8),
              "largest number of translations of a source word in --shortlist that its sentence may use");
}

void check_shortlist_options(const Options& options, const ShortlistOptions& shortlist) {
  for (const char* option : {"shortlist-frequent", "shortlist-translations"}) {
    if (!shortlist.table.empty() || !options.given(option)) continue;
    throw UsageError("--{} is for --shortlist FILE; give both", option);
  }
}

void take_shortlist(const ShortlistOptions& shortlist, const LineLimit& limit, const decode::Translator& translator,
                    const comm::Communicator& communicator, decode::SearchOptions& search) {
  std::string message;
  comm::root_does(communicator, [&] {
    LineSource lines(corpus::open_text(shortlist.table, stop_if_signal_came), shortlist.table.string(), limit);
    const auto table = decode::read_lexical_table(lines, shortlist.table.string(), translator.source_vocabulary,
                                                  translator.target_vocabulary, shortlist.translations);
    Progress().say(fmt::format("[translate] shortlists: {} of the {} lines of {} are of words of this model",
                               grouped(table.used), grouped(table.lines), shortlist.table));
    message = packed(table.translations);
  });
  communicator.broadcast(message);
  search.shortlist = std::make_shared<decode::Shortlist>(unpacked<Sentences>(message), shortlist.frequent,
                                                         translator.target_vocabulary.size());
}

}  // namespace rnnsearch::cli

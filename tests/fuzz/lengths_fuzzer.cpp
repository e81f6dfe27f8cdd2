// The lengths of sentence pairs that `benchmark --lengths` reads: they come back from the lines that say them, and
// batches can be drawn that have them.
#include "rnnsearch/base/error.h"
#include "rnnsearch/corpus/synthetic_batches.h"
#include "tests/fuzz/fuzz.h"

void rnnsearch::fuzz::run(Input input) {
  const std::string_view text = input.rest();
  std::vector<corpus::PairLength> lengths;
  if (!accepted([&] { lengths = corpus::read_pair_lengths(text, "a file"); })) return;
  require(!lengths.empty(), "no lengths at all");
  std::string again;
  std::size_t words = 0;
  for (const corpus::PairLength& pair : lengths) {
    require(pair.source >= 1 && pair.target >= 1, "a sentence without words");
    words += pair.source + pair.target;
    again += fmt::format("{} {}\n", pair.source, pair.target);
  }
  require(corpus::read_pair_lengths(again, "the same") == lengths, "lengths come back as others");
  if (words > 10000) return;
  corpus::SyntheticOptions options{lengths, 10, 12};
  options.batch_sentences = 2;
  options.pool_batches = (lengths.size() + 1) / 2;
  std::size_t drawn = 0;
  for (const corpus::BatchSlice& slice : corpus::synthetic_batches(options, options.pool_batches, 0, 1))
    for (std::size_t i = 0; i < slice.source.size(); ++i) drawn += slice.source.length(i) + slice.target.length(i);
  // A pair is drawn a second time where they are odd in number. Each sentence ends with </s>.
  require(drawn >= words && drawn <= 2 * words + 4 * lengths.size() + 2, "batches of other lengths");
}

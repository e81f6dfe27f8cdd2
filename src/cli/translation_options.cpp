#include "cli/translation_options.h"

namespace rnnsearch::cli {

void add_translation_options(Options& options, decode::TranslationOptions& translation) {
  options.group("Search");
  decode::SearchOptions& search = translation.search;
  options.add("beam", search.beam,
              {.help = "beam width, the number of hypotheses kept at each step; 1 is greedy search, wider beams take "
                       "longer. The paper does not state its beam width",
               .low = 1,
               .high = 1000});
  options.add(
      "retry-below", search.retry_below,
      {.help =
           "if no hypothesis ends within the maximum length, search again: first with unknown words allowed (after "
           "--no-unknown), then with twice the beam while the beam is below this number; 500 is the limit in the "
           "paper's released code. If nothing ends in any search, the translation is cut off. 0: never search again",
       .low = 0,
       .high = 1000});
  options.add("normalize", search.normalize,
              {.help = "rank hypotheses by log-probability divided by length, instead of by log-probability"});
  options.add(
      "no-unknown", search.no_unknown,
      {.help = "give unknown words probability zero, so that no translation has one, unless --retry-below needs them"});
  options.add("replace-unknown", translation.replace_unknown,
              {.help = "write the source word with the largest attention weight in place of \u2047, the unknown word"});
  options.add("minimum-length-ratio", search.minimum_length_ratio,
              {.help = "shortest translation, as a multiple of the source length", .low = 0, .high = 100});
  options.add("maximum-length-ratio", search.maximum_length_ratio,
              {.help = "longest translation, as a multiple of the source length", .low = 0.01, .high = 100});
  options.add("batch-sentences", search.batch_sentences,
              {.help = "number of sentences that a rank searches together; affects memory and speed, not the result",
               .low = 1,
               .high = 100000});
}

}  // namespace rnnsearch::cli

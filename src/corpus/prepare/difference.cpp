#include "corpus/prepare/difference.h"

namespace rnnsearch::corpus {

std::string difference(const TextPipeline& a, const TextPipeline& b, const CorpusNames& names) {
  const auto differ = [&](const char* what, const auto& in_a, const auto& in_b) {
    return difference(what, in_a, in_b, names);
  };
  if (a.source_language != b.source_language) return differ("source-language", a.source_language, b.source_language);
  if (a.target_language != b.target_language) return differ("target-language", a.target_language, b.target_language);
  if (a.tokenizer != b.tokenizer) return differ("tokenizer", a.tokenizer, b.tokenizer);
  if (a.normalization != b.normalization) return differ("normalization", a.normalization, b.normalization);
  if (a.lowercase != b.lowercase) return differ("lowercase", a.lowercase, b.lowercase);
  if (!(a.copies == b.copies)) return "its copy patterns differ from those " + names.a;
  if (!(a == b)) return "its subwords differ from those " + names.a;
  return "";
}

std::string difference(const CleaningOptions& a, const CleaningOptions& b, const CorpusNames& names) {
  const auto differ = [&](const char* what, const auto& in_a, const auto& in_b) {
    return difference(what, in_a, in_b, names);
  };
  const auto quoted = [](const std::string& text) { return "'" + text + "'"; };
  if (a.max_length != b.max_length) return differ("max-length", a.max_length, b.max_length);
  if (a.max_ratio != b.max_ratio) return differ("max-ratio", a.max_ratio, b.max_ratio);
  if (a.keep_empty_targets != b.keep_empty_targets)
    return differ("keep-empty-targets", a.keep_empty_targets, b.keep_empty_targets);
  if (a.drop_copies != b.drop_copies) return differ("drop-copies", a.drop_copies, b.drop_copies);
  if (a.drop_repeated != b.drop_repeated) return differ("drop-repeated", a.drop_repeated, b.drop_repeated);
  if (a.source_script != b.source_script)
    return differ("source-script", quoted(a.source_script), quoted(b.source_script));
  if (a.target_script != b.target_script)
    return differ("target-script", quoted(a.target_script), quoted(b.target_script));
  if (a.script_share != b.script_share) return differ("script-share", a.script_share, b.script_share);
  return "";
}

}  // namespace rnnsearch::corpus

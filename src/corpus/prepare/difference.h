// Says in words how two corpora differ.
#pragma once

#include <sstream>
#include <string>
#include <utility>

#include "rnnsearch/corpus/cleaning.h"
#include "rnnsearch/corpus/text_pipeline.h"

namespace rnnsearch::corpus {

/// Where the two values of a difference are: "in a.h5", "there".
struct CorpusNames {
  std::string a, b;
};

/// "max-length is 50 there and 40 in a.h5"
template <class Value>
std::string difference(const std::string& what, const Value& a, const Value& b, const CorpusNames& names) {
  std::ostringstream text;
  text << std::boolalpha << what << " is " << b << " " << names.b << " and " << a << " " << names.a;
  return std::move(text).str();
}
/// The first difference between two pipelines or selections; empty if there is none.
std::string difference(const TextPipeline& a, const TextPipeline& b, const CorpusNames& names);
std::string difference(const CleaningOptions& a, const CleaningOptions& b, const CorpusNames& names);

}  // namespace rnnsearch::corpus

// The means of sequence accuracy over sequences, computed in the plainest way.
#pragma once

#include "rnnsearch/evaluate/metrics.h"
#include "tests/support/test.h"

namespace rnnsearch::evaluate {

inline SequenceAccuracy mean_of(const std::vector<SequenceAccuracy>& sentences) {
  SequenceAccuracy mean;
  const auto count = static_cast<double>(sentences.size());
  for (const SequenceAccuracy& sentence : sentences) {
    mean.psa += sentence.psa / count;
    mean.lcsr += sentence.lcsr / count;
    mean.geometric_mean += sentence.geometric_mean / count;
  }
  return mean;
}

}  // namespace rnnsearch::evaluate

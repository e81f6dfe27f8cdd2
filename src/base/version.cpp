#include "rnnsearch/base/version.h"

namespace rnnsearch {

const char* const kVersion = RNNSEARCH_VERSION;

}  // namespace rnnsearch

// Systems of the literature, by the options that set them apart.
#pragma once

#include <string>

#include "rnnsearch/model/options.h"

namespace rnnsearch::model {

/// The name of this system in the literature, such as "RNNsearch" or "Luong et al. (2015)"; otherwise a description of
/// its parts.
std::string system_of(const ModelOptions& options);

}  // namespace rnnsearch::model

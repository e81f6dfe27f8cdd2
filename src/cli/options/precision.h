// The option --precision: resolved once by a command, before it has a model, and alike on all ranks.
#pragma once

#include <string>
#include <vector>

#include "rnnsearch/cli/options.h"
#include "rnnsearch/comm/communicator.h"
#include "rnnsearch/kernels/precision.h"

namespace rnnsearch::cli {

/// What a command does with a model. Only trained models can be used in int8.
enum class ModelUse { kTraining, kTrained };

/// --precision f32|bf16|auto, and int8 for trained models, in the group at hand; `precision` becomes auto.
void add_precision(Options& options, std::string& precision, ModelUse use);

/// COLLECTIVE. Sets kernels::set_precision on all ranks to what the root makes of its own `asked`. A line of the root
/// on standard error warns of a precision for which the processor has no unit, and of SSE2. Throws AgreedError when the
/// ranks would not compute alike.
kernels::Precision set_precision(const std::string& asked, const comm::Communicator& communicator);

/// Throws Error, naming the first rank whose kernels::arithmetic() is not the root's, its host and the root's. One name
/// and one host a rank.
void check_arithmetic_is_one(const std::vector<std::string>& names, const std::vector<std::string>& hosts);

}  // namespace rnnsearch::cli

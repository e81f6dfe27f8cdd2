// The option --precision: resolved once by a command, before it has a model, and alike on all ranks.
#pragma once

#include <optional>
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
/// on standard error warns of a precision for which the processor has no unit. Throws AgreedError when it is bf16 and
/// the ranks do not multiply it alike.
kernels::Precision set_precision(const std::string& asked, const comm::Communicator& communicator);

/// Throws Error, naming the first rank whose bfloat16_unit() is not the root's, its host and the root's. One unit and
/// one host a rank; an empty unit is emulation.
void check_units_are_one(const std::vector<std::string>& units, const std::vector<std::string>& hosts);

/// Of the precision in force, for the record: the unit that multiplies, "emulated", or nothing when it is not bf16.
std::optional<std::string> bfloat16_unit_in_use();
/// "f32", "bf16 (amx)", "bf16 (emulated)", "int8 (avx512-vnni)": the precision in force, for people.
std::string precision_in_use();

}  // namespace rnnsearch::cli

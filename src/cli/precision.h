// The option --precision: resolved once by a command, before it has a model, and alike on all ranks.
#pragma once

#include <string>
#include <vector>

#include "rnnsearch/base/json.h"
#include "rnnsearch/cli/options.h"
#include "rnnsearch/comm/communicator.h"
#include "rnnsearch/kernels/precision.h"

namespace rnnsearch::cli {

/// --precision f32|bf16|auto, in the group at hand; `precision` becomes auto. `more` ends the help's phrase.
void add_precision(Options& options, std::string& precision, const std::string& more = "");

/// COLLECTIVE. Sets kernels::set_precision on all ranks to what the root makes of its own `asked`. A line of the root
/// on standard error warns of bf16 that has to be emulated. Throws AgreedError when it is bf16 and the ranks do not
/// multiply it alike.
kernels::Precision set_precision(const std::string& asked, const comm::Communicator& world);

/// Throws Error, naming the first rank whose bfloat16_unit() is not the root's, its host and the root's. One unit and
/// one host a rank; an empty unit is emulation.
void check_units_are_one(const std::vector<std::string>& units, const std::vector<std::string>& hosts);

/// Of the precision in force, for the record: the unit that multiplies, "emulated", or null when it is not bf16.
Json bfloat16_unit_in_use();
/// "f32", "bf16 (amx)", "bf16 (emulated)": the precision in force, for people.
std::string precision_in_use();

}  // namespace rnnsearch::cli

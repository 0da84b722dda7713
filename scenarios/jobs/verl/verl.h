#pragma once

#include <string_view>

#include "scenarios/jobs/shell/settings.h"

/// The parts of verl's reader. Private to the folder.
namespace debubble::jobs {

/// Gives a setting of verl's Megatron engine the name that Megatron-Core has for it:
/// "...megatron.override_transformer_config.recompute_method" is recompute_method. False for
/// settings of verl's own and for those that begin with neither of the two paths.
bool name_by_megatron(Setting& setting, std::string_view engine, std::string_view optimizer);

}  // namespace debubble::jobs

#pragma once

#include "scenarios/jobs/shell/settings.h"

namespace debubble::jobs {

/// Adds the fields that the name of a precision sets ("bf16_with_mxfp8_mixed", with '-' or '_'):
/// Megatron-Bridge 067f987df, training/mixed_precision.py. A name that it does not have is a
/// mistake.
void add_precision_name(const Setting& setting, Settings& settings);

}  // namespace debubble::jobs

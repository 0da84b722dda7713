#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sim/report/reference/model_table.h"

namespace debubble::sim {

/// The JSON of `debubble model --json`: sums, kinds of layers, and the table's stages.
nlohmann::ordered_json model_json(const models::Architecture& architecture,
                                  const models::Execution& execution,
                                  const std::vector<StageFigures>& table);

/// The default tokens of a sample: the length that the network was made for, up to 128 Ki, since
/// some read millions.
std::int64_t usual_seq_length(const models::Architecture& architecture);

}  // namespace debubble::sim

#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sim/report/reference/model_table.h"

namespace debubble::sim {

/// The JSON that `debubble model --json` writes: sums, kinds of layers, and the table's stages.
nlohmann::ordered_json model_json(const models::Architecture& architecture,
                                  const models::Execution& execution,
                                  const std::vector<StageFigures>& table);

/// The tokens of a sample where nobody says them: what the network was made for, up to 128 Ki,
/// since some read millions.
std::int64_t usual_seq_length(const models::Architecture& architecture);

}  // namespace debubble::sim

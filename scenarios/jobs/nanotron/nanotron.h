#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "scenarios/jobs/read/reading.h"

/// The parts of nanotron's reader. Private to the folder.
namespace debubble::jobs {

/// The properties of the network that its partition into stages depends on.
struct NanotronNetwork {
    std::optional<std::int64_t> layers = {};  ///< unset: the network is not nanotron's own
    std::int64_t hidden = 0;
    std::int64_t ffn = 0;
    std::int64_t vocab = 0;
    int products_of_mlp = 3;  ///< 2 without a gate
};

/// The name of a setting of model.model_config with the sections before it.
std::string nanotron_model_key(std::string_view name);

/// Reads `model.model_config` into `model`; asks and refuses where it must.
NanotronNetwork read_nanotron_network(Reading& job);

/// True for a setting of the network that changes no plan.
bool is_silent_in_nanotron_network(std::string_view name);

}  // namespace debubble::jobs

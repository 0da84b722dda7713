#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "scenarios/jobs/read/reading.h"

/// Networks and vocabularies by their names in Hugging Face's hub. Private to the folder.
namespace debubble::jobs {

struct ZooModel {
    std::string_view zoo;  ///< the value of `model`: a name of the zoo, or a map of keys
    std::int64_t layers = 0;
};

/// The network that a name of Hugging Face's hub has ("Qwen/Qwen3-8B", "zai-org/GLM-4.7-FP8"), of
/// the zoo or by its published sizes; nothing if it is not known.
std::optional<ZooModel> zoo_model_of(std::string_view name);

/// The last part of the name that a network of the zoo, or of those sizes, has in the hub, in small
/// letters; empty if none is known.
std::string_view hub_name_of_zoo(std::string_view model);
/// The same of networks that the zoo does not have.
std::string_view hub_name_of_sizes(std::string_view model);

/// Refuses settings of Megatron-Core that change the network which the job names, since the plan
/// has it as it is published. `plans_depths`: those of multi-token prediction are planned.
void refuse_changes_of_network(Reading& job, bool plans_depths = false);

/// The same of networks that the zoo does not have, by the name's last part in lower case.
std::optional<ZooModel> hub_network_of(std::string_view plain);

/// The vocabulary of the model whose tokenizer has that name or path ("Qwen/Qwen2.5-7B"), as its
/// config.json has it; nothing for a name that is not known.
std::optional<std::int64_t> vocabulary_of_model(std::string_view name);

}  // namespace debubble::jobs

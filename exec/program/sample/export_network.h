#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "exec/program/sample/saved_network.h"

namespace debubble::exec {

struct ExportedNetwork {
    DataType type{};                 ///< type of the weights
    std::vector<std::string> files;  ///< names of the files in the folder
};

/// Writes a folder that transformers loads: config.json, model.safetensors, and the tokenizer's
/// files if the training had some. `type` is the training's own if not given. Throws InputError if
/// the folder exists and is not empty, or if weights are missing or damaged; then nothing is left
/// there.
ExportedNetwork export_network(const SavedNetwork& network, std::optional<DataType> type,
                               const std::filesystem::path& folder);

}  // namespace debubble::exec

#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exec/io/checkpoint/piece_source.h"
#include "exec/io/data/tokens/tokenizer.h"
#include "models/network/architecture.h"

/// Networks that are saved with their weights.
namespace debubble::exec {

/// A network with its weights, from whichever program saved it.
struct SavedNetwork {
    std::filesystem::path folder;
    models::Architecture architecture;
    PieceSource weights;
    /// The keys of the training that made it, such as `data.tokenizer`; empty for Hugging Face's.
    std::map<std::string, std::string> settings;
    /// The number of tokens of the sequences that it was trained on last, if the folder states it.
    std::optional<std::int64_t> trained_length;
    std::vector<std::string> notes;  ///< checkpoints or tensors that were left out, with reasons
};

/// Opens a checkpoint, a folder of checkpoints (the latest that is complete and undamaged), or a
/// folder of Hugging Face's. Throws InputError.
SavedNetwork open_saved_network(const std::filesystem::path& folder);

struct NetworkTokenizer {
    std::unique_ptr<Tokenizer> tokenizer;
    std::optional<std::int32_t> end_of_text;  ///< set if the network knows it
};

/// The tokenizer that `asked` names ("bytes", or a path for make_tokenizer), else the training's,
/// else that of a Hugging Face folder, else bytes. Throws InputError if it does not fit the
/// network, or if nothing says which tokens a training on token files used.
NetworkTokenizer tokenizer_of(const SavedNetwork& network, const std::string& asked);

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

#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exec/io/checkpoint/piece_source.h"
#include "exec/io/data/tokenizer.h"
#include "models/architecture.h"

namespace debubble::exec {

/// A network with its weights, whoever saved it.
struct SavedNetwork {
    std::filesystem::path folder;
    models::Architecture architecture;
    PieceSource weights;
    /// The keys of the training that made it, as `data.tokenizer`; none of Hugging Face's.
    std::map<std::string, std::string> settings;
    /// Tokens of the sequences that it was trained on last, where the folder tells.
    std::optional<std::int64_t> trained_length;
    std::vector<std::string> notes;  ///< what was passed over or not taken, and why
};

/// A checkpoint, a folder of them (the latest that is complete and undamaged), or a folder of
/// Hugging Face's. Throws InputError.
SavedNetwork open_saved_network(const std::filesystem::path& folder);

struct NetworkTokenizer {
    std::unique_ptr<Tokenizer> tokenizer;
    std::optional<std::int32_t> end_of_text;  ///< if the network knows it
};

/// The one that `asked` names ("bytes", or what make_tokenizer reads), else the training's,
/// else that of a Hugging Face folder, else the bytes. Throws InputError if it is not for the
/// network, or if nobody says which tokens a training on token files had.
NetworkTokenizer tokenizer_of(const SavedNetwork& network, const std::string& asked);

}  // namespace debubble::exec

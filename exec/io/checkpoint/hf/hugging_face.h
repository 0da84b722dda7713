#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "exec/io/checkpoint/piece_source.h"
#include "models/network/architecture.h"

/// Weights in the form in which the classes of transformers (models/hf/classes.h) save and load
/// them.
namespace debubble::exec {

struct HuggingFaceModel {
    models::Architecture architecture;  ///< from config.json
    PieceSource weights;                ///< weights of kind `parameter`, under canonical names
};

/// Opens a folder with config.json and model.safetensors, or with the parts that
/// model.safetensors.index.json names, with or without the prefix of the base model
/// ("transformer.", "model.", "vit."). The source also holds tensors that are not parameters; they
/// are never loaded. A tied lm_head may be absent. Throws InputError.
HuggingFaceModel open_hugging_face(const std::filesystem::path& folder);

/// Writes config.json and model.safetensors, every weight in `type`. The parameters must be in the
/// source, however they are cut. Throws InputError for a network that transformers does not build.
void export_hugging_face(const PieceSource& source, const models::Architecture& architecture,
                         DataType type, const std::filesystem::path& folder);

/// A sentence that names the tensors of a Hugging Face file that are not parameters of the model.
/// Nothing if there are none but those whose absence changes nothing: a head tied to the embedding,
/// and the masks and frequencies that older versions of transformers saved with the weights.
std::optional<std::string> note_of_untaken(const PieceSource& weights,
                                           const models::Architecture& model);

}  // namespace debubble::exec

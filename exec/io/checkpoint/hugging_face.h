#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "exec/io/checkpoint/piece_source.h"
#include "models/architecture.h"

/// Weights as transformers' GPT2LMHeadModel, LlamaForCausalLM and ViTForImageClassification
/// save and load them.
namespace debubble::exec {

struct HuggingFaceModel {
    models::Architecture architecture;  ///< of config.json
    PieceSource weights;                ///< kind `parameter`, under canonical names
};

/// A folder with config.json and model.safetensors, or the parts that
/// model.safetensors.index.json names. With or without the prefix of the base model
/// ("transformer.", "model.", "vit."). Tensors that are no parameter are in the source too,
/// and nobody wants them; a tied lm_head need not be there. Throws InputError.
HuggingFaceModel open_hugging_face(const std::filesystem::path& folder);

/// The name under which models/graph.h knows a tensor of a Hugging Face file.
std::string canonical_name(models::Family family, std::string_view stored);

/// The name under which transformers saves a parameter.
std::string hugging_face_name(models::Family family, std::string_view canonical);

/// Writes config.json and model.safetensors, every weight in `type`. The parameters must be
/// in the source, cut however it may be. Throws InputError for a network that transformers
/// does not build.
void export_hugging_face(const PieceSource& source, const models::Architecture& architecture,
                         DataType type, const std::filesystem::path& folder);

}  // namespace debubble::exec

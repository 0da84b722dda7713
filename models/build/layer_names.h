#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "models/build/graph_builder.h"

/// The canonical tensor names and shapes of a transformer layer: Hugging Face's
/// GPT-2 (Conv1D weights [in, out]), Llama and ViT (Linear weights [out, in]).
namespace debubble::models {

struct LayerNames {
    std::string prefix;  ///< "h.3."
    std::string norm1;
    std::string attention;
    std::string qkv;  ///< name of the packed operator, and of its one parameter if it has one
    /// Names of the three parameters of `qkv`; unset if they are one tensor.
    std::optional<std::vector<std::string>> queries_keys_values;
    std::string projection;
    std::string norm2;
    std::string mlp;
    std::string fc1;
    std::optional<std::string> gate;  ///< of a gated MLP; unset if the tensor of `fc1` has it
    std::string fc2;
    std::string router = {};  ///< of a layer with experts
    std::string experts = {};
    /// Names of an expert's gate, up and down projections.
    std::array<const char*, 3> of_expert{};
    std::string shared_experts = {};
    std::string shared_gate = {};  ///< of a gate on the shared experts
    std::string norm1_after = {};  ///< of a layer with norms after its parts
    std::string norm2_after = {};
};
LayerNames layer_names(const Architecture& model, int layer);

/// Each adds the parameters of one operator to the graph and returns their indices.
std::vector<int> norm_parameters(GraphBuilder& builder, const std::string& name);
LinearParameters qkv_parameters(GraphBuilder& builder, const LayerNames& names);
/// The product that leads from `inputs` columns back into the stream.
LinearParameters projection_parameters(GraphBuilder& builder, const LayerNames& names,
                                       std::int64_t inputs, bool biased);
LinearParameters fc1_parameters(GraphBuilder& builder, const LayerNames& names,
                                const DenseMlp& mlp);
LinearParameters fc2_parameters(GraphBuilder& builder, const LayerNames& names,
                                const DenseMlp& mlp);

struct StageNames {
    std::string token_embedding;
    std::string position_embedding;
    std::string final_norm;
    std::string head;
};
StageNames stage_names(const Architecture& model);

}  // namespace debubble::models

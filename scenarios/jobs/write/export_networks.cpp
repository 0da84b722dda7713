#include "scenarios/jobs/write/job_writer.h"

#include "scenarios/jobs/read/zoo_names.h"

namespace debubble::jobs {
namespace {

bool has_plain_scores(const models::Attention& a) {
    return !a.latent && !a.sinks && !a.score_softcap && !a.query_pre_attn_scalar &&
           !a.temperature && !a.output_gate && !a.head_gate && !a.keys_are_values &&
           !a.value_norm && !a.sparse && !a.compressed && !a.chunk;
}

}  // namespace

std::string why_not_plain(const models::Architecture& model, bool experts) {
    if (model.layers.kinds().size() != 1) return "heterogeneous layers";
    if (model.mtp_layers > 0) return "multi-token prediction";
    if (model.streams > 1 || model.residual_block) return "several residual streams";
    if (model.scaled_embedding || model.zero_centred_norms) return "scaled embeddings or norms";
    const models::Layer& layer = model.layers[0];
    const auto* const attention = layer.as<models::Attention>();
    const auto* const dense = layer.as<models::DenseMlp>();
    if (attention == nullptr) return "layers without attention";
    if (dense == nullptr && !(experts && layer.as<models::Experts>() != nullptr)) return "experts";
    if (layer.norms != models::NormPosition::Before) return "norms at other positions";
    if (!has_plain_scores(*attention)) return "attention of another kind";
    if (attention->heads * attention->head_dim != model.hidden)
        return "heads that together do not have the hidden size";
    return {};
}

std::string hub_name_of(const models::Architecture& model) {
    return std::string(hub_name_of_zoo(model.name));
}

}  // namespace debubble::jobs

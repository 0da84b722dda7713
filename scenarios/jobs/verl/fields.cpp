#include <algorithm>

#include "scenarios/jobs/verl/verl.h"

namespace debubble::jobs {
namespace {

/// Maps of the engine's section whose keys are Megatron-Core's.
constexpr std::string_view kVerlMaps[] = {"override_transformer_config.", "override_ddp_config.",
                                          "override_mcore_model_config."};

/// Of verl alone: they change no plan, or lie on the host between the phases of a step.
constexpr std::string_view kVerlOwn[] = {"param_offload",
                                         "grad_offload",
                                         "optimizer_offload",
                                         "use_mbridge",
                                         "vanilla_mbridge",
                                         "use_dist_checkpointing",
                                         "dist_checkpointing_path",
                                         "dist_checkpointing_prefix",
                                         "seed",
                                         "use_remove_padding",
                                         "forward_only",
                                         "dtype"};

}  // namespace

bool name_by_megatron(Setting& setting, std::string_view engine, std::string_view optimizer) {
    std::string_view name = setting.name;
    if (name.starts_with('$') || name == "nnodes" || name.starts_with("nproc")) return true;
    if (name.starts_with(optimizer)) {
        setting.name = setting.name.substr(optimizer.size());
        return true;
    }
    if (!name.starts_with(engine)) return false;
    name.remove_prefix(engine.size());
    for (const std::string_view map : kVerlMaps)
        if (name.starts_with(map)) name.remove_prefix(map.size());
    if (std::ranges::find(kVerlOwn, name) != std::end(kVerlOwn)) return false;
    setting.name = std::string(name);
    return true;
}

}  // namespace debubble::jobs

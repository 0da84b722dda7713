#include <algorithm>

#include <fmt/format.h>

#include "scenarios/jobs/write/job_writer.h"

/// ms-swift's `megatron pt`: Megatron-Core's fields with underscores, and a network by its name in
/// Hugging Face's hub.
namespace debubble::jobs {
namespace {

/// Fields of add_model_fields() that are not part of the network.
constexpr std::string_view kOfTraining[] = {"moe_token_dispatcher_type",
                                            "moe_flex_dispatcher_backend",
                                            "moe_router_force_load_balancing",
                                            "moe_router_load_balancing_type",
                                            "moe_aux_loss_coeff",
                                            "moe_z_loss_coeff",
                                            "moe_expert_capacity_factor",
                                            "make_vocab_size_divisible_by",
                                            "hidden_dropout",
                                            "attention_dropout"};

/// Fields that ms-swift has otherwise.
constexpr std::pair<std::string_view, std::string_view> kSwiftNames[] = {
    {"seq_length", "max_length"},
    {"rope_fusion", "apply_rope_fusion"},
    {"overlap_p2p_communication", "overlap_p2p_comm"}};

}  // namespace

std::string write_swift(JobWriter& job) {
    JobWriter network(job.s);
    add_model_fields(network);
    add_megatron_fields(job);
    const auto belongs = [&](const Field& field) {
        return field.name != "seq_length" &&
               std::ranges::find(kOfTraining, field.name) == std::end(kOfTraining) &&
               std::ranges::any_of(network.fields,
                                   [&](const Field& one) { return one.name == field.name; });
    };
    if (job.s.training.recompute == models::Recompute::None)
        job.say("recompute_granularity", "none");  // ms-swift's default is selective
    std::string out =
        "# --model is the model's folder, or its full name in the hub.\n"
        "ARGS=(\n";
    if (const std::string name = hub_name_of(job.s.model); !name.empty())
        out += fmt::format("    --model {}\n", name);
    else
        job.cannot(
            "model",
            fmt::format(
                "ms-swift names a model by its repository in the hub, and none is known for '{}'",
                job.s.model.name));
    for (const Field& field : job.fields) {
        if (belongs(field)) continue;
        std::string_view name = field.name;
        for (const auto& [known, other] : kSwiftNames)
            if (name == known) name = other;
        const bool plain = field.value.find_first_of("()|[]*{}\"") == std::string::npos;
        out += fmt::format("    --{0} {1}{2}{1}\n", name, plain ? "" : "'", field.value);
    }
    out += ")\n";
    const scenarios::Scenario& s = job.s;
    const int per_node = std::min(s.gpus, s.cluster.gpus_per_node);
    return out + fmt::format("NNODES={} NPROC_PER_NODE={} megatron pt \"${{ARGS[@]}}\" \"$@\"\n",
                             (s.gpus + per_node - 1) / per_node, per_node);
}

}  // namespace debubble::jobs

#include <fmt/format.h>

#include "scenarios/check/framework_checks.h"
#include "scenarios/check/parts.h"
#include "scenarios/plan/derived.h"
#include "schedule/generators/generators.h"

/// Checks that the model can be cut as asked, and that the schedule can be built for it.
namespace debubble::scenarios {
namespace {

/// A factor with the default value is not a request.
void check_prediction(Draft& draft) {
    const Training& training = draft.scenario.training;
    if (draft.scenario.model.mtp_layers == 0 &&
        training.mtp_loss_scaling_factor != Training{}.mtp_loss_scaling_factor)
        draft.training.complain("mtp_loss_scaling_factor",
                                "the model has no multi-token prediction layers ('mtp_layers')");
}

/// Modules must be parts of the model.
void check_modules(Draft& draft) {
    const Scenario& s = draft.scenario;
    const models::Modules modules = s.training.recompute_extent.modules;
    const auto has = [&](models::Module module) { return modules.has(module); };
    const auto latent = [](const models::Attention& attention) {
        return static_cast<std::int64_t>(attention.latent.has_value());
    };
    auto& notes = draft.scenario.notes;
    if (has(models::Module::MlaUpProjection) && s.model.layers.most<models::Attention>(latent) == 0)
        notes.push_back(
            "mla_up_proj is a module of latent attention, which the model does not have: it "
            "recomputes nothing");
    if ((has(models::Module::Moe) || has(models::Module::MoeActivation)) && !s.model.has_experts())
        notes.push_back(
            "moe and moe_act are modules of experts, which the model does not have: they recompute "
            "nothing");
    if (s.training.precision.recipe == models::Recipe::Fp8Delayed &&
        (has(models::Module::MoeActivation) || has(models::Module::LayerNorm)))
        draft.training.complain("recompute",
                                "moe_act and layernorm cannot be recomputed with fp8-delayed, "
                                "whose scales would change in between; use another recipe");
    if (s.training.expert_load_unknown && !s.model.has_experts())
        draft.training.complain("router", "the model has no router");
    if (s.training.lora && s.model.has_experts())
        draft.training.complain("lora", "adapters of experts are not supported");
    if (s.training.lora && s.parallel.zero_stage == 3)
        draft.training.complain(
            "lora", "adapters are not supported where ZeRO-3 shards the weights they belong to");
    if ((s.training.recompute == models::Recompute::Modules ||
         s.training.recompute == models::Recompute::Products || s.training.offload.any() ||
         s.training.chooses_offload) &&
        s.schedule.slices > 1)
        draft.training.complain(
            s.training.offload.any() || s.training.chooses_offload ? "offload" : "recompute",
            "recomputation and offloading by module do not support sequence slices");
}

/// A vision tower's tokens are part of the sequence.
void check_images(Draft& draft) {
    const Scenario& s = draft.scenario;
    if (!s.model.tower) return;
    const models::VisionTower& tower = *s.model.tower;
    const auto complain = [&](std::string sentence) {
        draft.top.complain("model", std::move(sentence));
    };
    if (tower.tokens_of_sample() > s.training.seq_length)
        complain(
            fmt::format("{} images of {} tokens exceed the {} tokens of a sample; set 'images' and "
                        "'image_tokens', or omit them with 'language_model_only: true'",
                        tower.images, tower.image_tokens, s.training.seq_length));
    if (s.schedule.slices > 1) complain("images do not support sequence slices");
    if ((tower.frozen || tower.frozen_projector) && s.parallel.zero_stage == 3)
        complain("frozen parts are not supported where ZeRO-3 shards the weights");
    if (tower.cut && s.parallel.tensor > 1) {
        const auto& attention = std::get<models::Attention>(tower.layers[0].mixer);
        need_heads_divide(draft, attention, s.parallel.tensor, "tensor");
    }
    if (s.training.offload.any() || s.training.chooses_offload)
        draft.scenario.notes.emplace_back("the vision tower is not offloaded");
}

}  // namespace

void check_shards(Draft& draft) {
    const Parallel& parallel = draft.scenario.parallel;
    if (parallel.shard && parallel.replicas() % *parallel.shard != 0) {
        draft.parallel.complain(
            "shard",
            fmt::format("{} replicas (data {} x context {}) cannot be divided into groups of {}",
                        parallel.replicas(), parallel.data, parallel.context, *parallel.shard));
        return;
    }
    if (parallel.shard && parallel.zero_stage == 0)
        draft.parallel.complain("shard", "zero_stage 0 shards nothing over replicas");
    if (!parallel.reshard && parallel.zero_stage != 3)
        draft.parallel.complain("reshard", "only zero_stage 3 gathers parameters");
}

void check_cuts(Draft& draft) {
    check_layout_of_model(draft);
    check_modules(draft);
    check_experts(draft);
    check_shared_experts(draft);
    check_fused_experts(draft);
    check_sharded_exchanges(draft);
    check_order(draft);
    check_sent_rows(draft);
    check_graphs_of_experts(draft);
    check_prediction(draft);
    check_tensor_cut(draft);
    check_exchange(draft);
    check_recurrence(draft);
    check_sequence(draft);
    check_partition(draft);
    check_images(draft);
    check_extent(draft);
    check_widths(draft);
    if (draft.scenario.schedule.pairs_layers) check_overlapped_experts(draft);
}

void check_schedule(Draft& draft) {
    const ScheduleChoice& choice = draft.scenario.schedule;
    const Generator* generator = find_generator(choice.name);
    if (generator == nullptr) return;  // the order comes from a CSV
    if (const auto reason =
            generator->why_not(draft.scenario.pipeline_shape(), generator_options_of(choice)))
        draft.top.complain("schedule",
                           fmt::format("schedule '{}' cannot be built: {}", choice.name, *reason));
}

void add_notes(Draft& draft) {
    const Scenario& s = draft.scenario;
    auto& notes = draft.scenario.notes;
    if (const Generator* generator = find_generator(s.schedule.name);
        generator != nullptr && !s.schedule.csv && generator->note != nullptr)
        if (const Reason note = generator->note(s.pipeline_shape())) notes.push_back(*note);
    if (const std::string lacking = lacking_schedule(s); !lacking.empty())
        notes.push_back(lacking +
                        ": it is predicted anyway; sweep and search exclude such plans from their "
                        "ranking unless --any-schedule is given");
    if ((s.reliability || s.price) && !s.training.run.tokens)
        notes.push_back(
            "reliability and price have no effect: the length of the training is not given "
            "(training.tokens)");
    if (s.parallel.tensor > s.cluster.gpus_per_node)
        notes.push_back(fmt::format("tensor groups of {} GPUs span nodes of {}", s.parallel.tensor,
                                    s.cluster.gpus_per_node));
    if (s.parallel.zero_stage > 0 && !s.has_replicas())
        notes.push_back(fmt::format("zero_stage {} shards nothing: there is one replica",
                                    s.parallel.zero_stage));
    if (s.parallel.zero_stage == 3 && s.parallel.shards() > 1 && s.framework.stage3.any() &&
        !gather_limits(s))
        notes.push_back(
            "the framework's stage-3 limits (stage3_prefetch_bucket_size and others) have no "
            "effect: they apply only without a pipeline, slices, wrap: stage and reshard: false");
    if (s.parallel.sequence && s.parallel.tensor == 1)
        notes.push_back("sequence parallelism has no effect without tensor parallelism");
    if (s.training.expert_load_unknown)
        notes.push_back(
            "the router is learned: the load of the experts is unknown and is priced as balanced");
    if (!s.cluster.gpu.fp16_flops_per_s)
        notes.push_back(fmt::format("the peak rate of '{}' is unknown, so there is no MFU",
                                    s.cluster.gpu.name));
}

}  // namespace debubble::scenarios

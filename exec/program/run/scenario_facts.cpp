#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/overloaded.h"
#include "exec/core/stage/operators/executor_scenario.h"
#include "exec/program/run/prepare_run.h"
#include "models/read/architecture_words.h"

/// Structured bindings name every field of a structure, so that a new field cannot be forgotten
/// here: the code then does not compile.
namespace debubble::exec {

namespace {

const char* word(models::DataType type) {
    switch (type) {
        case models::DataType::Fp32: return "fp32";
        case models::DataType::Fp16: return "fp16";
        case models::DataType::Bf16: return "bf16";
        case models::DataType::Fp8: return "fp8";
    }
    return "";
}

/// The facts under one key of the scenario.
class Section {
public:
    Section(RunFacts& facts, std::string prefix) : facts_(facts), prefix_(std::move(prefix)) {}

    template <class T>
    void add(const char* key, const T& value) {
        facts_.push_back({prefix_ + key, fmt::format("{}", value)});
    }
    template <class T>
    void add(const char* key, const std::optional<T>& value) {
        if (value) add(key, *value);
    }
    void add(const char* key, const std::optional<models::DataType>& value) {
        if (value) add(key, word(*value));
    }

private:
    RunFacts& facts_;
    std::string prefix_;
};

/// The dropout that matters is that of the training (add_training).
void add_model(RunFacts& facts, const models::Architecture& model) {
    const auto json = nlohmann::ordered_json::parse(models::architecture_json(model));
    for (const auto& [key, value] : json.items())
        if (key != "name" && key != "source" && key != "dropout")
            facts.push_back(
                {"model." + key, value.is_string() ? value.get<std::string>() : value.dump()});
}

void add_parallel(RunFacts& facts, const scenarios::Parallel& parallel) {
    // `run` refuses two levels of context parallelism and dynamic groups (check_supported).
    const auto& [order, tensor, pipeline, data, context, context_levels, dynamic_context,
                 least_context, rank_capacity, expert, expert_tensor, stages_per_rank, sequence,
                 zero_stage, partition, layers_per_stage, layout, prediction_stage, wrap, shard,
                 reshard, communication_dtype] = parallel;
    Section in(facts, "parallel.");
    in.add("order", order.text());
    in.add("tensor", tensor);
    in.add("pipeline", pipeline);
    in.add("data", data);
    in.add("context", context);
    in.add("expert", expert);
    in.add("expert_tensor", expert_tensor);
    in.add("stages_per_rank", stages_per_rank);
    in.add("sequence", sequence);
    in.add("zero_stage", zero_stage);
    in.add("wrap", wrap == scenarios::Wrap::Layer ? "layer" : "stage");
    in.add("shard", shard.value_or(0));
    in.add("reshard", reshard);
    in.add("communication_dtype", communication_dtype);
}

void add_training(RunFacts& facts, const scenarios::Scenario& scenario) {
    const auto& [global_batch, micro_batch, micro_batches, seq_length, precision, recompute,
                 recompute_extent, chooses_recompute, offload, chooses_offload, lora, attention,
                 offload_optimizer, dropout, expert_load, expert_load_unknown, routers,
                 mtp_loss_scaling_factor, run] = scenario.training;
    Section in(facts, "training.");
    in.add("global_batch", global_batch);
    in.add("micro_batch", micro_batch);
    in.add("seq_length", seq_length);
    in.add("recompute", scenarios::recompute_text(scenario.training));
    in.add("offload", scenarios::offload_text(scenario.training));
    in.add("offload_optimizer", offload_optimizer);
    in.add("dropout", dropout.value_or(scenario.model.dropout));
    // The types of GEMMs and gathers are bf16 in what is executed (check_supported).
    const auto& [compute, main_params, grads, moments, loss_scaling, main_grads, recipe,
                 param_gather, fp8_attention, fp8_activations, bf16_first, bf16_last] = precision;
    Section of_precision(facts, "training.precision.");
    of_precision.add("compute", word(compute));
    of_precision.add("main_params", main_params);
    of_precision.add("grads", word(grads));
    of_precision.add("moments", word(moments));
    of_precision.add("loss_scaling", loss_scaling);
    in.add("data.shuffle", run.data.shuffle);
    const auto& [balancing, aux_loss_coeff, z_loss_coeff, bias_update_rate] = routers;
    in.add("moe_router_load_balancing_type", scenarios::word_of(balancing));
    in.add("moe_aux_loss_coeff", aux_loss_coeff);
    in.add("moe_z_loss_coeff", z_loss_coeff);
    in.add("moe_router_bias_update_rate", bias_update_rate);
    in.add("mtp_loss_scaling_factor", mtp_loss_scaling_factor);
}

void add_optimizer(RunFacts& facts, const OptimizerOptions& optimizer) {
    Section in(facts, "training.optimizer.");
    std::visit(
        Overloaded{[&](const AdamOptions& adam) {
                       const auto& [lr, beta1, beta2, eps, weight_decay, decoupled, decayed] = adam;
                       in.add("name", decoupled ? "adamw" : "adam");
                       in.add("lr", lr);
                       in.add("betas", fmt::format("[{}, {}]", beta1, beta2));
                       in.add("eps", eps);
                       in.add("weight_decay", weight_decay);
                       in.add("weight_decay_of", word_of(decayed));
                   },
                   [&](const SgdOptions& sgd) {
                       const auto& [lr, momentum, dampening, weight_decay, nesterov, decayed] = sgd;
                       in.add("name", "sgd");
                       in.add("lr", lr);
                       in.add("momentum", momentum);
                       in.add("dampening", dampening);
                       in.add("weight_decay", weight_decay);
                       in.add("weight_decay_of", word_of(decayed));
                       in.add("nesterov", nesterov);
                   },
                   [&](const scenarios::MuonOptions& muon) {
                       const auto& [lr, momentum, weight_decay, steps, nesterov, scale_mode,
                                    decayed] = muon;
                       in.add("name", "muon");
                       in.add("lr", lr);
                       in.add("momentum", momentum);
                       in.add("weight_decay", weight_decay);
                       in.add("weight_decay_of", word_of(decayed));
                       in.add("steps", steps);
                       in.add("nesterov", nesterov);
                       in.add("scale_mode", word_of(scale_mode));
                   }},
        optimizer);
}

void add_lr_schedule(RunFacts& facts, const LrSchedule& schedule) {
    const auto& [shape, warmup_steps, warmup_start_factor, total_steps, min_lr] = schedule;
    Section in(facts, "training.lr_schedule.");
    in.add("name", name_of(shape));
    in.add("warmup_steps", warmup_steps);
    in.add("warmup_start_factor", warmup_start_factor);
    if (shape == LrSchedule::Shape::Constant) return;
    in.add("total_steps", total_steps.value_or(0));
    in.add("min_lr", min_lr);
}

void add_loss_scale(RunFacts& facts, const LossScaleOptions& options) {
    const auto& [initial_scale, min_scale, max_scale, growth_factor, backoff_factor,
                 growth_interval, hysteresis] = options;
    Section in(facts, "training.loss_scale.");
    in.add("initial_scale", initial_scale);
    in.add("min_scale", min_scale);
    in.add("max_scale", max_scale);
    in.add("growth_factor", growth_factor);
    in.add("backoff_factor", backoff_factor);
    in.add("growth_interval", growth_interval);
    in.add("hysteresis", hysteresis);
}

/// The number of steps is a fact of the run, since --steps may change it.
void add_options(RunFacts& facts, const TrainingOptions& options) {
    const auto& [steps, epochs, tokens, seed, init_from, optimizer, lr_schedule, clip_norm,
                 loss_scale, data, checkpoint, eval_interval, eval_iters] = options;
    Section in(facts, "training.");
    in.add("seed", seed);
    add_optimizer(facts, optimizer);
    add_lr_schedule(facts, lr_schedule);
    in.add("clip_norm", clip_norm);
    if (loss_scale) add_loss_scale(facts, *loss_scale);
    in.add("checkpoint", checkpoint ? "saved" : "not saved");
    if (checkpoint) in.add("checkpoint.every", checkpoint->every);
    in.add("eval_interval", eval_interval);
    in.add("eval_iters", eval_iters);
}

}  // namespace

RunFacts scenario_facts(const scenarios::Scenario& asked, const TrainingOptions& options) {
    const scenarios::Scenario scenario = executor_scenario(asked);
    RunFacts facts;
    add_model(facts, scenario.model);
    add_parallel(facts, scenario.parallel);
    facts.push_back({"schedule.name", scenario.schedule.name});
    facts.push_back({"schedule.slices", std::to_string(scenario.schedule.slices)});
    add_training(facts, scenario);
    add_options(facts, options);
    const bool chunked = scenario.framework.kernels.loss == models::LossKernel::Chunked;
    Section framework(facts, "framework.");
    framework.add("loss", chunked ? "chunked" : "whole");
    framework.add("vocabulary_multiple", scenario.framework.kernels.vocabulary_multiple);
    framework.add("offload_buffer", scenario.framework.offload_buffer.count);
    framework.add("post_validation", scenarios::is_post_validated(scenario));
    return facts;
}

}  // namespace debubble::exec

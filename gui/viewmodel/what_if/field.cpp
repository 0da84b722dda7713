#include "gui/viewmodel/what_if/field.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "gui/viewmodel/timeline/words.h"
#include "models/partition/partition.h"
#include "scenarios/read/edit.h"
#include "schedule/generators/generators.h"
#include "text/shipped_files.h"

namespace debubble::gui {
namespace {

using scenarios::Scenario;

constexpr int kMostSuggested = 64;
std::vector<FieldChoice> words(std::initializer_list<const char*> values) {
    std::vector<FieldChoice> choices;
    for (const char* value : values) choices.push_back({value, {}, {}});
    return choices;
}

std::vector<FieldChoice> powers_of_two(int most) {
    std::vector<FieldChoice> choices;
    for (int n = 1; n <= most; n *= 2) choices.push_back({std::to_string(n), {}, {}});
    return choices;
}

std::vector<FieldChoice> shipped(std::string_view folder) {
    std::vector<FieldChoice> choices;
    for (std::string& name : text::shipped_names(folder))
        choices.push_back({std::move(name), {}, {}});
    return choices;
}

/// The reason why the layers cannot be cut into this number of stages per rank.
std::optional<std::string> why_not_cut(const Scenario& scenario, int stages_per_rank) {
    const scenarios::Parallel& parallel = scenario.parallel;
    const int layers = scenario.model.layers.count();
    try {
        if (parallel.partition == scenarios::Partition::Explicit)
            models::explicit_stages(parallel.layers_per_stage, layers,
                                    parallel.pipeline * stages_per_rank);
        else
            models::uniform_stages(layers, parallel.pipeline, stages_per_rank);
    } catch (const InputError& error) {
        return error.diagnostics().front().message;
    }
    return std::nullopt;
}

/// The reason why a schedule cannot be chosen here. The number of stages per rank becomes that of
/// the schedule, if it has only one; otherwise a written number stays.
std::optional<std::string> why_not(const Generator& row, const Scenario& scenario,
                                   bool stages_are_written) {
    PipelineShape shape = scenario.pipeline_shape();
    const int before = shape.stages_per_rank;
    shape.stages_per_rank = row.stages_per_rank.value_or(stages_are_written ? before : 1);
    GeneratorOptions options;
    options.memory_limits = scenario.schedule.memory_limits;
    if (auto reason = row.why_not(shape, options)) return reason;
    return shape.stages_per_rank == before ? std::nullopt
                                           : why_not_cut(scenario, shape.stages_per_rank);
}

std::string word_of(models::Dispatcher dispatcher) {
    switch (dispatcher) {
        case models::Dispatcher::AllToAll: break;
        case models::Dispatcher::AllGather: return "allgather";
        case models::Dispatcher::DeepEp: return "deepep";
        case models::Dispatcher::HybridEp: return "hybridep";
    }
    return "alltoall";
}

class Builder {
public:
    Builder(const ScenarioText& source, const Scenario& scenario)
        : source_(source), scenario_(scenario) {}

    std::vector<Field> build() {
        add_model_and_machine();
        group_ = FieldGroup::Schedule;
        add_schedule();
        add_parallelism();
        group_ = FieldGroup::Batch;
        add_batch();
        group_ = FieldGroup::Memory;
        add_memory();
        group_ = FieldGroup::More;
        add_more_parallelism();
        add_framework();
        add_routers();
        add_imbalance();
        return std::move(fields_);
    }

private:
    std::optional<std::string> written(const std::string& key) const {
        return scenarios::written_at(source_.text, source_.file, key);
    }

    Field& add(std::string key, std::string label, std::string help, std::string follows) {
        Field field;
        const auto given = written(key);
        field.key = std::move(key);
        field.label = std::move(label);
        field.help = std::move(help);
        field.value = given.value_or(std::move(follows));
        field.follows = !given;
        field.group = group_;
        fields_.push_back(std::move(field));
        return fields_.back();
    }

    void add_whole(std::string key, std::string label, std::string help, int follows,
                   int most = kMostSuggested) {
        Field& field =
            add(std::move(key), std::move(label), std::move(help), std::to_string(follows));
        field.whole = true;
        field.choices = powers_of_two(most);
    }

    void add_flag(std::string key, std::string label, std::string help, bool follows) {
        add(std::move(key), std::move(label), std::move(help), follows ? "true" : "false").choices =
            words({"false", "true"});
    }

    void add_model_and_machine() {
        add("model", said("fields", "Model"),
            said("fields", "a model of the zoo; other files and maps in the text below"),
            scenario_.model.name)
            .choices = shipped("models/zoo");
        if (written("model.base"))
            add_whole("model.layers", said("fields", "Layers"),
                      said("fields", "the first layers of the base, or all"),
                      scenario_.model.layers.count(), 128);
        add("cluster", said("fields", "Cluster"), said("fields", "the machine"),
            scenario_.cluster.name)
            .choices = shipped("scenarios/clusters");
        if (written("gpus"))
            add_whole("gpus", said("fields", "GPUs"), said("fields", "GPUs of all nodes"),
                      scenario_.gpus, 1024);
        else
            add_whole("nodes", said("fields", "Nodes"), said("fields", "nodes of the cluster"),
                      scenario_.cluster.nodes, 128);
    }

    void add_parallelism() {
        const scenarios::Parallel& parallel = scenario_.parallel;
        add_whole("parallel.tensor", said("fields", "Tensor"),
                  said("fields", "GPUs that share each layer (TP)"), parallel.tensor);
        add_whole("parallel.pipeline", said("fields", "Pipeline"),
                  said("fields", "ranks that share out the layers (PP)"), parallel.pipeline);
        add_whole("parallel.context", said("fields", "Context"),
                  said("fields", "GPUs that share each sequence (CP)"), parallel.context);
        add_whole("parallel.expert", said("fields", "Expert"),
                  said("fields", "GPUs that share each layer's experts (EP)"), parallel.expert);
        needs_experts();
        Field& data = add("parallel.data", said("fields", "Data"),
                          said("fields", "replicas (DP); auto: all GPUs that are left"), "auto");
        data.whole = true;
        data.choices = powers_of_two(kMostSuggested);
        data.choices.insert(data.choices.begin(),
                            {"auto", filled(said("fields", "now {}"), parallel.data), {}});
    }

    void add_more_parallelism() {
        const scenarios::Parallel& parallel = scenario_.parallel;
        add_flag(
            "parallel.sequence", said("fields", "Sequence parallel"),
            said("fields", "norms and dropout cut along the sequence, inside the tensor group"),
            parallel.sequence);
        add_flag(
            "parallel.dynamic_context_parallel", said("fields", "Dynamic context"),
            said("fields", "groups of GPUs as large as the documents of a packed microbatch need"),
            parallel.dynamic_context_parallel);
        if (!scenario_.imbalance.documents)
            fields_.back().why_not =
                said("fields", "imbalance.sequence gives no lengths of documents");
        add_whole("parallel.expert_tensor", said("fields", "Expert tensor"),
                  said("fields", "GPUs that cut each expert (ETP)"), parallel.expert_tensor);
        needs_experts();
        add("training.expert_load", said("fields", "Expert load"),
            said("fields",
                 "tokens at the fullest GPU's experts over the mean; 1: the router balances"),
            fmt::format("{}", scenario_.training.expert_load))
            .choices = words({"1", "1.1", "1.25", "1.5", "2"});
        needs_experts();
    }

    void add_routers() {
        const scenarios::RouterOptions& routers = scenario_.training.routers;
        add("training.moe_aux_loss_coeff", said("fields", "Balancing loss"),
            said("fields", "the factor of the auxiliary loss; 0: there is none"),
            fmt::format("{}", routers.aux_loss_coeff))
            .choices = words({"0", "0.0001", "0.001", "0.01"});
        needs_experts();
        add("training.moe_router_load_balancing_type", said("fields", "Balanced tokens"),
            said("fields", "those of a microbatch, of each sequence, or of a step on all replicas"),
            std::string(scenarios::word_of(routers.balancing)))
            .choices = words({"aux_loss", "seq_aux_loss", "global_aux_loss"});
        needs_experts();
        add("training.moe_z_loss_coeff", said("fields", "Z-loss"),
            said("fields",
                 "the factor of the loss that keeps logits of routers small; 0: there is none"),
            fmt::format("{}", routers.z_loss_coeff))
            .choices = words({"0", "0.0001", "0.001"});
        needs_experts();
    }

    /// Disables the last field of a model without experts.
    void needs_experts() {
        if (!scenario_.model.has_experts())
            fields_.back().why_not =
                filled(said("fields", "{} has no experts"), scenario_.model.name);
    }

    void add_schedule() {
        const bool is_written =
            written("parallel.stages_per_rank") || written("schedule.stages_per_rank");
        Field& schedule =
            add("schedule", said("fields", "Schedule"),
                said("fields", "who computes what, in which order"), scenario_.schedule.name);
        schedule.value = scenario_.schedule.name;
        for (const Generator& row : generators())
            schedule.choices.push_back({std::string(row.name),
                                        said("schedules", std::string(row.summary)),
                                        why_not(row, scenario_, is_written)});
        const std::string of_schedule = "schedule.stages_per_rank";
        add_whole(written(of_schedule) ? of_schedule : "parallel.stages_per_rank",
                  said("fields", "Stages per rank"),
                  said("fields", "chunks of the model on each pipeline rank"),
                  scenario_.parallel.stages_per_rank, 8);
    }

    void add_batch() {
        const scenarios::Training& training = scenario_.training;
        add_whole("training.micro_batch", said("fields", "Microbatch"),
                  said("fields", "samples that pass the pipeline together"), training.micro_batch);
        add_whole("training.micro_batches", said("fields", "Microbatches"),
                  said("fields", "microbatches per replica and step"), training.micro_batches,
                  1024);
        add_whole("training.global_batch", said("fields", "Global batch"),
                  said("fields", "samples of a step, of all replicas"), training.global_batch,
                  4096);
        Field& length =
            add("training.seq_length", said("fields", "Sequence"),
                said("fields", "tokens of a sample"), std::to_string(training.seq_length));
        length.whole = true;
        for (int n = 512; n <= 131'072; n *= 2)
            length.choices.push_back({std::to_string(n), {}, {}});
    }

    void add_memory() {
        const scenarios::Training& training = scenario_.training;
        const scenarios::Parallel& parallel = scenario_.parallel;
        add("training.recompute", said("fields", "Recompute"),
            said("fields", "activations computed again instead of kept"),
            scenarios::recompute_text(training))
            .choices = words({"none", "selective", "full", "auto"});
        add("parallel.zero_stage", said("fields", "ZeRO"),
            said("fields",
                 "sharded over replicas: 1 optimizer state, 2 and gradients, 3 and parameters"),
            std::to_string(parallel.zero_stage))
            .choices = words({"0", "1", "2", "3"});
        add_whole(
            "parallel.shard", said("fields", "Shards"),
            said("fields",
                 "replicas that ZeRO shards over; copies of them add up what each has reduced"),
            parallel.shards());
        add("training.precision", said("fields", "Precision"),
            said("fields",
                 "bf16: 18 bytes a parameter, pure-bf16: 8, fp32: 16; fp16 as bf16 with loss "
                 "scaling"),
            "bf16")
            .choices = words({"bf16", "pure-bf16", "fp16", "fp32", "fp8-delayed", "fp8-current",
                              "fp8-blockwise", "fp8-rowwise", "mxfp8", "nvfp4"});
        add("training.attention", said("fields", "Attention"),
            said("fields", "flash keeps no scores"),
            training.attention == models::AttentionKernel::Flash ? "flash" : "unfused")
            .choices = words({"flash", "unfused"});
        add_flag("training.offload_optimizer", said("fields", "Offload optimizer"),
                 said("fields", "main parameters and moments in the host's memory"),
                 training.offload_optimizer);
    }

    void add_framework() {
        const scenarios::Framework& framework = scenario_.framework;
        add_flag("framework.tensor_overlap", said("fields", "Tensor overlap"),
                 said("fields",
                      "GEMMs run in chunks, overlapped with their tensor-parallel collectives"),
                 framework.tensor_overlap);
        add("framework.dispatcher", said("fields", "Dispatcher"),
            said("fields", "how tokens get to the ranks of their experts"),
            word_of(framework.kernels.dispatcher))
            .choices = words({"alltoall", "allgather", "deepep", "hybridep"});
        needs_experts();
        add("framework.cuda_graphs", said("fields", "CUDA graphs"),
            said("fields", "what the host launches as graphs; lists of modules in the text below"),
            framework.cuda_graphs.full_iteration ? "full_iteration" : "none")
            .choices = words({"none", "full_iteration"});
    }

    void add_imbalance() {
        const scenarios::Imbalance& imbalance = scenario_.imbalance;
        add("imbalance.router.spread", said("fields", "Router's spread"),
            said("fields",
                 "how much loads of experts differ by layer and microbatch, over their mean"),
            fmt::format("{}", imbalance.router_spread))
            .choices = words({"0", "0.05", "0.1", "0.2", "0.5"});
        needs_experts();
        if (scenario_.model.has_experts() && scenario_.parallel.expert == 1)
            fields_.back().why_not = said("fields", "every GPU has all experts of a layer");
        add("imbalance.jitter", said("fields", "Jitter"),
            said("fields", "how much the times of computes differ, over their mean"),
            fmt::format("{}", imbalance.jitter))
            .choices = words({"0", "0.01", "0.02", "0.05"});
    }

    const ScenarioText& source_;
    const Scenario& scenario_;
    FieldGroup group_ = FieldGroup::Job;
    std::vector<Field> fields_;
};

}  // namespace

std::string name_of(FieldGroup group) {
    switch (group) {
        case FieldGroup::Job: break;
        case FieldGroup::Schedule: return said("fields", "Schedule and parallelism");
        case FieldGroup::Batch: return said("fields", "Batch");
        case FieldGroup::Memory: return said("fields", "Memory");
        case FieldGroup::More: return said("fields", "More");
    }
    return "";
}

std::vector<Field> fields_of(const ScenarioText& source, const Scenario& scenario) {
    return Builder(source, scenario).build();
}

}  // namespace debubble::gui

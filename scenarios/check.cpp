#include <algorithm>

#include <fmt/format.h>

#include "models/graph.h"
#include "models/layer_keys.h"
#include "models/partition.h"
#include "scenarios/draft.h"
#include "scenarios/execution_of.h"
#include "scenarios/generator_options_of.h"
#include "schedule/generators/generators.h"

/// Checks that the model can be cut as asked, and that the schedule can be built for it.
namespace debubble::scenarios {
namespace {

constexpr int kMostLayersOfTable = 1024;  ///< layers that are checked one by one for a valid cut
constexpr double kMostHeldBytes = 4e18;   ///< bytes of a step in which every microbatch keeps all
                                          ///< its tensors
constexpr double kMostTokens = 1e9;       ///< tokens of a microbatch
constexpr double kMostScores = 1e17;      ///< scores of a microbatch's attention in one layer

void need_divides(Draft& draft, std::int64_t whole, std::int64_t parts, std::string_view what,
                  std::string_view key) {
    if (whole % parts == 0) return;
    draft.parallel.complain(key, fmt::format("{} {} cannot be cut into {}", whole, what, parts));
}

void need_heads_divide(Draft& draft, const models::Attention& attention, std::int64_t parts,
                       std::string_view key) {
    need_divides(draft, attention.heads, parts, "heads", key);
    if (attention.kv_heads != attention.heads)
        need_divides(draft, attention.kv_heads, parts, "key-value heads", key);
}

/// A model with a sharding table of its own is cut by that table, which only the graph can check.
/// The graph gets sequences that always divide, since these are checked elsewhere.
void check_sharding_table(Draft& draft) {
    const Scenario& s = draft.scenario;
    const bool images = s.model.sees_images();
    models::Execution execution = execution_of(s);
    execution.micro_batch = s.parallel.tensor;
    execution.seq_length = images ? s.model.max_positions : 1;
    execution.slices = execution.context = 1;
    execution.sequence_parallel = execution.sequence_parallel && !images;
    try {
        models::build_stage(s.model, execution,
                            {0, std::min(s.model.layers.count(), kMostLayersOfTable), true, true});
    } catch (const InputError& error) {
        for (const Diagnostic& mistake : error.diagnostics())
            draft.parallel.complain("tensor", mistake.message);
    }
}

/// Heads and groups of recurrent layers are cut as Megatron-Core cuts them.
void need_recurrence_divides(Draft& draft, const models::Layer& layer, std::int64_t parts,
                             std::string_view key) {
    if (const auto* mamba = layer.as<models::Mamba>()) {
        need_divides(draft, mamba->groups, parts, "groups of a state-space layer", key);
        need_divides(draft, mamba->heads, parts, "heads of a state-space layer", key);
    }
    if (const auto* net = layer.as<models::DeltaNet>()) {
        need_divides(draft, net->key_heads, parts, "key heads of a delta net", key);
        need_divides(draft, net->value_heads, parts, "value heads of a delta net", key);
    }
}

/// Context-parallel ranks exchange tokens for heads around a recurrence, however they share keys.
void check_recurrence(Draft& draft) {
    const Scenario& s = draft.scenario;
    for (const models::Layer& layer : s.model.layers.kinds()) {
        if (!layer.is_recurrent()) continue;
        if (s.parallel.context > 1)
            need_recurrence_divides(
                draft, layer, std::int64_t{s.parallel.tensor} * s.parallel.context, "context");
        if (s.schedule.slices > 1) {
            draft.top.complain("schedule",
                               "slices of a sequence with recurrent layers are not planned: each "
                               "would need the state of the one before it");
            return;
        }
    }
}

void check_tensor_cut(Draft& draft) {
    const models::Architecture& model = draft.scenario.model;
    const int t = draft.scenario.parallel.tensor;
    if (!model.sharding.empty()) {
        check_sharding_table(draft);
        return;
    }
    for (const models::Layer& layer : model.layers.kinds()) {
        if (const auto* attention = layer.as<models::Attention>())
            need_heads_divide(draft, *attention, t, "tensor");
        need_recurrence_divides(draft, layer, t, "tensor");
        if (const auto* mlp = layer.as<models::DenseMlp>())
            need_divides(draft, mlp->ffn, t, "columns of the MLP", "tensor");
    }
}

/// Where ranks exchange tokens for heads, every rank must get at least one head.
void check_exchange(Draft& draft) {
    const Scenario& s = draft.scenario;
    if (s.parallel.context > 1 &&
        s.framework.kernels.context_communication == models::ContextCommunication::TwoLevel) {
        draft.parallel.complain("context",
                                "context_communication a2a+p2p is not planned for context above 1; "
                                "p2p, all-gather and all-to-all are");
        return;
    }
    if (s.parallel.context == 1 ||
        s.framework.kernels.context_communication != models::ContextCommunication::AllToAll)
        return;
    const std::int64_t parts = std::int64_t{s.parallel.tensor} * s.parallel.context;
    if (s.model.sharding.empty()) {  // otherwise the graph checks it
        for (const models::Layer& layer : s.model.layers.kinds())
            if (const auto* attention = layer.as<models::Attention>())
                need_heads_divide(draft, *attention, parts, "context");
    }
    if (s.schedule.slices > 1)
        draft.parallel.complain("context",
                                "slices of a sequence are not exchanged for heads; "
                                "context_communication p2p and all-gather take them");
}

/// A factor that is the default is no wish.
void check_prediction(Draft& draft) {
    const Training& training = draft.scenario.training;
    if (draft.scenario.model.mtp_layers == 0 &&
        training.mtp_loss_scaling_factor != Training{}.mtp_loss_scaling_factor)
        draft.training.complain("mtp_loss_scaling_factor",
                                "the model has no layers that predict further tokens "
                                "('mtp_layers')");
}

/// What Megatron-Core refuses (core/transformer/transformer_config.py).
void check_shared_experts(Draft& draft) {
    const models::KernelOptions& kernels = draft.scenario.framework.kernels;
    if (!kernels.shared_expert_overlap) return;
    const models::Architecture& model = draft.scenario.model;
    const auto shared = [](const models::Layer& layer) {
        const auto* experts = layer.as<models::Experts>();
        return experts != nullptr && experts->shared_ffn > 0;
    };
    if (std::ranges::none_of(model.layers.kinds(), shared))
        draft.scenario.notes.push_back(
            "moe_shared_expert_overlap hides nothing: the model has no shared experts");
    else if (draft.scenario.parallel.expert == 1)
        draft.scenario.notes.push_back(
            "moe_shared_expert_overlap hides nothing: rows do not travel, since 'expert' is 1");
    if (kernels.dispatcher != models::Dispatcher::AllToAll)
        draft.top.complain("framework", "moe_shared_expert_overlap needs the dispatcher alltoall");
    if (draft.scenario.schedule.pairs_layers)
        draft.top.complain("framework",
                           fmt::format("moe_shared_expert_overlap and schedule '{}' both hide the "
                                       "exchange of experts, and exclude each other",
                                       draft.scenario.schedule.name));
}

/// Experts are distributed over a stage's ranks and cut there, by Megatron-Core's rules.
void check_experts(Draft& draft) {
    const models::Architecture& model = draft.scenario.model;
    Parallel& parallel = draft.scenario.parallel;
    parallel.expert_tensor =
        draft.expert_tensor.value_or(model.has_experts() ? parallel.tensor : 1);
    const auto complain = [&](std::string_view key, std::string sentence) {
        draft.parallel.complain(key, std::move(sentence));
    };
    if (!model.has_experts()) {
        if (parallel.expert > 1)
            complain("expert",
                     fmt::format("'expert' is {}, and the model has no experts", parallel.expert));
        if (parallel.expert_tensor > 1)
            complain("expert_tensor", fmt::format("'expert_tensor' is {}, and the model has no "
                                                  "experts",
                                                  parallel.expert_tensor));
        if (draft.scenario.training.expert_load > 1)
            draft.training.complain("expert_load", "the model has no experts to load");
        const RouterOptions& routers = draft.scenario.training.routers;
        if (routers.aux_loss_coeff > 0)
            draft.training.complain("moe_aux_loss_coeff", "the model has no experts to balance");
        if (routers.z_loss_coeff > 0)
            draft.training.complain("moe_z_loss_coeff", "the model has no router of experts");
        return;
    }
    for (const models::Layer& layer : model.layers.kinds()) {
        const auto* experts = layer.as<models::Experts>();
        if (experts == nullptr) continue;
        need_divides(draft, experts->count, parallel.expert, "experts", "expert");
        need_divides(draft, experts->ffn, parallel.expert_tensor, "columns of an expert",
                     "expert_tensor");
    }
    if (parallel.tensor > 1 && !parallel.sequence)
        complain("sequence",
                 "experts with tensor parallelism need sequence parallelism: each rank "
                 "sends tokens of its own to them");
    const int ranks = parallel.ranks_of_stage();
    const std::int64_t asked = std::int64_t{parallel.expert} * parallel.expert_tensor;
    if (ranks % asked != 0) {
        complain("expert", fmt::format("expert {} x expert_tensor {} are {} GPUs, but this number "
                                       "does not divide the {} that have a stage",
                                       parallel.expert, parallel.expert_tensor, asked, ranks));
        return;
    }
    if (parallel.expert_replicas() % parallel.copies() != 0)
        complain("shard", fmt::format("the {} ranks with the same experts cannot be cut into {} "
                                      "copies",
                                      parallel.expert_replicas(), parallel.copies()));
}

void check_sequence(Draft& draft) {
    const Scenario& s = draft.scenario;
    const std::int64_t length = s.training.seq_length;
    const auto complain = [&](std::string sentence) {
        draft.training.complain("seq_length", std::move(sentence));
    };
    if (s.model.sees_images()) {
        if (length != s.model.max_positions)
            complain(fmt::format(
                "the sequence of a ViT is all of its {} patches and class token, not {}",
                s.model.max_positions, length));
        if (s.parallel.sequence || s.parallel.context > 1 || s.schedule.slices > 1)
            draft.top.complain(
                "parallel",
                "the sequence of a ViT cannot be cut: its class token must be on every rank");
        return;
    }
    if (s.model.learned_positions && length > s.model.max_positions)
        complain(fmt::format("{} tokens are more than the {} learned positions", length,
                             s.model.max_positions));
    const std::int64_t cuts = std::int64_t{s.schedule.slices} * s.parallel.context;
    if (length % cuts != 0) {
        complain(fmt::format("{} tokens of a sequence cannot be cut into {}", length, cuts));
        return;
    }
    if (s.parallel.context > 1 && length % (2 * cuts) != 0) {
        complain(
            fmt::format("{} tokens of a sequence cannot be cut into {}: each context-parallel "
                        "rank has an early and a late stretch",
                        length, 2 * cuts));
        return;
    }
    const std::int64_t tokens = s.training.micro_batch * (length / cuts);
    if (s.parallel.sequence && tokens % s.parallel.tensor != 0)
        complain(
            fmt::format("{} tokens of the rank cannot be cut into {}", tokens, s.parallel.tensor));
}

/// A lower bound of the bytes that all forwards of a step make: sums of it must fit in 63 bits.
double made_bytes(const Scenario& s) {
    constexpr double kElements = 64;  // of a layer, per column of its width
    constexpr double kWidth = 4;      // in bytes
    const double tokens = static_cast<double>(s.training.micro_batch) *
                          static_cast<double>(s.training.seq_length) * s.training.micro_batches;
    double layers = 0;
    for (int layer = 0; layer < s.model.layers.count(); ++layer) {
        const models::LayerKeys keys = models::keys_of(s.model.layers[layer]);
        const auto experts = static_cast<double>(std::max<std::int64_t>(1, keys.experts_per_token));
        layers += kElements * static_cast<double>(s.model.hidden) +
                  8 * experts * static_cast<double>(keys.ffn);
        if (s.training.attention == models::AttentionKernel::Unfused)
            layers +=
                4 * static_cast<double>(s.training.seq_length) * static_cast<double>(keys.heads);
    }
    return kWidth * tokens * (layers + 4 * static_cast<double>(s.model.vocab));
}

void check_extent(Draft& draft) {
    const Scenario& s = draft.scenario;
    const double tokens =
        static_cast<double>(s.training.micro_batch) * static_cast<double>(s.training.seq_length);
    const auto heads = [](const models::Attention& attention) { return attention.heads; };
    const double scores = tokens * static_cast<double>(s.training.seq_length) *
                          static_cast<double>(s.model.layers.most<models::Attention>(heads));
    if (tokens > kMostTokens || scores > kMostScores)
        draft.top.complain(
            "training",
            fmt::format("a microbatch of {} tokens is more than can be planned", tokens));
    const PipelineShape shape = s.pipeline_shape();
    if (shape.computes() > kMostComputes)
        draft.top.complain(
            "training",
            fmt::format(
                "a step of about {:.0f} computes ({} stages x {} microbatches x {} slices, "
                "forward and both parts of backward) is more than the {:.0f} that can be planned",
                shape.computes(), shape.stages(), shape.micro_batches, shape.slices,
                kMostComputes));
    if (made_bytes(s) > kMostHeldBytes)
        draft.top.complain(
            "training",
            fmt::format("a step that makes {:.1e} bytes of activations is more than can be planned",
                        made_bytes(s)));
}

void check_partition(Draft& draft) {
    const Scenario& s = draft.scenario;
    const int stages = s.pipeline_shape().stages();
    if (!draft.mistakes().empty() && !draft.layout.empty()) return;  // it has been complained of
    try {
        if (s.parallel.partition == Partition::Explicit) {
            models::explicit_stages(s.parallel.layers_per_stage, s.model.layers.count(), stages);
            return;
        }
        const auto parts = models::uniform_stages(s.model.layers.count(), s.parallel.pipeline,
                                                  s.parallel.stages_per_rank);
        const std::string note = models::uneven_note(parts);
        if (!note.empty() && s.parallel.partition == Partition::Uniform)
            draft.scenario.notes.push_back(note);
    } catch (const InputError& error) {
        const bool list = s.parallel.partition == Partition::Explicit;
        const std::string_view key = draft.layout.empty() ? "partition" : "layout";
        draft.parallel.complain(list ? key : "pipeline", error.diagnostics().front().message);
    }
}

/// The layout's units are those of the model. Its layers of multi-token prediction are the model's
/// where that names none: published configurations of models leave them to the training.
void check_layout_of_model(Draft& draft) {
    if (draft.layout.empty()) return;
    models::Architecture& model = draft.scenario.model;
    const auto complain = [&](std::string sentence) {
        draft.parallel.complain("layout", std::move(sentence));
    };
    const int layers = models::layers_of(draft.layout);
    if (layers != model.layers.count())
        complain(fmt::format("the layout has {} layers (t), and the model {}", layers,
                             model.layers.count()));
    const int predictions = models::predictions_of(draft.layout);
    if (predictions != draft.layout.back().predictions)
        complain(
            "the stage of m is not that of L: multi-token prediction is planned in the stage that "
            "has the loss");
    if (model.mtp_layers > 0 && predictions != model.mtp_layers)
        complain(
            fmt::format("the layout has {} layers of multi-token prediction (m), and the "
                        "model {}",
                        predictions, model.mtp_layers));
    if (predictions > 0 && (model.sees_images() || model.learned_positions))
        complain("multi-token prediction (m) is not planned for images or with learned positions");
    model.mtp_layers = std::max(model.mtp_layers, predictions);
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
            "mla_up_proj is a part of latent attention, which the model does not have: nothing of "
            "it runs again");
    if ((has(models::Module::Moe) || has(models::Module::MoeActivation)) && !s.model.has_experts())
        notes.push_back(
            "moe and moe_act are parts of experts, which the model does not have: nothing of them "
            "runs again");
    if (s.training.precision.recipe == models::Recipe::Fp8Delayed &&
        (has(models::Module::MoeActivation) || has(models::Module::LayerNorm)))
        draft.training.complain(
            "recompute",
            "moe_act and layernorm do not run again with fp8-delayed, whose scales would change "
            "in between; other recipes can");
    if (s.training.expert_load_unknown && !s.model.has_experts())
        draft.training.complain("router", "the model has no router of experts");
    if (s.training.lora.adapts() && s.model.has_experts())
        draft.training.complain("lora", "adapters of experts are not planned");
    if (s.training.lora.adapts() && s.parallel.zero_stage == 3)
        draft.training.complain("lora",
                                "adapters are not planned where ZeRO-3 cuts the weights "
                                "beside them");
    if ((s.training.recompute == models::Recompute::Modules ||
         s.training.recompute == models::Recompute::Products || s.training.offload.any()) &&
        s.schedule.slices > 1)
        draft.training.complain(s.training.offload.any() ? "offload" : "recompute",
                                "modules are not recomputed or offloaded for slices of a sequence");
}

/// What Megatron-Core refuses beside the overlap of experts' exchange (Megatron-LM d98e8a6,
/// core/transformer/transformer_config.py:3002).
void check_overlapped_experts(Draft& draft) {
    const Scenario& s = draft.scenario;
    const auto refuse = [&](std::string_view what) {
        draft.top.complain(
            "schedule",
            fmt::format("schedule '{}' hides the exchange of experts: {}", s.schedule.name, what));
    };
    if (!s.model.has_experts()) {
        draft.scenario.notes.push_back(
            fmt::format("schedule '{}' hides nothing: the model has no experts", s.schedule.name));
        return;
    }
    if (s.parallel.expert == 1) refuse("it needs expert parallelism, and 'expert' is 1");
    if (s.framework.kernels.dispatcher == models::Dispatcher::AllGather)
        refuse("the dispatcher must be alltoall, deepep or hybridep, not allgather");
    if (s.training.recompute == models::Recompute::Full)
        refuse("whole layers cannot run again in it; modules other than moe can");
    if (s.training.recompute_extent.modules.has(models::Module::Moe))
        refuse("the module moe cannot run again in it");
    if (s.training.precision.compute == models::DataType::Fp32)
        refuse("it computes in 16 bits, and 'compute' is fp32");
    if (s.model.mtp_layers > 1)
        refuse(fmt::format("it takes one layer of multi-token prediction, and there are {}",
                           s.model.mtp_layers));
}

}  // namespace

void check_shards(Draft& draft) {
    const Parallel& parallel = draft.scenario.parallel;
    if (parallel.shard > 0 && parallel.replicas() % parallel.shard != 0) {
        draft.parallel.complain(
            "shard",
            fmt::format("{} replicas (data {} x context {}) cannot be cut into groups of "
                        "{}",
                        parallel.replicas(), parallel.data, parallel.context, parallel.shard));
        return;
    }
    if (parallel.shard > 0 && parallel.zero_stage == 0)
        draft.parallel.complain("shard", "zero_stage 0 cuts nothing over replicas");
    if (!parallel.reshard && parallel.zero_stage != 3)
        draft.parallel.complain("reshard", "only zero_stage 3 gathers parameters");
}

void check_cuts(Draft& draft) {
    check_layout_of_model(draft);
    check_modules(draft);
    check_experts(draft);
    check_shared_experts(draft);
    check_prediction(draft);
    check_tensor_cut(draft);
    check_exchange(draft);
    check_recurrence(draft);
    check_sequence(draft);
    check_partition(draft);
    check_extent(draft);
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
        generator != nullptr && s.schedule.csv.empty() && generator->note != nullptr)
        if (const Reason note = generator->note(s.pipeline_shape())) notes.push_back(*note);
    if (s.parallel.tensor > s.cluster.gpus_per_node)
        notes.push_back(fmt::format("tensor groups of {} GPUs span nodes of {}", s.parallel.tensor,
                                    s.cluster.gpus_per_node));
    if (s.parallel.zero_stage > 0 && !s.has_replicas())
        notes.push_back(fmt::format("zero_stage {} shards nothing: there is one replica",
                                    s.parallel.zero_stage));
    if (s.parallel.sequence && s.parallel.tensor == 1)
        notes.push_back("sequence parallelism does nothing without tensor parallelism");
    if (s.training.expert_load_unknown)
        notes.push_back(
            "the router learns: the load of the experts is not known, and is priced as balanced");
    if (s.cluster.gpu.fp16_flops_per_s == 0)
        notes.push_back(fmt::format("the peak rate of '{}' is not known, so there is no MFU",
                                    s.cluster.gpu.name));
}

}  // namespace debubble::scenarios

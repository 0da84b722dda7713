#include "models/memory/static_memory.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "base/check.h"

namespace debubble::models {

namespace {

Bytes& of(MemoryByClass& held, MemoryClass memory_class) {
    return held[memory_class];
}

/// The bytes of one 16-bit weight gradient per distinct shape of a product, the head's too, which
/// TransformerEngine >= 2.3 gives autograd when the real one went to the main gradient.
Bytes dummy_weight_gradients(const StageGraph& graph) {
    std::set<std::pair<std::int64_t, std::int64_t>> shapes;
    Bytes sum;
    if (graph.execution.lora) return sum;
    for (const Operator& op : graph.operators) {
        const auto add = [&](std::int64_t inputs, std::int64_t outputs) {
            if (shapes.insert({inputs, outputs}).second)
                sum += Bytes{size_of(graph.execution.compute) * inputs * outputs};
        };
        if (!op.parameters.empty() && graph.parameters[op.parameters.front()].frozen) continue;
        if (const auto* product = op.as<op::Linear>()) add(product->inputs, product->outputs);
        if (const auto* experts = op.as<op::ExpertProducts>())
            add(experts->inputs, experts->outputs);
    }
    return sum;
}

/// Bytes beyond the compute type's that the weights of 8-bit or 4-bit GEMMs hold; they may be less.
/// Shards of ZeRO-3 are cast as they are gathered.
Bytes casts_of_weights(const Execution& how, std::int64_t weights) {
    const auto wide = size_of(how.compute);
    const double more = weight_bytes(how.low_precision, wide) - static_cast<double>(wide);
    return Bytes{std::llround(more * static_cast<double>(weights))};
}

/// Parameters of experts and those outside of them have optimizers of their own, which step one
/// after the other.
Bytes widened_moments(const StaticPolicy& policy, const ParameterCount& parameters) {
    const auto part = [&](std::int64_t elements, int shards) {
        const int cuts = policy.cuts_state() ? shards : 1;
        return (elements + cuts - 1) / cuts;
    };
    return Bytes{policy.moment_count * size_of(DataType::Fp32) *
                 std::max(part(parameters.dense, policy.shards),
                          part(parameters.expert, policy.expert_shards))};
}

}  // namespace

std::int64_t optimizer_state_width(const StaticPolicy& policy, DataType compute) {
    std::int64_t width = 0;
    if (policy.main_parameters && size_of(*policy.main_parameters) > size_of(compute))
        width += size_of(*policy.main_parameters) - (policy.remainders ? size_of(compute) : 0);
    if (policy.moments_exist) width += policy.moment_count * size_of(policy.moments);
    return width;
}

StaticMemory static_memory(const StageGraph& graph, const StaticPolicy& policy) {
    return static_memory(graph, policy, graph.parameter_count());
}

StaticMemory static_memory(const StageGraph& graph, const StaticPolicy& policy,
                           const ParameterCount& parameters) {
    DEBUBBLE_CHECK(policy.shards >= 1 && policy.expert_shards >= 1, "a parameter is on some rank");
    const Execution& how = graph.execution;
    const auto part = [](std::int64_t elements, int shards) {
        return (elements + shards - 1) / shards;
    };
    const auto cut = [&](int from_stage) {
        const int stage = policy.shards_state ? std::max(policy.zero_stage, 1) : policy.zero_stage;
        if (stage < from_stage) return parameters.total();
        return part(parameters.dense, policy.shards) +
               part(parameters.expert, policy.expert_shards);
    };
    StaticMemory memory;
    const std::int64_t state_width = optimizer_state_width(policy, how.compute);
    const bool casts = policy.zero_stage == 3 && policy.casts_shards && policy.main_parameters &&
                       size_of(*policy.main_parameters) > size_of(how.compute);
    Bytes& held_parameters = of(memory.held, MemoryClass::Parameters);
    if (!casts) held_parameters = Bytes{size_of(how.compute) * (cut(3) + parameters.frozen)};
    if (policy.zero_stage == 3 && policy.keeps_parameters && policy.shards > 1)
        held_parameters += Bytes{size_of(how.compute) * parameters.total()};
    held_parameters += Bytes{size_of(how.compute) * policy.whole_parameters};
    if (policy.zero_stage < 3) held_parameters += casts_of_weights(how, parameters.narrow());
    const Bytes gradients{size_of(how.gradients) *
                          (policy.whole_gradients ? parameters.total() : cut(2))};
    if (policy.gradient_buffer) {
        of(memory.held, MemoryClass::Gradients) = gradients;
    } else {
        memory.gradients_in_backward = gradients;
    }
    if (policy.second_gradients)
        of(memory.held, MemoryClass::Gradients) += Bytes{size_of(how.compute) * parameters.total()};
    Bytes state{state_width * cut(1)};
    if (policy.steps_matrices) {
        const int cuts = policy.cuts_state() ? policy.shards : 1;
        const int expert_cuts = policy.cuts_state() ? policy.expert_shards : 1;
        if (policy.moments_exist)
            state -=
                Bytes{size_of(policy.moments) * (part(parameters.dense_matrices, cuts) +
                                                 part(parameters.expert_matrices, expert_cuts))};
        memory.optimizer_step = Bytes{size_of(DataType::Fp32) * parameters.matrix_step};
    }
    if (policy.state_on_host)
        memory.optimizer_step += std::min(policy.offload_buffer, state);
    else
        of(memory.held, MemoryClass::Optimizer) = state;
    Bytes& buffers = of(memory.held, MemoryClass::Buffers);
    buffers = policy.library_workspace;
    if (policy.ddp_buckets) buffers += Bytes{size_of(how.gradients) * parameters.total()};
    if (how.kernels.dummy_weight_gradients && how.kernels.gradient_accumulation_fusion) {
        buffers += dummy_weight_gradients(graph);
    }
    if (how.sequence_parallel && !how.kernels.keeps_gathered && how.tensor > 1 &&
        graph.content.head) {
        // Megatron-LM gathers the head's input in a buffer that it keeps.
        buffers += graph.boundary_bytes() * how.tensor;
    }
    if (policy.converts_gradients && !policy.state_on_host && how.gradients != DataType::Fp32)
        memory.optimizer_step += Bytes{size_of(DataType::Fp32) * cut(1)};
    if (policy.widens_moments && !policy.state_on_host && policy.moments != DataType::Fp32)
        memory.optimizer_step += widened_moments(policy, parameters);
    if (policy.foreach_optimizer && !policy.state_on_host)
        memory.optimizer_step += Bytes{size_of(how.gradients) * cut(1)};
    if (policy.step_copies) {
        memory.optimizer_step += Bytes{size_of(how.compute) * cut(1)};
        if (!policy.state_on_host) memory.optimizer_step += state;
    }
    return memory;
}

}  // namespace debubble::models

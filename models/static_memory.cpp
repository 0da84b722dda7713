#include "models/static_memory.h"

#include <cassert>
#include <set>
#include <utility>

namespace debubble::models {

namespace {

Bytes& of(MemoryByClass& held, MemoryClass memory_class) {
    return held[static_cast<std::size_t>(memory_class)];
}

/// One 16-bit weight gradient per distinct shape of a product, the head's too: what
/// TransformerEngine >= 2.3 gives autograd when the real one went to the main gradient.
Bytes dummy_weight_gradients(const StageGraph& graph) {
    std::set<std::pair<std::int64_t, std::int64_t>> shapes;
    Bytes sum;
    for (const Operator& op : graph.operators) {
        if (op.kind != OperatorKind::Linear) continue;
        for (const Kernel& kernel : op.forward) {
            const auto* gemm = std::get_if<Gemm>(&kernel.work);
            if (gemm && shapes.insert({gemm->k, gemm->n}).second) {
                sum += Bytes{size_of(graph.execution.compute) * gemm->k * gemm->n};
            }
        }
    }
    return sum;
}

}  // namespace

StaticMemory static_memory(const StageGraph& graph, const StaticPolicy& policy) {
    return static_memory(graph, policy, graph.parameter_elements());
}

StaticMemory static_memory(const StageGraph& graph, const StaticPolicy& policy,
                           std::int64_t elements) {
    assert(policy.shards >= 1 && "a parameter is on at least one rank");
    const Execution& how = graph.execution;
    const auto cut = [&](int from_stage) {
        if (policy.zero_stage < from_stage) return elements;
        return (elements + policy.shards - 1) / policy.shards;
    };
    StaticMemory memory;
    of(memory.held, MemoryClass::Parameters) = Bytes{size_of(how.compute) * cut(3)};
    const Bytes gradients{size_of(how.gradients) * cut(2)};
    if (policy.gradient_buffer) {
        of(memory.held, MemoryClass::Gradients) = gradients;
    } else {
        memory.gradients_in_backward = gradients;
    }
    Bytes& optimizer = of(memory.held, MemoryClass::Optimizer);
    if (policy.main_parameters && size_of(*policy.main_parameters) > size_of(how.compute)) {
        optimizer += Bytes{size_of(*policy.main_parameters) * cut(1)};
    }
    if (policy.moments_exist)
        optimizer += Bytes{policy.moment_count * size_of(policy.moments) * cut(1)};
    Bytes& buffers = of(memory.held, MemoryClass::Buffers);
    buffers = policy.library_workspace;
    if (policy.ddp_buckets) buffers += Bytes{size_of(how.gradients) * elements};
    if (how.dummy_weight_gradients && how.gradient_accumulation_fusion) {
        buffers += dummy_weight_gradients(graph);
    }
    if (how.sequence_parallel && !how.keeps_gathered && how.tensor > 1 && graph.content.head) {
        // Megatron-LM gathers the head's input in a buffer that it keeps.
        buffers += graph.boundary_bytes() * how.tensor;
    }
    if (policy.foreach_optimizer) memory.optimizer_step = Bytes{size_of(how.gradients) * cut(1)};
    return memory;
}

}  // namespace debubble::models

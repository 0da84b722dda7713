#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "scenarios/read/draft.h"

/// The numbers that must agree: those that were not given follow from the rest, and those that were
/// given twice are compared.
namespace debubble::scenarios {
namespace {

/// The key that a sentence about the number of GPUs should point at.
std::string_view said(const Draft& draft) {
    return draft.gpus ? "gpus" : "nodes";
}

/// All GPUs of the cluster; where its experts cannot be shared by the ranks of a stage then, the
/// most of them, or the fewest beyond them, that can.
std::int64_t default_gpus(const Draft& draft) {
    const Scenario& s = draft.scenario;
    const std::int64_t all = std::int64_t{s.cluster.nodes} * s.cluster.gpus_per_node;
    if (!s.model.has_experts()) return all;
    const std::int64_t of_stage = std::int64_t{s.parallel.tensor} * s.parallel.context;
    const std::int64_t of_experts =
        std::int64_t{s.parallel.expert} * draft.expert_tensor.value_or(s.parallel.tensor);
    const std::int64_t least = std::lcm(of_stage, of_experts) * s.parallel.pipeline;
    return std::max(least, all / least * least);
}

/// The number of GPUs that the scenario asks for; 0 if it leaves it to `parallel`.
std::int64_t asked_gpus(Draft& draft) {
    const int per_node = draft.scenario.cluster.gpus_per_node;
    if (draft.gpus && draft.nodes) {
        const int share = *draft.gpus / *draft.nodes;
        if (*draft.gpus % *draft.nodes != 0)
            draft.top.complain("gpus", fmt::format("{} GPUs cannot be spread evenly over {} nodes",
                                                   *draft.gpus, *draft.nodes));
        else if (share > per_node)
            draft.top.complain(
                "gpus",
                fmt::format("{} GPUs on {} nodes are {} per node, but '{}' has {}", *draft.gpus,
                            *draft.nodes, share, draft.scenario.cluster.name, per_node));
        else
            draft.scenario.cluster.gpus_per_node = share;
        return *draft.gpus;
    }
    if (draft.gpus) return *draft.gpus;
    if (draft.nodes) return std::int64_t{*draft.nodes} * per_node;
    if (draft.data) return 0;
    return default_gpus(draft);
}

/// A job of more trays than a domain has takes equally many of each: the greatest divisor of its
/// trays that fits (Slurm's segments, as NVIDIA's dgxc-benchmarking asks for them). Every tray
/// brings its own adapters.
void take_segments(Cluster& cluster, int gpus) {
    const int tray = cluster.gpus_per_tray.value_or(cluster.gpus_per_node);
    if (gpus <= cluster.gpus_per_node || gpus % tray != 0) return;
    const int trays = gpus / tray;
    int segment = cluster.gpus_per_node / tray;
    while (trays % segment != 0) --segment;
    const int taken = segment * tray;
    NodeNetwork& network = cluster.network;
    network.nics_per_node = std::max(1, network.nics_per_node * taken / cluster.gpus_per_node);
    cluster.gpus_per_node = taken;
}

void spread_over_nodes(Draft& draft) {
    Cluster& cluster = draft.scenario.cluster;
    const int gpus = draft.scenario.gpus;
    take_segments(cluster, gpus);
    cluster.nodes = (gpus + cluster.gpus_per_node - 1) / cluster.gpus_per_node;
    if (gpus > cluster.gpus_per_node && gpus % cluster.gpus_per_node != 0)
        draft.top.complain(
            said(draft),
            fmt::format("{} GPUs do not fill nodes of {}; give 'nodes' too if each has fewer", gpus,
                        cluster.gpus_per_node));
}

}  // namespace

void settle_gpus(Draft& draft) {
    Parallel& parallel = draft.scenario.parallel;
    const std::int64_t model = std::int64_t{parallel.tensor} * parallel.pipeline * parallel.context;
    const std::int64_t asked = asked_gpus(draft);
    if (!draft.mistakes().empty()) return;
    const std::string product = fmt::format("tensor {} x pipeline {} x context {}", parallel.tensor,
                                            parallel.pipeline, parallel.context);
    if (model > kMostGpus || asked > kMostGpus || (draft.data && model * *draft.data > kMostGpus)) {
        draft.top.complain("parallel",
                           fmt::format("plans of more than {} GPUs are not supported", kMostGpus));
        return;
    }
    if (draft.data) {
        parallel.data = *draft.data;
        if (asked != 0 && model * parallel.data != asked)
            draft.top.complain(said(draft),
                               fmt::format("{} x data {} = {} GPUs, but there are {}", product,
                                           parallel.data, model * parallel.data, asked));
    } else if (asked % model != 0 || asked == 0) {
        const std::string_view key = draft.gpus || draft.nodes ? said(draft) : "parallel";
        draft.top.complain(
            key, fmt::format("{} needs a multiple of {} GPUs, not {}", product, model, asked));
        return;
    } else {
        parallel.data = static_cast<int>(asked / model);
    }
    draft.scenario.gpus = static_cast<int>(model * parallel.data);
    spread_over_nodes(draft);
}

void settle_batches(Draft& draft) {
    Training& t = draft.scenario.training;
    const std::int64_t d = draft.scenario.parallel.data;
    if (!draft.global_batch) {
        t.micro_batch = draft.micro_batch.value_or(1);
        t.micro_batches = draft.micro_batches.value_or(1);
        const std::int64_t global = std::int64_t{t.micro_batch} * t.micro_batches * d;
        if (global > kMostSamples)
            draft.top.complain(
                "training",
                fmt::format("a step of {} samples exceeds the limit of {}", global, kMostSamples));
        t.global_batch = static_cast<int>(std::min<std::int64_t>(global, kMostSamples));
        return;
    }
    const std::int64_t global = *draft.global_batch;
    t.global_batch = *draft.global_batch;
    if (global % d != 0) {
        draft.training.complain(
            "global_batch",
            fmt::format("a global batch of {} cannot be divided among {} replicas", global, d));
        return;
    }
    const std::int64_t share = global / d;
    const bool from_count = draft.micro_batches && !draft.micro_batch;
    const std::int64_t part = from_count ? *draft.micro_batches : draft.micro_batch.value_or(1);
    if (share % part != 0) {
        draft.training.complain(
            from_count ? "micro_batches" : "micro_batch",
            from_count
                ? fmt::format("{} samples per replica cannot be divided into {} microbatches",
                              share, part)
                : fmt::format("{} samples per replica cannot be divided into microbatches of {}",
                              share, part));
        return;
    }
    t.micro_batch = static_cast<int>(from_count ? share / part : part);
    const std::int64_t count = from_count ? part : share / part;
    t.micro_batches = static_cast<int>(count);
    if (draft.micro_batches && count != *draft.micro_batches)
        draft.training.complain(
            "micro_batches",
            fmt::format("a global batch of {} over {} replicas in microbatches of {} makes {} "
                        "{}, not {}",
                        global, d, part, count, count == 1 ? "microbatch" : "microbatches",
                        *draft.micro_batches));
    if (count > kMostMicroBatches)
        draft.training.complain(
            "global_batch", fmt::format("{} microbatches per step exceed the limit of {}", count,
                                        kMostMicroBatches));
}

}  // namespace debubble::scenarios

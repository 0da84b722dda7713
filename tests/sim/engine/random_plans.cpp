#include "tests/sim/engine/random_plans.h"

#include <array>

#include <fmt/format.h>

#include "schedule/generators/generators.h"

namespace debubble::sim {
namespace {

/// Every other word of the text that follows it.
struct ClusterShape {
    const char* name;
    int gpus_per_node;
    double nic_gbit_per_s;
    int nics;
    double node_link_gb_per_s;
    double fp16_tflops;
    double memory_gb_per_s;
};
constexpr std::array<ClusterShape, 4> kClusters{{{"dgx-a100-80gb", 8, 200, 8, 300, 312, 2039},
                                                 {"hgx-h100", 8, 400, 8, 450, 989, 3350},
                                                 {"dgx-v100", 8, 100, 4, 150, 125, 900},
                                                 {"dgx-a100-40gb", 8, 200, 8, 300, 312, 1555}}};

const ClusterShape& shape_of(const std::string& name) {
    for (const ClusterShape& shape : kClusters)
        if (shape.name == name) return shape;
    return kClusters.front();
}

int stages_factor(const RandomJob& job) {
    return job.schedule == "dualpipe" || job.schedule == "chimera" ? 1 : job.chunks;
}

}  // namespace

std::uint64_t Dice::next() {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
}

bool searches_its_order(const RandomJob& job) {
    const Generator* generator = find_generator(job.schedule);
    return generator != nullptr && generator->uses_costs;
}

RandomJob random_job(Dice& dice) {
    RandomJob job;
    job.experts = dice.chance(20);
    job.model = job.experts ? "mixtral-8x7b"
                            : dice.one_of<std::string>({"llama3-8b", "gpt2-xl", "llama2-7b",
                                                        "llama2-13b", "gpt-3.6b", "llama3-70b"});
    job.cluster = kClusters[static_cast<std::size_t>(dice.roll(kClusters.size()))].name;
    const int node = shape_of(job.cluster).gpus_per_node;
    job.tensor = dice.one_of<int>({1, 1, 2, 4, 8, 8, 16});
    job.context = dice.one_of<int>({1, 1, 1, 2, 4});
    job.pipeline = dice.one_of<int>({1, 2, 2, 4, 4, 8});
    job.data = dice.one_of<int>({1, 2, 2, 4, 4, 8});
    job.gpus = job.tensor * job.context * job.pipeline * job.data;
    if (job.gpus % node != 0 && job.gpus > node) job.gpus = 0;  // refused below
    if (job.experts) job.expert = dice.one_of<int>({1, 2, 4, 8});
    job.zero_stage = dice.roll(4);
    job.wrap_stage = dice.chance(50);
    job.sequence = job.tensor > 1 && dice.chance(60);
    const Generator& generator =
        generators()[static_cast<std::size_t>(dice.roll(static_cast<int>(generators().size())))];
    job.schedule = generator.name;
    job.chunks = generator.stages_per_rank.value_or(dice.one_of<int>({1, 2, 3}));
    if (job.pipeline == 1 && dice.chance(70)) {
        job.schedule = "1f1b";
        job.chunks = 1;
    }
    job.layers_per_stage = dice.one_of<int>({1, 2, 3, 4});
    if (job.pipeline * job.chunks == 1) job.layers_per_stage += dice.roll(12);
    job.micro_batches = dice.one_of<int>({4, 8, 8, 16});
    job.seq_length = dice.one_of<int>({512, 1024, 2048, 4096, 8192});
    job.framework = dice.one_of<std::string>({"megatron-2021", "megatron-2024", "megatron-2024",
                                              "megatron-2026", "pytorch-eager", "debubble"});
    job.recompute = dice.one_of<std::string>({"none", "none", "selective", "full"});
    if (dice.chance(70)) job.network_gb_per_s = dice.one_of<double>({3, 12.5, 25, 50, 100});
    job.leaves = dice.chance(25);
    return job;
}

std::string to_text(const RandomJob& job) {
    const ClusterShape& cluster = shape_of(job.cluster);
    const double nic = (job.network_gb_per_s > 0 ? job.network_gb_per_s * 8 / cluster.nics
                                                 : cluster.nic_gbit_per_s) *
                       job.wider_network;
    std::string schedule = job.schedule;
    if (!job.csv.empty())
        schedule = fmt::format("{{csv: {}, placement: {}}}", job.csv, job.placement);
    std::string text = fmt::format(
        "model: {{base: {}, layers: {}}}\n"
        "cluster: {}\ngpus: {}\n"
        "parallel: {{tensor: {}, pipeline: {}, context: {}, data: {}, zero_stage: {}, wrap: {}, "
        "sequence: {}, stages_per_rank: {}{}}}\n"
        "schedule: {}\n"
        "training: {{micro_batches: {}, micro_batch: 1, global_batch: {}, seq_length: {}, "
        "recompute: {}}}\n"
        "framework: {}\n",
        job.model, job.layers(), job.cluster, job.gpus, job.tensor, job.pipeline, job.context,
        job.data, job.zero_stage, job.wrap_stage ? "stage" : "layer", job.sequence,
        stages_factor(job), job.experts ? fmt::format(", expert: {}", job.expert) : "", schedule,
        job.micro_batches, job.micro_batches * job.data, job.seq_length, job.recompute,
        job.nothing_hidden ? fmt::format("{{base: {}, overlap_grad_reduce: false, "
                                         "overlap_param_gather: false}}",
                                         job.framework)
                           : job.framework);
    text +=
        fmt::format("# network {:.6g} Gb/s a card, leaves {}, GPU x {:.6g}, node link x {:.6g}\n",
                    nic, job.leaves, job.faster_gpu, job.wider_node_link);
    return text;
}

scenarios::Scenario scenario_of(const RandomJob& job) {
    const ClusterShape& cluster = shape_of(job.cluster);
    const double nic = (job.network_gb_per_s > 0 ? job.network_gb_per_s * 8 / cluster.nics
                                                 : cluster.nic_gbit_per_s) *
                       job.wider_network;
    std::vector<scenarios::Override> with{
        {"cluster.network.nic_bandwidth", fmt::format("{:.6f} Gb/s", nic)},
        {"cluster.node_link.bandwidth",
         fmt::format("{:.6f} GB/s", cluster.node_link_gb_per_s * job.wider_node_link)},
        {"cluster.gpu.fp16_flops",
         fmt::format("{:.6f} TFLOP/s", cluster.fp16_tflops * job.faster_gpu)},
        {"cluster.gpu.memory_bandwidth",
         fmt::format("{:.6f} GB/s", cluster.memory_gb_per_s * job.faster_gpu)}};
    if (job.leaves) {
        with.push_back({"cluster.network.nodes_per_leaf", "2"});
        with.push_back({"cluster.network.oversubscription", "2"});
    }
    return scenarios::parse_scenario(to_text(job), "random.yaml", with);
}

std::vector<Easier> easier_jobs(const RandomJob& job) {
    std::vector<Easier> all;
    const auto add = [&](std::string_view what, auto change) {
        RandomJob easier = job;
        change(easier);
        all.push_back({what, easier});
    };
    add("half the sequence", [](RandomJob& j) { j.seq_length /= 2; });
    add("an eighth of the sequence", [](RandomJob& j) { j.seq_length /= 8; });
    if (job.layers_per_stage > 1) add("fewer layers", [](RandomJob& j) { --j.layers_per_stage; });
    add("a GPU 1.3 times as fast", [](RandomJob& j) { j.faster_gpu *= 1.3; });
    add("a GPU four times as fast", [](RandomJob& j) { j.faster_gpu *= 4; });
    add("a network 1.5 times as wide", [](RandomJob& j) { j.wider_network *= 1.5; });
    add("a network four times as wide", [](RandomJob& j) { j.wider_network *= 4; });
    add("links in the node twice as wide", [](RandomJob& j) { j.wider_node_link *= 2; });
    return all;
}

}  // namespace debubble::sim

#include "tests/sim/engine/random_plans.h"

#include <map>

#include <fmt/format.h>

#include "scenarios/cluster/reader.h"
#include "schedule/generators/generators.h"

namespace debubble::sim {
namespace {

const std::vector<std::string>& clusters() {
    static const std::vector<std::string> all{
        "a40-pair",   "dgx-a100-40gb", "dgx-a100-80gb", "dgx-v100",   "hgx-b200",
        "hgx-b300",   "hgx-h100",      "hgx-h200",      "hgx-h800",   "hgx-mi300x",
        "hgx-mi325x", "hgx-mi355x",    "nvl72-gb200",   "nvl72-gb300"};
    return all;
}

const scenarios::Cluster& shipped(const std::string& name) {
    static std::map<std::string, scenarios::Cluster> known;
    const auto [at, fresh] = known.try_emplace(name);
    if (fresh) at->second = scenarios::read_cluster(name);
    return at->second;
}

int stages_factor(const RandomJob& job) {
    return job.schedule == "dualpipe" || job.schedule == "chimera" ? 1 : job.chunks;
}

std::string experts_text(const RandomJob& job) {
    if (!job.experts) return {};
    return fmt::format(
        ", expert: {}{}", job.expert,
        job.expert_tensor > 0 ? fmt::format(", expert_tensor: {}", job.expert_tensor) : "");
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
    job.experts = dice.chance(30);
    job.model =
        job.experts
            ? dice.one_of<std::string>(
                  {"mixtral-8x7b", "qwen3-30b-a3b", "deepseek-v2-lite", "gpt-oss-20b"})
            : dice.one_of<std::string>({"llama3-8b", "gpt2-xl", "llama2-7b", "llama2-13b",
                                        "gpt-3.6b", "llama3-70b", "gpt-neox-20b", "olmo2-7b"});
    job.cluster = dice.one_of(clusters());
    const int node = shipped(job.cluster).gpus_per_node;
    job.tensor = dice.one_of<int>({1, 1, 2, 4, 8, 8, 16});
    job.context = dice.one_of<int>({1, 1, 1, 2, 4});
    job.pipeline = dice.one_of<int>({1, 2, 2, 4, 4, 8});
    job.data = dice.one_of<int>({1, 2, 2, 4, 4, 8});
    job.gpus = job.tensor * job.context * job.pipeline * job.data;
    if (job.gpus % node != 0 && job.gpus > node) job.gpus = 0;  // refused below
    if (job.experts) job.expert = dice.one_of<int>({1, 2, 4, 8});
    if (job.experts) job.expert_tensor = dice.chance(50) ? 1 : 0;
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
                                              "megatron-2026", "megatron-2026", "pytorch-eager",
                                              "pytorch-fsdp1", "pytorch-fsdp2", "deepspeed",
                                              "primus-2026", "debubble"});
    job.recompute = dice.one_of<std::string>({"none", "none", "selective", "full"});
    if (dice.chance(70)) job.network_gb_per_s = dice.one_of<double>({3, 12.5, 25, 50, 100});
    job.leaves = dice.chance(25);
    return job;
}

std::string to_text(const RandomJob& job) {
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
        stages_factor(job), experts_text(job), schedule, job.micro_batches,
        job.micro_batches * job.data, job.seq_length, job.recompute,
        job.nothing_hidden ? fmt::format("{{base: {}, overlap_grad_reduce: false, "
                                         "overlap_param_gather: false}}",
                                         job.framework)
                           : job.framework);
    text += fmt::format(
        "# network {:.6g} GB/s a node (0: its own), leaves {}, x {:.6g}, node link x {:.6g}, "
        "products x {:.6g}, "
        "memory x {:.6g}\n",
        job.network_gb_per_s, job.leaves, job.wider_network, job.wider_node_link,
        job.faster_products, job.faster_memory);
    return text;
}

scenarios::Scenario scenario_of(const RandomJob& job) {
    std::vector<scenarios::Override> with;
    if (job.leaves) {
        with.push_back({"cluster.network.nodes_per_leaf", "2"});
        with.push_back({"cluster.network.oversubscription", "2"});
    }
    scenarios::Scenario scenario = scenarios::parse_scenario(to_text(job), "random.yaml", with);
    scenarios::NodeNetwork& network = scenario.cluster.network;
    if (job.network_gb_per_s > 0)
        network.nic_bandwidth = {job.network_gb_per_s * 1e9 / network.nics_per_node};
    network.nic_bandwidth.value *= job.wider_network;
    scenario.cluster.node_link.bandwidth.value *= job.wider_node_link;
    scenarios::Gpu& gpu = scenario.cluster.gpu;
    for (std::optional<double>* rate :
         {&gpu.fp16_flops_per_s, &gpu.fp8_flops_per_s, &gpu.fp4_flops_per_s, &gpu.fp32_flops_per_s})
        if (*rate) **rate *= job.faster_products;
    gpu.memory_bandwidth.value *= job.faster_memory;
    return scenario;
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
    for (const double times : {1.3, 4.0})
        add("a faster GPU", [&](RandomJob& j) {
            j.faster_products *= times;
            j.faster_memory *= times;
        });
    add("products twice as fast", [](RandomJob& j) { j.faster_products *= 2; });
    add("memory twice as fast", [](RandomJob& j) { j.faster_memory *= 2; });
    add("a network 1.5 times as wide", [](RandomJob& j) { j.wider_network *= 1.5; });
    add("a network twice as wide", [](RandomJob& j) { j.wider_network *= 2; });
    add("a network four times as wide", [](RandomJob& j) { j.wider_network *= 4; });
    add("links in the node twice as wide", [](RandomJob& j) { j.wider_node_link *= 2; });
    return all;
}

}  // namespace debubble::sim

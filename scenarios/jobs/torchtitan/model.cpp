#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "scenarios/jobs/read/zoo_names.h"
#include "scenarios/jobs/torchtitan/torchtitan.h"

namespace debubble::jobs {
namespace {

/// torchtitan v0.2.2, models/llama3/__init__.py; the ffn is ceil(8 dim / 3 x multiplier) to a
/// multiple.
struct Llama3Flavor {
    std::string_view name;
    std::int64_t hidden, layers, heads, kv_heads, ffn, vocab;
};
constexpr Llama3Flavor kLlama3[] = {{"debugmodel", 256, 6, 16, 16, 768, 2048},
                                    {"8B", 4096, 32, 32, 8, 14336, 128256},
                                    {"70B", 8192, 80, 64, 8, 28672, 128256},
                                    {"405B", 16384, 126, 128, 8, 53248, 128256}};

/// Flavors that are models of the zoo, with their layers.
struct ZooFlavor {
    std::string_view model, flavor, zoo;
    std::int64_t layers;
};
constexpr ZooFlavor kZoo[] = {{"deepseek_v3", "671B", "deepseek-v3", 61},
                              {"deepseek_v3", "16B", "deepseek-v2-lite", 27},
                              {"qwen3", "8B", "qwen3-8b", 36},
                              {"qwen3", "32B", "qwen3-32b", 64},
                              {"qwen3", "30B-A3B", "qwen3-30b-a3b", 48},
                              {"qwen3", "235B-A22B", "qwen3-235b-a22b", 94},
                              {"llama4", "17bx16e", "llama4-scout", 48},
                              {"llama4", "17bx128e", "llama4-maverick", 48},
                              {"gpt_oss", "20b", "gpt-oss-20b", 24},
                              {"gpt_oss", "120b", "gpt-oss-120b", 36}};

void set_llama3(Reading& job, const Llama3Flavor& flavor, const Setting* from) {
    job.set("model.family", std::string("llama"), from);
    job.set("model.layers", flavor.layers, from);
    job.set("model.hidden", flavor.hidden, from);
    job.set("model.heads", flavor.heads, from);
    if (flavor.kv_heads != flavor.heads) job.set("model.kv_heads", flavor.kv_heads, from);
    job.set("model.ffn", flavor.ffn, from);
    job.set("model.vocab", flavor.vocab, from);
    const auto length = job.in.whole("training.seq_len", 1, kMost);
    const auto context = job.in.whole("training.max_context_length", 1, kMost);
    job.set("model.max_positions", length.value_or(context.value_or(8192)), nullptr,
            "training.seq_len");
    job.set("model.norm_eps", std::string("1e-5"), from);
    job.set("model.rope_theta", std::int64_t{500'000}, from);
    job.note("RoPE is scaled (Llama 3.1), which does not affect the plan");
}

/// Flavors that have the sizes of a network of the hub.
std::optional<ZooModel> hub_flavor_of(const std::string& model, std::string flavor) {
    std::ranges::transform(flavor, flavor.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (model == "qwen3") return hub_network_of("qwen3-" + flavor);
    if (model == "deepseek_v3_classic") return hub_network_of("deepseek-classic-" + flavor);
    if (model == "deepseek_v3" && flavor == "236b") return hub_network_of("deepseek-v2");
    return {};
}

}  // namespace

std::int64_t read_titan_model(Reading& job) {
    Settings& in = job.in;
    std::string name = in.word("model.name").value_or("");
    std::string flavor = in.word("model.flavor").value_or("");
    const Setting* from = in.find("model.flavor");
    // A function of a module, as `--module llama3 --config llama3_8b` names it.
    if (const auto module = in.word("module")) name = module->substr(module->rfind('.') + 1);
    if (in.has("config")) from = in.find("config");
    if (job.has_model()) return 0;
    for (const Llama3Flavor& one : kLlama3)
        if (name == "llama3" &&
            (flavor == one.name || flavor.starts_with(std::string(one.name) + "_"))) {
            Llama3Flavor cut = one;  // of fewer layers, as Primus's jobs say it
            if (const auto layers = in.whole("primus.n_layers", 1, 10'000)) cut.layers = *layers;
            set_llama3(job, cut, from);
            if (cut.layers != one.layers)
                job.set("model.layers", cut.layers, in.find("primus.n_layers"));
            return cut.layers;
        }
    for (const ZooFlavor& one : kZoo)
        if (name == one.model && flavor.starts_with(one.flavor)) {
            job.set("model", std::string(one.zoo), from);
            return one.layers;
        }
    if (const auto known = hub_flavor_of(name, flavor)) {
        job.set("model", std::string(known->zoo), from);
        return known->layers;
    }
    job.ask(
        fmt::format("the model '{}' of flavor '{}' is defined in Python and unknown; give one by "
                    "--set model=NAME or a config.json",
                    name, flavor));
    return 0;
}

TitanFlavor titan_flavor_of(const models::Architecture& model) {
    for (const ZooFlavor& one : kZoo)
        if (model.name == one.zoo) return {std::string(one.model), std::string(one.flavor)};
    const auto* attention = model.layers.first<models::Attention>();
    const auto* mlp = model.layers.first<models::DenseMlp>();
    if (attention == nullptr || mlp == nullptr || model.family != models::Family::Llama ||
        attention->rope_theta != 500'000 || model.tied_embedding)
        return {};
    for (const Llama3Flavor& one : kLlama3)
        if (model.hidden == one.hidden && model.layers.count() == one.layers &&
            attention->heads == one.heads && attention->kv_heads == one.kv_heads &&
            mlp->ffn == one.ffn && model.vocab == one.vocab)
            return {"llama3", std::string(one.name)};
    return {};
}

std::vector<std::int64_t> titan_partition(std::int64_t layers, std::int64_t stages,
                                          std::int64_t first, std::int64_t last) {
    const std::int64_t units = layers + first + last;
    std::vector<std::int64_t> partition;
    for (std::int64_t i = 0; i < stages; ++i)
        partition.push_back(units / stages + (i < units % stages ? 1 : 0));
    partition.front() -= first;
    partition.back() -= last;
    if (std::ranges::min(partition) < 0) return {};
    return partition;
}

}  // namespace debubble::jobs

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scenarios/jobs/megatron/megatron.h"

namespace debubble::jobs {
namespace {

void read_loss(Reading& job) {
    Settings& in = job.in;
    const bool fused = in.is_on("cross_entropy_loss_fusion");
    const std::string word = in.word("cross_entropy_fusion_impl").value_or("native");
    const Setting* const from = in.find("cross_entropy_loss_fusion");
    if (!fused) {
        job.set("framework.loss", std::string("unfused"), nullptr, "no cross_entropy_loss_fusion");
        return;
    }
    job.set("framework.loss", std::string(word == "te" ? "transformer-engine" : "megatron-fused"),
            word == "te" ? in.find("cross_entropy_fusion_impl") : from);
}

void read_overlaps(Reading& job, const MegatronDialect& dialect, const MegatronCut& cut,
                   std::int64_t gradient_bytes) {
    Settings& in = job.in;
    const bool reduces = in.flag("overlap_grad_reduce").value_or(dialect.is_bridge);
    const bool gathers = in.flag("overlap_param_gather").value_or(dialect.is_bridge);
    job.set("framework.overlap_grad_reduce", reduces, in.find("overlap_grad_reduce"));
    job.set("framework.overlap_param_gather", gathers, in.find("overlap_param_gather"));
    const auto size = in.whole("ddp_bucket_size", 1, 1'000'000'000'000);
    const auto field = in.whole("bucket_size", 1, 1'000'000'000'000);
    const std::optional<std::int64_t> said = size ? size : field;
    const std::int64_t rule = dialect.bucket_elements.value_or(
        std::max<std::int64_t>(40'000'000, 1'000'000 * cut.data.value_or(1)));
    if (!reduces || cut.zero_stage >= 2 || !cut.data) return;
    const std::int64_t bytes = said.value_or(rule) * gradient_bytes;
    const bool mib = bytes % (1 << 20) == 0;
    job.set("framework.grad_bucket",
            mib ? fmt::format("{} MiB", bytes >> 20) : fmt::format("{} B", bytes),
            in.find(size ? "ddp_bucket_size" : "bucket_size"),
            fmt::format("{} elements{}", said.value_or(rule), said ? "" : ", the default"));
}

void read_dispatcher(Reading& job) {
    Settings& in = job.in;
    const std::optional<std::string> type = in.word("moe_token_dispatcher_type");
    const std::optional<std::string> backend = in.word("moe_flex_dispatcher_backend");
    const bool turbo = in.is_on("use_turbo_deepep");
    const Setting* from = in.find("moe_token_dispatcher_type");
    if (in.whole("num_experts", 0, 4096).value_or(0) == 0) return;
    std::string word = type.value_or("allgather");
    if (turbo) {
        word = "deepep";
        from = in.find("use_turbo_deepep");
    } else if (in.is_on("moe_enable_deepep") && word == "flex") {
        word = "deepep";
    } else if (word == "flex") {
        if (backend) from = in.find("moe_flex_dispatcher_backend");
        word = backend.value_or("deepep");
        if (word != "deepep" && word != "hybridep") {
            job.note(*from, fmt::format("the backend '{}' is planned as hybridep", word));
            word = "hybridep";
        }
    }
    if (word == "alltoall_seq") word = "alltoall";
    job.set("framework.dispatcher", word, from, type ? "" : "the default dispatcher");
    if (in.is_on("moe_shared_expert_overlap")) {
        const Setting& overlap = *in.find("moe_shared_expert_overlap");
        const bool travels = in.whole("expert_model_parallel_size", 1, kMostDegree).value_or(1) > 1;
        if (word == "alltoall" && travels && in.has("moe_shared_expert_intermediate_size"))
            job.set("framework.moe_shared_expert_overlap", true, &overlap);
        else
            job.note(overlap,
                     "it has no effect without shared experts and the dispatcher alltoall");
    }
    if (const auto capacity = in.real("moe_expert_capacity_factor"); capacity && *capacity > 0)
        job.set_real("framework.capacity_factor", *capacity, in.find("moe_expert_capacity_factor"));
}

void read_graphs(Reading& job) {
    Settings& in = job.in;
    const std::string impl = in.word("cuda_graph_impl")
                                 .value_or(in.is_on("external_cuda_graph") ? "transformer_engine"
                                           : in.is_on("enable_cuda_graph") ? "local"
                                                                           : "none");
    std::vector<std::string> modules = in.words("cuda_graph_modules");
    const Setting* const said = in.find("cuda_graph_modules");
    if (impl == "none") return;
    const Setting* const from = said != nullptr ? said : in.find("cuda_graph_impl");
    if (impl == "full_iteration" || std::ranges::find(modules, "full_iteration") != modules.end()) {
        job.set("framework.cuda_graphs", std::string("full_iteration"), from);
        return;
    }
    std::erase(modules, "full");
    if (modules.empty()) modules.emplace_back("layer");
    job.set("framework.cuda_graphs", fmt::format("[{}]", fmt::join(modules, ", ")), from);
}

/// The ranks of the all-to-all level, and the groups of them, which Megatron-Core wants to be
/// given.
void read_context_levels(Reading& job, const Setting& type) {
    const Setting* const from = job.in.find("hierarchical_context_parallel_sizes");
    std::vector<std::string> sizes = job.in.words("hierarchical_context_parallel_sizes");
    // "2 2", as a YAML of flags writes two words.
    for (std::size_t blank;
         sizes.size() == 1 && (blank = sizes.front().find(' ')) != std::string::npos;)
        sizes = {sizes.front().substr(0, blank), sizes.front().substr(blank + 1)};
    if (sizes.empty())
        return job.refuse(type, "a2a+p2p needs --hierarchical-context-parallel-sizes");
    const auto whole = [](const std::string& size) {
        return !size.empty() && size.size() < 8 &&
               size.find_first_not_of("0123456789") == size.npos;
    };
    if (!std::ranges::all_of(sizes, whole))
        return job.refuse(*from, "the sizes of context parallelism's levels must be whole numbers");
    job.set("parallel.hierarchical_context_parallel_sizes",
            fmt::format("[{}]", fmt::join(sizes, ", ")), from);
}

void read_context(Reading& job, const MegatronCut& cut) {
    Settings& in = job.in;
    const std::vector<std::string> types = in.words("cp_comm_type");
    const Setting* const from = in.find("cp_comm_type");
    if (cut.context == 1 && !in.is_on("dynamic_context_parallel")) return;
    const std::string word = types.empty() ? "p2p" : types.front();
    if (std::ranges::any_of(types, [&](const std::string& one) { return one != word; }))
        job.note(*from,
                 "layers use different communication types; that of the first is planned for all");
    if (word == "a2a+p2p") {
        job.set("framework.context_communication", word, from);
        return read_context_levels(job, *from);
    }
    job.set("framework.context_communication",
            std::string(word == "a2a"                                 ? "all-to-all"
                        : word == "allgather" || word == "all_gather" ? "all-gather"
                                                                      : "p2p"),
            from, types.empty() ? "the default of --cp-comm-type" : "");
}

void read_fusions(Reading& job, const MegatronDialect& dialect) {
    Settings& in = job.in;
    const auto off = [&](const char* name, const char* key) {
        if (const auto value = in.flag(name); value && !*value)
            job.set(std::string("framework.") + key, false, in.find(name));
    };
    off("gradient_accumulation_fusion", "gradient_accumulation_fusion");
    off("rope_fusion", "fused_rope");
    off("bias_swiglu_fusion", "fused_bias_activation");
    off("bias_gelu_fusion", "fused_bias_activation");
    off("bias_dropout_fusion", "fused_bias_dropout_add");
    const std::optional<bool> mask = in.flag("create_attention_mask_in_dataloader");
    if (mask || (!dialect.is_bridge && !dialect.is_primus))
        job.set("framework.attention_mask_tensor", mask.value_or(true),
                in.find("create_attention_mask_in_dataloader"),
                mask ? "" : "no --no-create-attention-mask-in-dataloader");
    const auto multiple = in.whole("make_vocab_size_divisible_by", 1, 1 << 20);
    const bool pads = in.flag("should_pad_vocab").value_or(true);
    job.set("framework.vocabulary_multiple", pads ? multiple.value_or(128) : 1,
            in.find("make_vocab_size_divisible_by"));
}

}  // namespace

void read_megatron_framework(Reading& job, const MegatronDialect& dialect, const MegatronCut& cut) {
    Settings& in = job.in;
    const std::int64_t gradient_bytes = read_megatron_precision(job, dialect);
    job.set("framework.base", std::string(dialect.framework), nullptr, std::string(dialect.tool));
    read_loss(job);
    read_overlaps(job, dialect, cut, gradient_bytes);
    read_dispatcher(job);
    read_graphs(job);
    read_context(job, cut);
    read_megatron_packing(job);
    read_fusions(job, dialect);
    if (in.is_on("tp_comm_overlap") && cut.sequence)
        job.set("framework.tensor_overlap", true, in.find("tp_comm_overlap"));
    for (const char* name : {"NCCL_NVLS_ENABLE", "$NCCL_NVLS_ENABLE"})
        if (const auto on = in.flag(name); on && !*on && job.given("cluster") && !dialect.is_bridge)
            job.note(*in.find(name),
                     "NVLink SHARP is off: set cluster.node_link.all_reduce_bandwidth to 1 if the "
                     "cluster supports it");
}

}  // namespace debubble::jobs

#include "scenarios/jobs/megatron/megatron.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/file.h"
#include "text/document_readers.h"

/// Jobs of deepspeedai/Megatron-DeepSpeed 4efb479d and of bigscience-workshop's fork, by DeepSpeed
/// edaa72212.
namespace debubble::jobs {
namespace {

namespace fs = std::filesystem;
using text::Node;

constexpr std::size_t kMostItems = 2000;

bool is_deepspeed(Settings& in) {
    return in.is_on("deepspeed") || in.contains("deepspeed_config");
}

/// DeepSpeed's fields that stand for Megatron-LM's.
constexpr std::pair<std::string_view, std::string_view> kFields[] = {
    {"train_micro_batch_size_per_gpu", "micro_batch_size"},
    {"train_batch_size", "global_batch_size"},
    {"zero_optimization.stage", "zero_stage"},
    {"fp16.enabled", "fp16"},
    {"bf16.enabled", "bf16"},
    {"bfloat16.enabled", "bf16"},
    {"gradient_clipping", "clip_grad"},
    {"zero_optimization.overlap_comm", "deepspeed_overlap_comm"},
    {"zero_optimization.reduce_bucket_size", "deepspeed_bucket"},
    {"zero_optimization.offload_optimizer.device", "deepspeed_offload"},
    {"data_types.grad_accum_dtype", "deepspeed_grad_dtype"}};

void add_config(const JobText& config, const Setting& named, Reading& job) {
    Settings found;
    add_deepspeed(config, found);
    std::size_t left = 0;
    for (const Setting& setting : found.all()) {
        const bool automatic =
            setting.value->is(Node::Kind::Scalar) && setting.value->scalar == "auto";
        const auto* const field =
            std::ranges::find(kFields, std::string_view(setting.name),
                              &std::pair<std::string_view, std::string_view>::first);
        if (field == std::end(kFields)) {
            ++left;
            continue;
        }
        if (automatic) continue;
        Setting same = setting;
        same.name = field->second;
        job.in.add(std::move(same));
    }
    for (std::size_t i = 0; i < left; ++i) job.count_silent();
    (void)named;
}

/// The file that --deepspeed_config names: written by the script, or beside it.
void read_config(const JobText& text, Reading& job) {
    const Setting* const named = job.in.find("deepspeed_config");
    if (named == nullptr || !named->value->is(Node::Kind::Scalar)) return;
    const Setting setting = *named;
    const std::string name = setting.value->scalar;
    if (const auto written = job.written_files.find(name); written != job.written_files.end()) {
        const std::string lines(std::max(written->second.line - 1, 0), '\n');
        return add_config({lines + written->second.text, text.file, text.folder}, setting, job);
    }
    std::error_code error;
    fs::path folder = fs::absolute(text.file, error).parent_path();
    for (int up = 0; up < 6 && setting.known; ++up, folder = folder.parent_path()) {
        const fs::path file = folder / name;
        if (!fs::is_regular_file(file, error)) continue;
        return add_config({read_file(file, text::kLongestDocument), file, text.folder}, setting,
                          job);
    }
    job.note(setting, fmt::format("'{}' is neither written by the script nor in its folder; its "
                                  "settings of ZeRO, types and batches are unknown",
                                  name));
    job.suspect(setting.place,
                fmt::format("'{}' is neither written by the script nor in its folder", name));
}

/// Layers of every stage of a pipeline that is cut by the types of its layers, of which embedding,
/// layers, norm and head are a list.
void read_partition_method(Reading& job) {
    Settings& in = job.in;
    const auto method = in.word("pp_partition_method");
    const auto layers = in.whole("num_layers", 1, 10'000);
    const auto stages = in.whole("pipeline_model_parallel_size", 1, kMostDegree);
    if (!method || !layers || !stages || *stages == 1) return;
    const Setting& from = *in.find("pp_partition_method");
    if (!method->starts_with("type:") || *layers > static_cast<std::int64_t>(kMostItems))
        return job.note(
            from, "only a partition by layer types is supported; the layers are shared evenly");
    const bool untied = in.is_on("untie_embeddings_and_output_weights");
    job.set("parallel.partition",
            partition_by_types(
                method->substr(5), {"a cast", "embeddingpipe"}, "paralleltransformerlayerpipe",
                {"layernorm", untied ? "lmheadpipe" : "embeddingpipe", "float16_to_fp32"}, *layers,
                *stages),
            &from);
}

void read_padded_vocabulary(Reading& job) {
    const auto size = job.in.whole("pad_vocab_size_to", 1, kMost);
    if (!size || job.has_model()) return;
    Setting setting = *job.in.find("pad_vocab_size_to");
    setting.name = "vocab_size";
    job.in.add(std::move(setting));
}

}  // namespace

std::string partition_by_types(std::string pattern, const std::vector<std::string>& before,
                               std::string_view layer, const std::vector<std::string>& after,
                               std::int64_t layers, std::int64_t stages) {
    std::ranges::transform(pattern, pattern.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const auto counts = [&](std::string_view name) -> std::int64_t {
        for (std::size_t at = 0; at <= pattern.size();) {
            const std::size_t end = std::min(pattern.find('|', at), pattern.size());
            const std::string word = pattern.substr(at, end - at);
            if (!word.empty() && name.find(word) != std::string_view::npos) return 1;
            at = end + 1;
        }
        return 0;
    };
    std::vector<std::int64_t> weights;
    for (const std::string& name : before) weights.push_back(counts(name));
    weights.insert(weights.end(), layers, counts(layer));
    for (const std::string& name : after) weights.push_back(counts(name));
    const auto parts = balanced_parts(weights, stages);
    const std::size_t ahead = before.size();
    std::vector<std::int64_t> of_stage;
    for (std::size_t stage = 0; stage + 1 < parts.size(); ++stage) {
        const auto first = static_cast<std::int64_t>(std::max(parts[stage], ahead) - ahead);
        const auto last = static_cast<std::int64_t>(std::max(parts[stage + 1], ahead) - ahead);
        of_stage.push_back(std::min(last, layers) - std::min(first, layers));
    }
    return fmt::format("[{}]", fmt::join(of_stage, ", "));
}

std::vector<std::size_t> balanced_parts(const std::vector<std::int64_t>& weights,
                                        std::size_t parts) {
    const std::size_t n = weights.size();
    constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max() / 4;
    std::vector<std::int64_t> sums(n + 1, 0);
    for (std::size_t i = 0; i < n; ++i) sums[i + 1] = sums[i] + weights[i];
    struct Cut {
        std::int64_t most = kNone;
        std::int64_t least = kNone;
        std::int64_t cost = kNone;
        std::size_t from = 0;
    };
    std::vector<std::vector<Cut>> best(n + 1, std::vector<Cut>(parts + 1));
    best[0][0].most = 0;
    best[0][0].cost = 0;
    for (std::size_t i = 1; i <= n; ++i)
        for (std::size_t j = 1; j <= std::min(i, parts); ++j)
            for (std::size_t k = 0; k < i; ++k) {
                const Cut& before = best[k][j - 1];
                if (before.most == kNone) continue;
                const std::int64_t most = std::max(before.most, sums[i] - sums[k]);
                const std::int64_t least = std::min(before.least, sums[i] - sums[k]);
                Cut& here = best[i][j];
                if (here.cost < most - least) continue;
                here = {most, least, most - least, k};
            }
    std::vector<std::size_t> ends{n};
    for (std::size_t j = parts; j > 0; --j) ends.push_back(best[ends.back()][j].from);
    std::ranges::reverse(ends);
    return ends;
}

void settle_deepspeed(const JobText& text, Reading& job) {
    if (!is_deepspeed(job.in)) return;
    read_config(text, job);
    read_padded_vocabulary(job);
    for (const char* name : {"pp_partition_method", "deepspeed_overlap_comm", "deepspeed_bucket",
                             "deepspeed_offload", "deepspeed_grad_dtype", "zero_stage"})
        job.in.find(name);  // which finish_deepspeed() reads
}

void finish_deepspeed(Reading& job) {
    Settings& in = job.in;
    if (!is_deepspeed(in)) return;
    read_partition_method(job);
    if (in.has("pad_vocab_size_to") && !job.has_model())
        job.set("framework.vocabulary_multiple", std::int64_t{1}, in.find("pad_vocab_size_to"));
    const Setting* const from = in.find("deepspeed");
    job.set("framework.base", std::string("megatron-2021"), from,
            "Megatron-DeepSpeed has the layers of that time");
    const Setting* flash = nullptr;
    for (const char* name : {"use_flash_attn", "use_flash_attn_v1", "use_flash_attn_v2",
                             "use_flash_attn_triton", "use_flash_attn_builder"})
        if (flash == nullptr && in.is_on(name)) flash = in.find(name);
    if (!in.has("attention_backend"))
        job.set("training.attention", std::string(flash != nullptr ? "flash" : "unfused"), flash,
                flash != nullptr ? "" : "no --use-flash-attn");
    job.set("framework.bf16_optimizer", true, from, "DeepSpeed steps the parameters");
    const auto overlaps = in.flag("deepspeed_overlap_comm");
    const std::int64_t stage = in.whole("zero_stage", 0, 3).value_or(0);
    job.set("framework.overlap_grad_reduce", overlaps.value_or(stage == 3),
            in.find("deepspeed_overlap_comm"), overlaps ? "" : "the default of overlap_comm");
    job.set("framework.overlap_param_gather", false);
    const std::string type = in.word("deepspeed_grad_dtype").value_or("");
    const bool wide = type == "fp32" || type == "float32";
    const std::int64_t elements =
        in.whole("deepspeed_bucket", 1, 1'000'000'000'000).value_or(500'000'000);
    job.set("framework.grad_bucket", fmt::format("{} B", elements * (wide ? 4 : 2)),
            in.find("deepspeed_bucket"), fmt::format("{} elements", elements));
    const bool bf16 = in.is_on("bf16");
    if (bf16 || in.is_on("fp16"))
        job.set("training.precision",
                wide ? std::string(bf16 ? "bf16" : "fp16")
                     : fmt::format("{{base: {0}, grads: {0}}}", bf16 ? "bf16" : "fp16"),
                in.find(bf16 ? "bf16" : "fp16"),
                wide ? "data_types.grad_accum_dtype"
                     : "data_types.grad_accum_dtype is absent: the parameters' type");
    if (const auto device = in.word("deepspeed_offload"); device && *device != "none") {
        if (*device == "cpu")
            job.set("training.offload_optimizer", true, in.find("deepspeed_offload"));
        else
            job.refuse(*in.find("deepspeed_offload"), "NVMe offloading is not modelled");
    }
    if (stage >= 2 && in.whole("pipeline_model_parallel_size", 1, kMostDegree).value_or(1) > 1 &&
        !in.is_on("no_pipeline_parallel"))
        job.refuse(*in.find("zero_stage"),
                   "DeepSpeed does not support a pipeline with ZeRO-2 or 3");
}

}  // namespace debubble::jobs

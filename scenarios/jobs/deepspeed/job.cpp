#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "scenarios/jobs/deepspeed/deepspeed.h"
#include "scenarios/jobs/read/formats.h"
#include "scenarios/jobs/read/python_files.h"

/// DeepSpeed's configuration; defaults of DeepSpeed edaa72212, runtime/config.py and
/// runtime/zero/config.py.
namespace debubble::jobs {

using text::Node;

bool is_auto(Settings& in, std::string_view name) {
    const Setting* const setting = in.find(name);
    return setting != nullptr && setting->value->is(Node::Kind::Scalar) &&
           setting->value->scalar == "auto";
}

namespace {

struct DeepspeedTypes {
    std::string word;
    std::int64_t gradient_bytes = 4;
};

DeepspeedTypes read_deepspeed_types(Reading& job) {
    Settings& in = job.in;
    const auto enabled = [&](const char* name) { return !is_auto(in, name) && in.is_on(name); };
    const bool fp16 = enabled("fp16.enabled");
    const bool bf16 = !fp16 && (enabled("bf16.enabled") || enabled("bfloat16.enabled"));
    for (const char* name : {"fp16.enabled", "bf16.enabled"})
        if (is_auto(in, name) && !job.given("training.precision"))
            job.note(*in.find(name),
                     "\"auto\" is filled in by the training script; give the types by --set "
                     "training.precision=WORD");
    const Setting* const from = in.find(fp16 ? "fp16.enabled" : "bf16.enabled");
    const std::string type = in.word("data_types.grad_accum_dtype").value_or("");
    const Setting* const accumulates = in.find("data_types.grad_accum_dtype");
    if (!fp16 && !bf16) {
        job.set("training.precision", std::string("fp32"), nullptr, "neither fp16 nor bf16");
        return {"fp32", 4};
    }
    const std::string word = fp16 ? "fp16" : "bf16";
    const bool wide = type == "fp32";
    job.set("training.precision", wide ? word : fmt::format("{{base: {}, grads: {}}}", word, word),
            wide ? accumulates : from,
            type.empty() ? "data_types.grad_accum_dtype is absent: the parameters' type" : "");
    return {word, wide ? 4 : 2};
}

void read_scale(Reading& job) {
    Settings& in = job.in;
    const auto fixed = in.real("fp16.loss_scale");
    const auto window = in.whole("fp16.loss_scale_window", 1, kMost);
    const auto power = in.real("fp16.initial_scale_power");
    const auto hysteresis = in.whole("fp16.hysteresis", 1, 1'000'000);
    const auto least = in.real("fp16.min_loss_scale");
    if (is_auto(in, "fp16.enabled") || !in.is_on("fp16.enabled")) return;
    const double initial =
        fixed && *fixed > 0 ? *fixed : std::exp2(std::clamp(power.value_or(16), 0.0, 60.0));
    job.set("training.loss_scale",
            fmt::format("{{initial_scale: {}, growth_interval: {}, hysteresis: {}, min_scale: {}}}",
                        initial, window.value_or(1000), hysteresis.value_or(2), least.value_or(1)),
            in.find("fp16.initial_scale_power"));
}

void read_zero(Reading& job, const JobText& text, std::int64_t gradient_bytes) {
    Settings& in = job.in;
    const std::int64_t stage = in.whole("zero_optimization.stage", 0, 3).value_or(0);
    const Setting* const from = in.find("zero_optimization.stage");
    if (stage > 0) job.set("parallel.zero_stage", stage, from);
    const auto pipeline = job.given_whole("parallel.pipeline");
    if (stage >= 2 && pipeline.value_or(1) > 1)
        job.refuse(*from, "DeepSpeed does not support a pipeline with ZeRO-2 or 3");
    if (const auto shard = in.whole("zero_optimization.mics_shard_size", -1, kMost);
        shard && *shard > 0)
        job.set("parallel.shard", *shard, in.find("zero_optimization.mics_shard_size"));
    const std::optional<bool> overlaps = is_auto(in, "zero_optimization.overlap_comm")
                                             ? std::nullopt
                                             : in.flag("zero_optimization.overlap_comm");
    job.set("framework.overlap_grad_reduce", overlaps.value_or(stage == 3),
            in.find("zero_optimization.overlap_comm"), overlaps ? "" : "the default, by the stage");
    const char* const bucket = "zero_optimization.reduce_bucket_size";
    const std::optional<std::int64_t> hidden = width_of_given_model(job, text.folder);
    std::int64_t elements = 500'000'000;
    std::string why = "elements, the default";
    if (is_auto(in, bucket)) {
        why = "elements: hidden x hidden, filled in for \"auto\" by the caller";
        if (!hidden) why = "elements, since the model's hidden size is unknown";
        if (hidden) elements = std::max<std::int64_t>(*hidden * *hidden, 512);
    } else if (const auto size = in.whole(bucket, 1, 1'000'000'000'000)) {
        elements = std::max<std::int64_t>(*size, 512);
        why = "elements";
    }
    job.set("framework.grad_bucket", fmt::format("{} B", elements * gradient_bytes),
            in.find(bucket), fmt::format("{} {}", elements, why));
    read_deepspeed_limits(job, stage, hidden);
    for (const char* name :
         {"zero_optimization.offload_optimizer.device", "zero_optimization.offload_param.device"})
        if (const auto device = in.word(name); device && *device == "nvme")
            job.refuse(*in.find(name), "NVMe offloading is not modelled");
        else if (device && *device == "cpu" &&
                 name == std::string_view("zero_optimization.offload_optimizer.device"))
            job.set("training.offload_optimizer", true, in.find(name));
        else if (device && *device == "cpu")
            job.note(*in.find(name), "parameters are offloaded to the host, which is not modelled");
    for (const char* name :
         {"zero_optimization.zero_quantized_weights", "zero_optimization.zero_quantized_gradients",
          "zero_optimization.zero_quantized_nontrainable_weights"})
        if (in.is_on(name)) job.refuse(*in.find(name), "8-bit messages of ZeRO++ are not modelled");
}

void read_optimizer_kind(Reading& job) {
    Settings& in = job.in;
    const std::string type = in.word("optimizer.type").value_or("AdamW");
    const Setting* const from = in.find("optimizer.type");
    const bool torch = in.is_on("optimizer.params.torch_adam");
    if (type.starts_with("OneBit") || type.starts_with("ZeroOne"))
        return job.refuse(*from, fmt::format("{}'s 1-bit messages are not modelled", type));
    if (type != "AdamW" && type != "Adam" && from != nullptr)
        job.note(*from, fmt::format("the optimizer '{}' is planned as AdamW", type));
    job.set("framework.optimizer", std::string(torch ? "foreach-adam" : "fused-adam"),
            torch ? in.find("optimizer.params.torch_adam") : from);
    if (!is_auto(in, "gradient_clipping"))
        if (const auto clip = in.real("gradient_clipping"); clip && *clip > 0 && *clip < 1e9)
            job.set_real("training.clip_norm", *clip, in.find("gradient_clipping"));
}

std::optional<std::int64_t> whole_or_auto(Reading& job, const char* name, const std::string& key) {
    if (!is_auto(job.in, name)) return job.in.whole(name, 1, kMost);
    if (const auto given = job.given(key))
        job.note(fmt::format("{} is \"auto\"; {} were given", name, *given));
    return {};
}

void read_deepspeed_batches(Reading& job, std::optional<std::int64_t> data) {
    Settings& in = job.in;
    const std::string micro_key = "training.micro_batch";
    auto micro = whole_or_auto(job, "train_micro_batch_size_per_gpu", micro_key);
    const auto global = is_auto(in, "train_batch_size") ? std::optional<std::int64_t>()
                                                        : in.whole("train_batch_size", 1, kMost);
    const auto steps = is_auto(in, "gradient_accumulation_steps")
                           ? std::optional<std::int64_t>()
                           : in.whole("gradient_accumulation_steps", 1, kMost);
    const Setting* from = in.find("train_micro_batch_size_per_gpu");
    std::string why;
    if (!micro && global && data && !is_auto(in, "train_micro_batch_size_per_gpu") &&
        *global % batch_of(1, *data, steps.value_or(1)) == 0) {
        micro = *global / batch_of(1, *data, steps.value_or(1));
        from = in.find("train_batch_size");
        why = "over the replicas and accumulation steps";
    }
    if (micro) job.set(micro_key, *micro, from, why);
    const auto known = job.given(micro_key) ? job.given_whole(micro_key) : micro;
    if (!known)
        job.ask(is_auto(in, "train_micro_batch_size_per_gpu")
                    ? "train_micro_batch_size_per_gpu is \"auto\", which the training script fills "
                      "in; give it by --set training.micro_batch=N"
                    : "how many samples does a microbatch have? Give them by --set "
                      "training.micro_batch=N");
    if (global)
        job.set("training.global_batch", *global, in.find("train_batch_size"));
    else if (known && data && !job.given("training.global_batch"))
        job.set("training.global_batch", batch_of(*known, *data, steps.value_or(1)),
                in.find("gradient_accumulation_steps"), "micro batch x data x accumulation steps");
}

}  // namespace

void read_deepspeed(const JobText& text, Reading& job, bool own_file) {
    Settings& in = job.in;
    const auto tensor = in.whole("tensor_parallel.autotp_size", 1, kMostDegree).value_or(1);
    if (tensor > 1) job.set("parallel.tensor", tensor, in.find("tensor_parallel.autotp_size"));
    const auto sequence = in.whole("sequence_parallel_size", 1, kMostDegree).value_or(1);
    if (sequence > 1) {
        job.set("parallel.context", sequence, in.find("sequence_parallel_size"));
        job.set("framework.context_communication", std::string("all-to-all"),
                in.find("sequence_parallel_size"));
    }
    const std::optional<std::int64_t> data = read_python_degrees(job, tensor, sequence);
    job.set("schedule", std::string("1f1b"));
    job.set("framework.base", std::string("deepspeed"), nullptr, "DeepSpeed");
    const DeepspeedTypes types = read_deepspeed_types(job);
    read_scale(job);
    read_zero(job, text, types.gradient_bytes);
    read_optimizer_kind(job);
    read_deepspeed_batches(job, data);
    read_python_training(job);
    for (const char* name : {"activation_checkpointing.partition_activations",
                             "activation_checkpointing.cpu_checkpointing"})
        if (in.is_on(name))
            job.note(*in.find(name),
                     "activation checkpoints are partitioned or offloaded, which is not modelled");
    sort_deepspeed_left(job, own_file);
}

void read_deepspeed_job(const JobText& text, Reading& job) {
    add_deepspeed(text, job.in);
    read_deepspeed(text, job);
}

}  // namespace debubble::jobs

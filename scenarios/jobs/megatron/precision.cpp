#include <fmt/format.h>

#include "scenarios/jobs/megatron/megatron.h"

namespace debubble::jobs {
namespace {

/// The recipe of 8-bit or 4-bit GEMMs; empty for none.
std::string recipe_of(Reading& job, const MegatronDialect& dialect, const Setting*& from) {
    Settings& in = job.in;
    if (in.word("fp4_format")) {
        from = in.find("fp4_format");
        in.find("fp4_recipe");
        return "nvfp4";
    }
    const std::optional<std::string> format = in.word("fp8_format");
    const std::optional<std::string> recipe = in.word("fp8_recipe");
    if (!format) return {};
    from = in.find(recipe ? "fp8_recipe" : "fp8_format");
    const std::string word = recipe.value_or(dialect.is_bridge ? "tensorwise" : "delayed");
    if (word == "tensorwise") return "fp8-current";
    if (word == "blockwise") return "fp8-blockwise";
    if (word == "mxfp8") return "mxfp8";
    if (word != "delayed")
        job.refuse(
            *from,
            fmt::format(
                "the recipe '{}' is not supported; use delayed, tensorwise, blockwise or mxfp8",
                word));
    return "fp8-delayed";
}

struct Parts {
    std::string base;
    std::vector<std::string> changes;
    const Setting* from = nullptr;
    std::string why;
};

/// Moments and copies of a precision-aware optimizer.
void read_aware(Reading& job, Parts& parts) {
    Settings& in = job.in;
    const bool aware = in.is_on("use_precision_aware_optimizer");
    const std::string first = in.word("exp_avg_dtype").value_or("fp32");
    const std::string second = in.word("exp_avg_sq_dtype").value_or("fp32");
    const std::string main = in.word("main_params_dtype").value_or("fp32");
    if (!aware) return;
    if (first != second)
        job.note(
            *in.find(in.has("exp_avg_sq_dtype") ? "exp_avg_sq_dtype" : "exp_avg_dtype"),
            fmt::format("the second moment is {}; both moments are planned as {}", second, first));
    if (main != "fp32")
        job.note(*in.find("main_params_dtype"), "main parameters in fp16 are planned as fp32");
    if (first != "fp32") parts.changes.push_back("moments: " + first);
    parts.changes.emplace_back("main_grads: none");
}

}  // namespace

std::int64_t read_megatron_precision(Reading& job, const MegatronDialect& dialect) {
    Settings& in = job.in;
    Parts parts;
    const bool bf16 = in.flag("bf16").value_or(false);
    const bool fp16 = in.is_on("fp16") && !bf16;
    const Setting* recipe_from = nullptr;
    const std::string recipe = recipe_of(job, dialect, recipe_from);
    parts.base = !recipe.empty() ? recipe : bf16 ? "bf16" : fp16 ? "fp16" : "fp32";
    parts.from = recipe_from != nullptr ? recipe_from : in.find(bf16 ? "bf16" : "fp16");
    if (parts.base == "fp32") parts.why = "neither --bf16 nor --fp16";
    const bool in_fp32 = in.is_on("accumulate_allreduce_grads_in_fp32");
    // arguments.py: gradients are summed in fp32 only where the optimizer reads them so.
    const bool main_bf16 = in.word("main_grads_dtype").value_or("fp32") == "bf16";
    const bool in_bf16 =
        in.is_on("grad_reduce_in_bf16") || (main_bf16 && in.is_on("use_precision_aware_optimizer"));
    const std::optional<bool> reduce = in.flag("grad_reduce_in_fp32");
    std::int64_t bytes = 4;
    if (parts.base == "fp16" && !in_fp32 && !reduce.value_or(false)) {
        parts.changes.emplace_back("grads: fp16");
        parts.why = "no --accumulate-allreduce-grads-in-fp32: gradients have the parameters' type";
        bytes = 2;
    } else if (parts.base != "fp32" && parts.base != "fp16" && (in_bf16 || (reduce && !*reduce))) {
        parts.changes.emplace_back("grads: bf16");
        parts.why = in_bf16 ? "--grad-reduce-in-bf16" : "grad_reduce_in_fp32 is false";
        bytes = 2;
    }
    const bool gathers_fp8 = in.is_on("fp8_param_gather");
    const bool gathers_fp4 = in.is_on("fp4_param_gather") || in.is_on("fp4_param");
    if (recipe == "nvfp4" ? gathers_fp4 || gathers_fp8 : gathers_fp8 && !recipe.empty())
        parts.changes.emplace_back(recipe == "nvfp4" ? "param_gather: fp4" : "param_gather: fp8");
    if (in.is_on("fp8_dot_product_attention") || in.is_on("fp8_multi_head_attention"))
        parts.changes.emplace_back("attention: fp8");
    if (const auto wgrad = in.flag("fp8_wgrad"); wgrad && !*wgrad && !recipe.empty())
        job.note(*in.find("fp8_wgrad"), "16-bit weight-gradient GEMMs are planned in 8 bits");
    const auto first = in.whole("num_layers_at_start_in_bf16", 0, 10'000);
    const auto last = in.whole("num_layers_at_end_in_bf16", 0, 10'000);
    if (in.is_on("first_last_layers_bf16") && !recipe.empty())
        parts.changes.push_back(fmt::format("bf16_layers: {{first: {}, last: {}}}",
                                            first.value_or(1), last.value_or(1)));
    read_aware(job, parts);
    std::string value = parts.base;
    if (!parts.changes.empty()) {
        value = "{base: " + parts.base;
        for (const std::string& change : parts.changes) value += ", " + change;
        value += "}";
    }
    job.set("training.precision", value, parts.from, parts.why);
    return bytes;
}

}  // namespace debubble::jobs

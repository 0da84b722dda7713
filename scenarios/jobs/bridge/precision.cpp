#include "scenarios/jobs/bridge/precision.h"

#include <algorithm>

#include <fmt/format.h>

#include "text/mapping_reader.h"

namespace debubble::jobs {
namespace {

struct NamedPrecision {
    std::string_view name;
    std::string_view fp8;     ///< format; empty for none
    std::string_view recipe;  ///< of fp8
    bool fp8_gather = false;
    bool fp4 = false;  ///< e2m1, gathered in 4 bits
    int bf16_first = 0;
    int bf16_last = 0;
};

constexpr NamedPrecision kPrecisions[] = {
    {"bf16_mixed", "", ""},
    {"fp16_mixed", "", ""},
    {"bf16_with_fp8_delayed_scaling_mixed", "hybrid", "delayed", true},
    {"fp16_with_fp8_delayed_scaling_mixed", "hybrid", "delayed", true},
    {"bf16_with_mxfp8_mixed", "e4m3", "mxfp8", true},
    {"fp16_with_mxfp8_mixed", "e4m3", "mxfp8", true},
    {"bf16_with_fp8_current_scaling_mixed", "hybrid", "tensorwise", true, false, 1, 1},
    {"fp16_with_fp8_current_scaling_mixed", "hybrid", "tensorwise", true, false, 1, 1},
    {"nemotron_h_bf16_with_fp8_current_scaling_mixed", "hybrid", "tensorwise", true, false, 2, 2},
    {"nanov2_bf16_with_fp8_current_scaling_mixed", "hybrid", "blockwise", true, false, 2, 2},
    {"bf16_with_fp8_subchannel_scaling_mixed", "hybrid", "blockwise"},
    {"fp16_with_fp8_subchannel_scaling_mixed", "hybrid", "blockwise"},
    {"bf16_with_nvfp4_mixed", "", "", false, true},
    {"nemotron_3_super_bf16_with_nvfp4_mixed", "", "", false, true, 0, 14}};

}  // namespace

void add_precision_name(const Setting& setting, Settings& settings) {
    std::string name = setting.value->scalar;
    std::ranges::replace(name, '-', '_');
    const auto* const found =
        std::ranges::find(kPrecisions, std::string_view(name), &NamedPrecision::name);
    if (found == std::end(kPrecisions)) {
        std::vector<std::string> names;
        for (const NamedPrecision& one : kPrecisions) names.emplace_back(one.name);
        settings.mistakes.add(setting.place,
                              text::unknown_word("precision of Megatron-Bridge", name, names));
        return;
    }
    const auto add = [&](const char* field, std::string_view value) {
        settings.add({field, setting.written,
                      text::make_scalar(std::string(value), setting.value->place), setting.place,
                      true});
    };
    const bool half = name.find("fp16") != std::string::npos;
    add(half ? "fp16" : "bf16", "true");
    add("grad_reduce_in_fp32", half ? "false" : "true");
    if (!found->fp8.empty()) {
        add("fp8", found->fp8);
        add("fp8_recipe", found->recipe);
        add("fp8_param_gather", found->fp8_gather ? "true" : "false");
    }
    if (found->fp4) {
        add("fp4", "e2m1");
        add("fp4_param_gather", "true");
    }
    if (found->bf16_first + found->bf16_last > 0) {
        add("first_last_layers_bf16", "true");
        add("num_layers_at_start_in_bf16", std::to_string(found->bf16_first));
        add("num_layers_at_end_in_bf16", std::to_string(found->bf16_last));
    }
}

}  // namespace debubble::jobs

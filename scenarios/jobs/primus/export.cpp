#include <algorithm>

#include <fmt/format.h>

#include "scenarios/jobs/write/job_writer.h"

/// Primus's YAML of its Megatron backend: Megatron-Core's fields as overrides of Primus's own
/// files of defaults.
namespace debubble::jobs {
namespace {

/// Names that Primus has for fields, where they are others.
constexpr std::pair<std::string_view, std::string_view> kPrimusNames[] = {
    {"bias_linear", "add_bias_linear"},
    {"rope_fusion", "apply_rope_fusion"},
    {"overlap_p2p_communication", "overlap_p2p_comm"}};

std::string primus_value(const Field& field) {
    if (field.is_flag) return field.value;
    std::string value = field.value;
    const bool list = field.name.ends_with("_modules") || field.name.ends_with("_sizes");
    if (list) {
        std::ranges::replace(value, ' ', ',');
        return "[" + value + "]";
    }
    const bool plain = value.find_first_of("()|[]*{}:#,\"' ") == std::string::npos;
    return plain ? value : "'" + value + "'";
}

}  // namespace

std::string write_primus(JobWriter& job) {
    add_megatron_fields(job);
    const auto said = [&](std::string_view name) {
        return std::ranges::any_of(job.fields,
                                   [&](const Field& field) { return field.name == name; });
    };
    // Primus has them on, or of another value, where nothing is said.
    for (const char* name : {"swiglu", "bf16", "use_distributed_optimizer", "sequence_parallel"})
        if (!said(name)) job.flag(name, false);
    std::string out =
        "modules:\n  pre_trainer:\n    framework: megatron\n    config: pre_trainer.yaml\n"
        "    model: language_model.yaml\n    overrides:\n";
    for (const Field& field : job.fields) {
        std::string_view name = field.name;
        for (const auto& [known, other] : kPrimusNames)
            if (name == known) name = other;
        out += fmt::format("      {}: {}\n", name, primus_value(field));
    }
    return out;
}

}  // namespace debubble::jobs

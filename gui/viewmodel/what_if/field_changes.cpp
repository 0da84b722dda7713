#include <algorithm>
#include <array>

#include "gui/viewmodel/what_if/field.h"
#include "gui/viewmodel/what_if/part_keys.h"
#include "scenarios/read/edit.h"
#include "schedule/generators/generators.h"

/// The written values of fields, and the changes of the text for a new value.
namespace debubble::gui {
namespace {

constexpr const char* kStages = "parallel.stages_per_rank";

/// A key with the same meaning, which contradicts the field if both are written.
struct Conflict {
    std::string_view key;
    std::string_view rival;
};
constexpr std::array kConflicts{
    Conflict{"nodes", "gpus"},
    Conflict{"gpus", "nodes"},
    Conflict{"training.global_batch", "training.micro_batches"},
    Conflict{"training.micro_batches", "training.global_batch"},
    Conflict{"parallel.stages_per_rank", "schedule.stages_per_rank"},
};

/// The keys of all fields with a word or a number as value.
constexpr std::array kKeys{"model",
                           "model.layers",
                           "cluster",
                           "gpus",
                           "nodes",
                           "parallel.tensor",
                           "parallel.sequence",
                           "parallel.pipeline",
                           "parallel.data",
                           "parallel.zero_stage",
                           "parallel.shard",
                           "parallel.context",
                           "parallel.dynamic_context_parallel",
                           "parallel.expert",
                           "parallel.expert_tensor",
                           "training.expert_load",
                           "training.moe_aux_loss_coeff",
                           "training.moe_router_load_balancing_type",
                           "training.moe_z_loss_coeff",
                           "schedule",
                           "schedule.stages_per_rank",
                           "parallel.stages_per_rank",
                           "training.micro_batch",
                           "training.micro_batches",
                           "training.global_batch",
                           "training.seq_length",
                           "training.precision",
                           "training.recompute",
                           "training.attention",
                           "training.offload_optimizer",
                           "framework.tensor_overlap",
                           "framework.dispatcher",
                           "framework.cuda_graphs",
                           "imbalance.router.spread",
                           "imbalance.jitter"};

}  // namespace

std::map<std::string, std::string> written_fields(const ScenarioText& source) {
    std::map<std::string, std::string> values;
    try {
        for (const std::string key : kKeys) {
            const std::string where = key == "schedule" ? "schedule.name" : key;
            if (auto value = scenarios::written_at(source.text, source.file, where))
                values[key] = *std::move(value);
        }
    } catch (const InputError&) {  // a text that is not YAML has no values
        values.clear();
    }
    return values;
}

std::vector<scenarios::Override> changes_for(const ScenarioText& source, const std::string& key,
                                             const std::string& value) {
    std::vector<scenarios::Override> changes;
    const auto is_written = [&](std::string_view other) {
        return scenarios::written_at(source.text, source.file, std::string(other)).has_value();
    };
    for (const Conflict& conflict : kConflicts)
        if (conflict.key == key && is_written(conflict.rival))
            changes.emplace_back(std::string(conflict.rival), "~");
    const Generator* schedule = key == "schedule" ? find_generator(value) : nullptr;
    if (schedule != nullptr && schedule->stages_per_rank && is_written(kStages))
        changes.emplace_back(kStages, std::to_string(*schedule->stages_per_rank));
    if (key == "training.micro_batch" && is_written("training.global_batch") &&
        is_written("training.micro_batches"))
        changes.emplace_back("training.micro_batches", "~");
    changes.emplace_back(key, value);
    return changes;
}

ScenarioText with_change(const ScenarioText& source, const std::string& key,
                         const std::string& value) {
    const auto says = [&](const std::string& what) {
        return scenarios::written_at(source.text, source.file, what) == value;
    };
    // Choosing the present value again changes nothing in the text.
    if (says(key) || (key == "schedule" && says("schedule.name"))) return source;
    ScenarioText changed = source;
    for (const scenarios::Override& change : changes_for(source, key, value))
        changed = with_part_key(std::move(changed), change);
    return changed;
}

std::string field_of(const Diagnostic& mistake, const ScenarioText& source,
                     const std::vector<Field>& fields, const std::string& last_changed) {
    if (!last_changed.empty() || mistake.where.file != source.file || mistake.where.line == 0)
        return last_changed;
    std::string key;
    try {
        key = scenarios::key_at(source.text, source.file, mistake.where.line, mistake.where.column);
    } catch (const InputError&) {
        return last_changed;
    }
    const auto known = [&](const std::string& wanted) {
        return std::ranges::find(fields, wanted, &Field::key) != fields.end();
    };
    while (!key.empty()) {
        if (known(key)) return key;
        const std::size_t dot = key.rfind('.');
        key.resize(dot == std::string::npos ? 0 : dot);
    }
    return last_changed;
}

}  // namespace debubble::gui

#include <algorithm>
#include <array>

#include "gui/viewmodel/what_if/field.h"
#include "gui/viewmodel/what_if/part_keys.h"
#include "scenarios/read/edit.h"
#include "schedule/generators/generators.h"

/// What a text says of fields, and what it says when one of them is changed.
namespace debubble::gui {
namespace {

constexpr const char* kStages = "parallel.stages_per_rank";

/// A key that can say the same thing, and contradicts the field if both are given.
struct Rival {
    std::string_view key;
    std::string_view rival;
};
constexpr std::array kRivals{
    Rival{"nodes", "gpus"},
    Rival{"gpus", "nodes"},
    Rival{"training.global_batch", "training.micro_batches"},
    Rival{"training.micro_batches", "training.global_batch"},
    Rival{"parallel.stages_per_rank", "schedule.stages_per_rank"},
};

/// The keys of all fields whose value is a word or a number.
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
    } catch (const InputError&) {  // no value can be told from a text that is not YAML
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
    for (const Rival& rival : kRivals)
        if (rival.key == key && is_written(rival.rival))
            changes.emplace_back(std::string(rival.rival), "~");
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
    // The same value is chosen again: everything else that the text says of it stays.
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

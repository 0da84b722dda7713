#include "scenarios/jobs/megatron/network.h"

#include <algorithm>

#include <fmt/format.h>

#include "scenarios/jobs/megatron/megatron.h"

namespace debubble::jobs {
namespace {

std::string group_of(std::size_t count, const std::string& change) {
    return change.empty() ? fmt::format("{{count: {}}}", count)
                          : fmt::format("{{count: {}, {}}}", count, change);
}

/// Runs of equal layers from `begin` to `end`.
std::string runs_of(const std::vector<std::string>& layers, std::size_t begin, std::size_t end) {
    std::string groups;
    for (std::size_t i = begin; i < end;) {
        std::size_t j = i;
        while (j < end && layers[j] == layers[i]) ++j;
        groups += (groups.empty() ? "" : ", ") + group_of(j - i, layers[i]);
        i = j;
    }
    return groups;
}

/// The shortest part that is repeated to make all layers; all of them if there is none.
std::size_t period_of(const std::vector<std::string>& layers) {
    for (std::size_t period = 1; period * 2 <= layers.size(); ++period) {
        if (layers.size() % period != 0) continue;
        std::size_t i = period;
        while (i < layers.size() && layers[i] == layers[i - period]) ++i;
        if (i == layers.size()) return period;
    }
    return layers.size();
}

/// Adds the experts of each layer where a list has them.
void add_listed_experts(Reading& job, const std::vector<bool>& chosen, LayerChanges& changes) {
    const Setting* const setting = job.in.find(kExpertsOfLayers);
    if (setting == nullptr) return;
    const std::vector<text::NodePtr>& listed = setting->value->items;
    if (std::ranges::count(chosen, true) != std::ssize(listed))
        return job.refuse(
            *setting,
            fmt::format("{} lists the experts of {} layers, but {} layers have some",
                        setting->written, listed.size(), std::ranges::count(chosen, true)));
    for (std::size_t i = 0, next = 0; i < chosen.size(); ++i) {
        if (!chosen[i]) continue;
        const text::NodePtr& experts = listed[next++];
        if (const auto count = number_of(experts->scalar); !count || *count < 1 || *count > 4096)
            return job.refuse(
                *setting,
                fmt::format("'{}' is not a number of experts from 1 to 4096", experts->scalar));
        if (experts->scalar != listed.front()->scalar)
            changes.add(i, fmt::format("experts: {}", experts->scalar));
    }
}

void add_experts(Reading& job, LayerChanges& changes) {
    Settings& in = job.in;
    if (in.whole("num_experts", 0, 4096).value_or(0) <= 1) return;
    const auto layers = static_cast<std::int64_t>(changes.count());
    const std::int64_t hidden = in.whole("hidden_size", 1, kMost).value_or(0);
    const std::int64_t ffn = in.whole("ffn_hidden_size", 1, kMost).value_or(4 * hidden);
    std::optional<std::vector<bool>> chosen;
    if (const Setting* const setting = in.find("moe_layer_freq")) {
        chosen = chosen_layers(job, *setting, layers, [](std::int64_t every, std::int64_t layer) {
            return layer % every == 0;
        });
    } else if (in.has("expert_interval") || is_megatron_deepspeed(in)) {
        // Megatron-DeepSpeed's get_num_experts_per_layer(): layers that it divides, from 1.
        const std::int64_t every = in.whole("expert_interval", 1, 10'000).value_or(2);
        chosen.emplace();
        for (std::int64_t layer = 1; layer <= layers; ++layer)
            chosen->push_back(layer % every == 0);
    }
    for (std::size_t i = 0; chosen && i < chosen->size(); ++i)
        if (!(*chosen)[i]) changes.add(i, fmt::format("experts: 0, ffn: {}", ffn));
    if (chosen) add_listed_experts(job, *chosen, changes);
}

void add_delta_nets(Reading& job, LayerChanges& changes) {
    if (!has_delta_nets(job)) return;
    const Setting* const setting = job.in.find("linear_attention_freq");
    const auto layers = static_cast<std::int64_t>(changes.count());
    const auto last_is_full = [](std::int64_t every, std::int64_t layer) {
        return (layer + 1) % every != 0;
    };
    std::optional<std::vector<bool>> chosen;
    if (setting != nullptr) {
        chosen = chosen_layers(job, *setting, layers, last_is_full);
    } else {  // slime's modules: every fourth layer has attention of all scores
        chosen.emplace();
        for (std::int64_t layer = 0; layer < layers; ++layer)
            chosen->push_back(last_is_full(4, layer));
    }
    for (std::size_t i = 0; chosen && i < chosen->size(); ++i)
        if ((*chosen)[i]) changes.add(i, "mixer: delta_net");
}

void add_windows(Reading& job, LayerChanges& changes) {
    const Setting* const setting = job.in.find("window_attn_skip_freq");
    const std::optional<std::int64_t> window = megatron_window(job);
    if (!window || setting == nullptr) return;
    const auto chosen = chosen_layers(
        job, *setting, static_cast<std::int64_t>(changes.count()),
        [](std::int64_t every, std::int64_t layer) { return (layer + 1) % every != 0; });
    for (std::size_t i = 0; chosen && i < chosen->size(); ++i)
        if ((*chosen)[i]) changes.add(i, fmt::format("window: {}", *window));
}

void add_unrotated(Reading& job, LayerChanges& changes) {
    const Setting* const setting = job.in.find("no_rope_freq");
    if (setting == nullptr) return;
    const auto chosen = chosen_layers(
        job, *setting, static_cast<std::int64_t>(changes.count()),
        [](std::int64_t every, std::int64_t layer) { return (layer + 1) % every == 0; });
    for (std::size_t i = 0; chosen && i < chosen->size(); ++i)
        if ((*chosen)[i]) changes.add(i, "positions: none");
}

}  // namespace

void LayerChanges::add(std::size_t layer, std::string_view change) {
    std::string& all = of_layer_[layer];
    all += (all.empty() ? "" : ", ") + std::string(change);
}

std::string LayerChanges::groups() const {
    const auto plain = [](const std::string& change) { return change.empty(); };
    if (std::ranges::all_of(of_layer_, plain)) return {};
    const std::size_t period = period_of(of_layer_);
    if (period == 1 || period == of_layer_.size())
        return fmt::format("[{}]", runs_of(of_layer_, 0, of_layer_.size()));
    return fmt::format("[{{count: {}, pattern: [{}]}}]", of_layer_.size() / period,
                       runs_of(of_layer_, 0, period));
}

std::optional<std::vector<bool>> chosen_layers(Reading& job, const Setting& setting,
                                               std::int64_t layers,
                                               bool (*of_number)(std::int64_t, std::int64_t)) {
    std::vector<bool> chosen;
    if (!setting.known) {
        job.in.word(setting.name);  // says that it is not
        return {};
    }
    if (setting.value->is(text::Node::Kind::List)) {
        // A list of Python that the shell has cut at its blanks is one all the same.
        std::string joined;
        for (const text::NodePtr& item : setting.value->items)
            joined += (joined.empty() || joined.ends_with(',') ? "" : ",") + item->scalar;
        const bool bare = joined.find_first_not_of("01,") == std::string::npos;
        const auto list = python_list(bare ? "[" + joined + "]" : joined);
        if (!list) {
            job.refuse(setting,
                       fmt::format("'{}' is not a list of 0 and 1 for the layers", joined));
            return {};
        }
        for (const int one : *list) chosen.push_back(one != 0);
    } else if (const auto every = number_of(setting.value->scalar)) {
        if (*every < 1 || *every > 10'000) {
            job.refuse(setting, fmt::format("{} is {}; it must be from 1 to 10000", setting.written,
                                            setting.value->scalar));
            return {};
        }
        for (std::int64_t i = 0; i < layers; ++i)
            chosen.push_back(of_number(static_cast<std::int64_t>(*every), i));
    } else if (const auto list = python_list(setting.value->scalar)) {
        for (const int one : *list) chosen.push_back(one != 0);
    } else {
        job.refuse(setting, fmt::format("'{}' is neither a number nor a Python list",
                                        setting.value->scalar));
        return {};
    }
    if (static_cast<std::int64_t>(chosen.size()) == layers) return chosen;
    job.refuse(setting,
               fmt::format("it has {} layers, but the model has {}", chosen.size(), layers));
    return {};
}

void read_megatron_layers(Reading& job) {
    if (is_hybrid(job)) return read_hybrid_layers(job);
    const std::int64_t layers = job.in.whole("num_layers", 1, 10'000).value_or(0);
    LayerChanges changes(layers);
    add_experts(job, changes);
    add_delta_nets(job, changes);
    add_windows(job, changes);
    add_unrotated(job, changes);
    if (const std::string groups = changes.groups(); !groups.empty()) {
        const Setting* from = nullptr;
        for (const char* name : {"moe_layer_freq", "expert_interval", "linear_attention_freq",
                                 "window_attn_skip_freq", "no_rope_freq", "spec"})
            if (from == nullptr) from = job.in.find(name);
        job.set(
            "model.layer_groups", groups, from,
            from == nullptr ? "experts in every second layer, Megatron-DeepSpeed's default" : "");
    }
}

}  // namespace debubble::jobs

#include "sim/memory/sharded_units.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <utility>
#include <vector>

#include "models/graph/operator_runs.h"

namespace debubble::sim {
namespace {

/// Bytes of one element.
struct Widths {
    std::int64_t value = 0;
    std::int64_t gradient = 0;
    std::int64_t on_the_wire = 0;  ///< bytes in a message, if it has another type
};

Widths widths_of(const scenarios::Scenario& scenario) {
    const scenarios::Precision& precision = scenario.training.precision;
    const auto type = scenario.framework.main_grad_buffer ? precision.grads : precision.compute;
    const models::DataType wire = scenario.gradients_on_the_wire();
    return {models::size_of(precision.compute), models::size_of(type),
            (scenario.sends_another_type() || scenario.framework.casts_shards) && wire != type
                ? models::size_of(wire)
                : 0};
}

/// Reductions wait for the end of the pass, and whole gradients for the reductions.
bool waits_whole(const scenarios::Scenario& scenario, PassUse use) {
    return use.several_holders && !scenario.parallel.gathers_in_passes();
}

/// The units that several ranks share: experts that one rank alone has are not sharded.
ShardedUnits shared(ShardedUnits units, const scenarios::Scenario& scenario) {
    if (scenario.parallel.expert_shards() > 1) return units;
    units.layer -= std::exchange(units.layer_experts, 0);
    for (LayerElements& layer : units.of_layers) layer.all -= std::exchange(layer.experts, 0);
    return units;
}

/// True for a backward-input with a chunked loss. In a stage with several holders the gradients
/// exist already.
bool makes_heads(const ShardedUnits& units, PassUse use) {
    return use.is_backward_input && units.chunked_loss && !use.several_holders;
}

}  // namespace

ShardedUnits sharded_units(const models::StageGraph& graph, LayerFold fold) {
    ShardedUnits units;
    units.layers = graph.content.layers + fold.times - 1;
    units.layers += graph.content.prediction_layers(graph.architecture.mtp_layers);
    units.has_embedding = graph.content.embedding;
    units.has_head = graph.content.head;
    std::vector<bool> counted(graph.parameters.size());
    int tensors = 0;
    for (const models::Operator& op : graph.operators) {
        const bool embeds = models::is_embedding(op);
        if (op.as<models::op::ChunkedLoss>()) units.chunked_loss = true;
        for (const int index : op.parameters) {
            if (counted[index]) continue;
            counted[index] = true;
            const models::Parameter& parameter = graph.parameters[index];
            if (parameter.frozen) continue;
            const bool tied = models::is_tied(graph, op, parameter);
            std::int64_t& unit = op.layer ? units.layer
                                 : tied   ? units.tied
                                 : embeds ? units.embedding
                                          : units.head;
            const int times = op.layer == fold.layer ? fold.times : 1;
            const std::int64_t elements = times * parameter.elements_of_rank(graph.execution);
            unit += elements;
            if (parameter.expert) units.layer_experts += elements;
            if (parameter.narrow && op.layer) units.layer_narrow += elements;
            if (!op.layer) continue;
            tensors += times * parameter.count;
            if (units.of_layers.empty() || units.of_layers.back().layer != *op.layer)
                units.of_layers.push_back({*op.layer, 0, 0});
            units.of_layers.back().all += elements / times;
            if (parameter.expert) units.of_layers.back().experts += elements / times;
        }
    }
    const auto alike = [&](const LayerElements& layer) {
        return layer.all == units.of_layers.front().all;
    };
    if (std::ranges::all_of(units.of_layers, alike)) units.of_layers.clear();
    if (units.layers > 0) {
        units.layer_tensors = std::max(1, tensors / units.layers);
        units.layer /= units.layers;
        units.layer_experts /= units.layers;
        units.layer_narrow /= units.layers;
    }
    return units;
}

int count_of(const ShardedUnits& units) {
    const int before = units.embedding > 0 || (units.has_embedding && units.tied > 0);
    const int after = units.head > 0 || (units.has_head && !units.has_embedding && units.tied > 0);
    return std::max(1, units.layers + before + after);
}

double part_that_comes_last(const ShardedUnits& units) {
    const std::int64_t all = units.root() + units.layers * units.layer;
    const std::int64_t last = units.has_embedding ? units.embedding + units.tied : units.layer;
    return last > 0 ? static_cast<double>(last) / static_cast<double>(all) : 1;
}

PassUse use_of(Pass pass, bool several_holders) {
    const bool makes_gradients = pass == Pass::Backward || pass == Pass::BackwardWeight;
    return {pass != Pass::BackwardWeight, makes_gradients, pass == Pass::BackwardInput,
            several_holders};
}

bool has_several_holders(const Placement& placement) {
    return PlacementIndex(placement).has_several_holders();
}

HeldByPlace held_by_place(const scenarios::Scenario& scenario, const ShardedUnits& all, PassUse use,
                          const FetchPass* fetched) {
    const ShardedUnits units = shared(all, scenario);
    HeldByPlace held{};
    const auto add = [&](PassPlace place, MemoryClass held_as, std::int64_t bytes) {
        held.at[place][held_as].count += bytes;
    };
    using enum PassPlace;
    const Widths width = widths_of(scenario);
    const auto differ = [&] {
        held.beyond = units.of_layers;
        for (LayerElements& layer : held.beyond) layer.all -= units.layer;
    };
    const auto gathered = [&](PassPlace place, int layers) {
        add(place, MemoryClass::Parameters,
            (units.root() + std::min(layers, units.layers) * units.layer) * width.value);
    };
    if (fetched != nullptr && use.reads_parameters) {
        HeldByPlace::Fetched& bytes = held.fetched.emplace();
        for (const std::int64_t elements : fetched->held_by_kernel())
            bytes.by_kernel.push_back(Bytes{elements * width.value});
        bytes.after = Bytes{fetched->left * width.value};
    } else if (scenario.parallel.gathers_in_passes() && scenario.parallel.reshard &&
               use.reads_parameters) {
        if (!units.of_layers.empty()) {
            differ();
            held.gathered = width.value;
            held.mean_layer = units.layer;
        }
        gathered(Loss, 1);
        gathered(Before, 1);
        gathered(First, 2);
        gathered(Inner, 2);
        gathered(Last, 1);
        gathered(After, 0);
    }
    if (!scenario.parallel.shares_gradients()) return held;
    const auto computed = [&](PassPlace place, std::int64_t elements) {
        add(place, MemoryClass::Gradients, elements * width.gradient);
    };
    const auto reduced = [&](PassPlace place, std::int64_t elements) {
        computed(place, elements);
        add(place, MemoryClass::Buffers, elements * width.on_the_wire);
    };
    // A tied table is used at both ends; if one of them is on another stage, at the other end only.
    const bool both_ends = units.has_embedding && units.has_head;
    const std::int64_t stays = both_ends ? units.tied : 0;
    const std::int64_t head = units.head + (units.has_embedding ? 0 : units.tied);
    const std::int64_t embedding = units.embedding + (units.has_embedding ? units.tied : 0);
    if (!use.makes_gradients) {
        if (!makes_heads(units, use)) return held;
        for (const PassPlace place : {Loss, Before, First, Inner, Last, After})
            computed(place, head + stays);
        return held;
    }
    const std::int64_t before_last = units.layers > 0 ? units.layer : head;
    if (waits_whole(scenario, use)) {
        computed(Before, head + stays);
        computed(First, head + stays + units.layer);
        computed(Inner, head + stays + std::min(units.layers, 2) * units.layer);
        computed(Last, head + stays + units.layers * units.layer);
        computed(After, head + embedding + units.layers * units.layer);
        return held;
    }
    if (!units.of_layers.empty()) {
        differ();
        held.computed = width.gradient;
        held.on_the_wire = width.on_the_wire;
    }
    if (scenario.parallel.expert > 1 || scenario.parallel.expert_tensor != scenario.parallel.tensor)
        held.dense_of_layer = (units.layer - units.layer_experts) * width.gradient;
    held.mean_experts = units.layer_experts;
    computed(Before, units.layers > 0 ? head + stays : head + embedding);
    computed(First, units.layer + stays);
    reduced(First, head);
    for (const PassPlace place : {Inner, Last}) {
        computed(place, units.layer + stays);
        reduced(place, units.layers > 1 ? units.layer : head);
    }
    // While the embedding's gradients are made, the last layer's are being reduced, and then its
    // own.
    if (embedding * width.on_the_wire > before_last * (width.gradient + width.on_the_wire)) {
        reduced(After, embedding);
    } else {
        computed(After, embedding);
        reduced(After, before_last);
    }
    return held;
}

MemoryByClass left_unreduced(const scenarios::Scenario& scenario, const ShardedUnits& held,
                             PassUse use) {
    const ShardedUnits units = shared(held, scenario);
    MemoryByClass left{};
    if (!scenario.parallel.shares_gradients() || scenario.parallel.gathers_in_passes()) return left;
    const Widths width = widths_of(scenario);
    const auto leaves = [&](MemoryClass held_as, std::int64_t bytes) {
        left[held_as].count += bytes;
    };
    if (use.makes_gradients && waits_whole(scenario, use)) {
        const std::int64_t elements = units.root() + units.layers * units.layer;
        leaves(MemoryClass::Gradients, elements * width.gradient);
        leaves(MemoryClass::Buffers, elements * width.on_the_wire);
    } else if (makes_heads(units, use)) {
        leaves(MemoryClass::Gradients, (units.head + units.tied) * width.gradient);
    }
    return left;
}

namespace {

constexpr int kBesideLayers = -1;

/// A step's place, its layer, and the layers that the pass runs before and after that.
struct StepPlace {
    PassPlace place{};
    bool dense = true;  ///< whether the layer has made gradients of no expert
    int layer = kBesideLayers;
    int before = kBesideLayers;
    int after = kBesideLayers;
    friend auto operator<=>(const StepPlace&, const StepPlace&) = default;
};

/// The layers of a pass as they run, each as often as it runs again after another one.
std::vector<int> layers_of(const models::PassSteps& pass) {
    std::vector<int> layers;  // of kernels
    for (const models::Step& step : pass.steps)
        if (step.kind == models::Step::Kind::Run)
            layers.push_back(pass.kernels[step.index].layer.value_or(kBesideLayers));
    return layers;
}

/// The first kernel that multiplies, by its place among those that run; none: their number.
std::size_t first_product(const models::PassSteps& pass) {
    std::size_t kernels = 0;
    for (const models::Step& step : pass.steps) {
        if (step.kind != models::Step::Kind::Run) continue;
        if (std::holds_alternative<models::Gemm>(pass.kernels[step.index].work)) break;
        ++kernels;
    }
    return kernels;
}

std::vector<StepPlace> places_of(const models::PassSteps& pass) {
    const std::vector<int> layers = layers_of(pass);
    const auto is_layer = [](int layer) { return layer != kBesideLayers; };
    const auto first = std::ranges::find_if(layers, is_layer);
    const auto last = std::find_if(layers.rbegin(), layers.rend(), is_layer);
    std::vector<int> after(layers.size(), kBesideLayers);  // the next layer that is another one
    for (std::size_t i = layers.size(); i-- > 1;)
        after[i - 1] = layers[i] == layers[i - 1]                     ? after[i]
                       : is_layer(layers[i]) && !pass.after_beside[i] ? layers[i]
                                                                      : kBesideLayers;
    const std::size_t first_of_all = first_product(pass);
    const bool of_head = first_of_all < static_cast<std::size_t>(first - layers.begin());
    const std::size_t product = of_head ? first_of_all : 0;
    std::vector<StepPlace> places;
    places.reserve(pass.steps.size());
    std::size_t next = 0;
    int layer = kBesideLayers, before = kBesideLayers;
    bool dense = false;
    for (const models::Step& step : pass.steps) {
        if (next == layers.size()) {
            places.push_back(places.empty() ? StepPlace{} : places.back());
        } else {
            if (layers[next] != layer) {
                before = std::exchange(layer, layers[next]);
                dense = false;
            }
            dense = dense || pass.makes_dense_gradients[next];
            StepPlace place{PassPlace::Inner, dense || !is_layer(layer), layer, before,
                            after[next]};
            if (next < product)
                place.place = PassPlace::Loss;
            else if (!is_layer(layer))
                place.place = layers.begin() + static_cast<std::ptrdiff_t>(next) < first
                                  ? PassPlace::Before
                                  : PassPlace::After;
            else if (layer == *last)
                place.place = PassPlace::Last;
            else if (layer == *first && !is_layer(before))  // not again, after one that it ran with
                place.place = PassPlace::First;
            places.push_back(place);
        }
        if (step.kind == models::Step::Kind::Run) ++next;
    }
    return places;
}

/// What the layers of the place hold beyond the mean.
MemoryByClass beyond_mean(const HeldByPlace& held, const StepPlace& at) {
    const auto beyond = [&](int layer) {
        const auto found = std::ranges::find(held.beyond, layer, &LayerElements::layer);
        return found == held.beyond.end() ? 0 : found->all;
    };
    /// Of the layer, whose experts are not like the mean's either.
    const auto dense_of = [&](int layer) {
        if (held.dense_of_layer == 0) return std::int64_t{0};
        const auto found = std::ranges::find(held.beyond, layer, &LayerElements::layer);
        if (found == held.beyond.end()) return held.dense_of_layer;
        return held.dense_of_layer +
               held.computed * (found->all - (found->experts - held.mean_experts));
    };
    MemoryByClass more{};
    const auto add = [&](MemoryClass held_as, std::int64_t bytes) { more[held_as].count += bytes; };
    const bool in_layer = at.layer != kBesideLayers;
    // The next layer is on its way, unless embedding or head comes before it.
    const auto next = [&] {
        if (at.place == PassPlace::Last) return std::int64_t{0};
        // A kernel of no layer between two of them, as sums of fp8's scales are.
        if (at.place == PassPlace::After && at.after != kBesideLayers)
            return held.mean_layer + beyond(at.after);
        return in_layer && at.after == kBesideLayers ? -held.mean_layer : beyond(at.after);
    };
    add(MemoryClass::Parameters, held.gathered * (beyond(at.layer) + next()));
    if (!at.dense) add(MemoryClass::Gradients, -dense_of(at.layer));
    if (!in_layer) return more;
    add(MemoryClass::Gradients, held.computed * (beyond(at.layer) + beyond(at.before)));
    add(MemoryClass::Buffers, held.on_the_wire * beyond(at.before));
    return more;
}

}  // namespace

HeldAtSteps::HeldAtSteps(const models::PassSteps& pass, const HeldByPlace& held) {
    if (held == HeldByPlace{}) {
        levels_.emplace_back();
        return;
    }
    std::map<std::pair<StepPlace, Bytes>, std::size_t> known;
    std::size_t step = 0;
    std::size_t kernel = 0;  // the one that the step belongs to
    for (StepPlace place : places_of(pass)) {
        if (held.dense_of_layer == 0) place.dense = true;
        if (held.beyond.empty()) place = {place.place, place.dense};
        Bytes fetched;
        if (held.fetched && !held.fetched->by_kernel.empty())
            fetched = held.fetched->by_kernel[std::min(kernel, held.fetched->by_kernel.size() - 1)];
        if (pass.steps[step++].kind == models::Step::Kind::Run) ++kernel;
        const auto [at, fresh] = known.try_emplace({place, fetched}, levels_.size());
        of_steps_.push_back(at->second);
        if (!fresh) continue;
        MemoryByClass level = held[place.place];
        const MemoryByClass more = beyond_mean(held, place);
        for (std::size_t c = 0; c < kMemoryClasses; ++c) {
            level[c] += more[c];
            assert(level[c] >= Bytes{} &&
                   "a layer below the mean is subtracted where one is counted");
        }
        level[MemoryClass::Parameters] += fetched;
        levels_.push_back(level);
    }
    if (levels_.empty()) levels_.emplace_back();
}

}  // namespace debubble::sim

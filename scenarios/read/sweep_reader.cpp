#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "models/read/layer_keys.h"
#include "scenarios/cluster/reader.h"
#include "scenarios/read/read_scenario.h"
#include "scenarios/read/scenario_tree.h"
#include "text/document.h"
#include "text/document_readers.h"
#include "text/fields.h"
#include "text/mapping_reader.h"
#include "text/quantity.h"

namespace debubble::scenarios {
namespace {

using text::described;
using text::MappingReader;
using text::Mistakes;
using text::Node;
using text::NodePtr;
using text::read_fields;
using text::real;
using text::required;

constexpr std::size_t kMostRangeValues = 10'000;
constexpr double kLargest = 1e15;

/// {from: 1, to: 64, factor: 2} or {from: 1, to: 9, step: 2}; `to` is included.
struct Range {
    double from = 0;
    double to = 0;
    std::optional<double> step;
    std::optional<double> factor;
};

const text::Fields<Range>& range_fields() {
    static const text::Fields<Range> kFields{
        {"from", required(real(&Range::from, -kLargest, kLargest)), "The first value.", "1"},
        {"to", required(real(&Range::to, -kLargest, kLargest)),
         "The last value, or an upper bound of it.", "64"},
        {"step", real(&Range::step, 1e-15, kLargest), "The difference between successive values.",
         "2", "1, without a factor"},
        {"factor", real(&Range::factor, 1.000001, kLargest),
         "The ratio of successive values, instead of their difference.", "2", "none: by step"}};
    return kFields;
}

std::vector<std::string> range_values(const NodePtr& map, std::string_view key,
                                      Mistakes& mistakes) {
    MappingReader in(map, key, mistakes);
    Range range;
    read_fields(in, range_fields(), range);
    in.finish();
    const auto [from, to, given_step, factor] = range;
    const double step = given_step.value_or(1);
    const bool grows = factor.has_value();
    if (given_step && grows) in.complain("factor", "a range can have 'step' or 'factor', not both");
    if (grows && from <= 0) in.complain("from", "a range with a 'factor' must start above 0");
    if (from > to) in.complain("to", fmt::format("the range from {} to {} is empty", from, to));
    std::vector<std::string> values;
    if (!in.good()) return values;
    const double slack = 1e-9 * std::abs(to);
    for (double value = from; value <= to + slack && values.size() <= kMostRangeValues;) {
        values.push_back(fmt::format("{}", value));
        value = grows ? from * std::pow(*factor, static_cast<double>(values.size()))
                      : from + step * static_cast<double>(values.size());
    }
    if (values.size() > kMostRangeValues)
        in.complain("to", fmt::format("a range has more than {} values", kMostRangeValues));
    return values;
}

Diagnostic diagnostic_at(const text::SourcePosition& place) {
    if (!place.source) return {};
    return {location_of(place), {}, line_at(place)};
}

SweepKey read_key(const Node::Entry& entry, Mistakes& mistakes) {
    SweepKey key{entry.key, {}, {}, diagnostic_at(entry.place)};
    const Node& value = *entry.value;
    if (value.is(Node::Kind::Map)) {
        key.values = range_values(entry.value, entry.key, mistakes);
        key.places.assign(key.values.size(), diagnostic_at(entry.place));
    } else if (value.is(Node::Kind::List)) {
        for (const NodePtr& item : value.items) {
            key.values.push_back(text::to_flow(*item));
            key.places.push_back(diagnostic_at(item->place));
        }
        if (value.items.empty())
            mistakes.add(value.place, fmt::format("'{}' has no values", entry.key));
    } else {
        mistakes.add(value.place, fmt::format("'{}' must be swept over a list or a range, not {}",
                                              entry.key, describe(value)));
    }
    return key;
}

void flatten(const Node& node, const std::string& prefix, std::map<std::string, std::string>& out) {
    for (const Node::Entry& entry : node.entries) {
        const std::string key = prefix + entry.key;
        if (entry.value->is(Node::Kind::Scalar)) out[key] = entry.value->scalar;
        if (entry.value->is(Node::Kind::Map)) flatten(*entry.value, key + ".", out);
    }
}

/// The keys to which conditions may refer where the scenario does not give them.
constexpr std::string_view kHaveDefaults[] = {
    "parallel.tensor",     "parallel.pipeline",  "parallel.context",
    "parallel.expert",     "parallel.data",      "schedule",
    "parallel.zero_stage", "training.recompute", "training.attention"};

/// Their defaults, which are those of the reader's table; "auto: the GPUs divided by ..." is auto.
std::map<std::string, std::string> defaults_of_keys() {
    std::map<std::string, std::string> defaults;
    const std::vector<text::Key> keys = keys_of_plan();
    for (const text::KeyAt& at : text::flattened(keys))
        if (std::ranges::find(kHaveDefaults, at.path) != std::end(kHaveDefaults))
            defaults[at.path] = at.key->otherwise.substr(0, at.key->otherwise.find(':'));
    defaults["parallel.stages_per_rank"] = std::to_string(Parallel().stages_per_rank);
    return defaults;
}

/// All values that conditions may refer to and that the grid does not change.
std::map<std::string, std::string> fixed_values(const NodePtr& root, text::ShippedFiles& shipped) {
    static const std::map<std::string, std::string> kDefaults = defaults_of_keys();
    std::map<std::string, std::string> fixed = kDefaults;
    Mistakes ignored;  // they are reported when the scenario is read
    const Parts parts = read_parts(root, shipped, ignored);
    if (ignored.empty()) {
        const auto* attention = parts.model.layers.first<models::Attention>();
        const auto* experts = parts.model.layers.first<models::Experts>();
        fixed["model.layers"] = std::to_string(parts.model.layers.count());
        fixed["model.hidden"] = std::to_string(parts.model.hidden);
        fixed["model.heads"] = std::to_string(attention ? attention->heads : 0);
        fixed["model.kv_heads"] = std::to_string(attention ? attention->kv_heads : 0);
        fixed["model.experts"] = std::to_string(experts ? experts->count : 0);
        fixed["cluster.gpus_per_node"] = std::to_string(parts.cluster.gpus_per_node);
    }
    flatten(*text::without(root, "sweep"), "", fixed);
    for (const char* key : {"schedule", "training.optimizer"})
        if (fixed.contains(key)) fixed[std::string(key) + ".name"] = fixed[key];
    return fixed;
}

constexpr std::string_view kFollowsTensor = "parallel.expert_tensor";  ///< unless it is given

/// True if the key is swept, or the same at every point.
bool is_said(const Sweep& sweep, const std::string& key) {
    for (const SweepKey& swept : sweep.keys) {
        if (key == swept.key) return true;
        if (key.starts_with(swept.key + ".")) return key.ends_with(".name");
    }
    return sweep.fixed.contains(key);
}

/// True if the grid determines the value of this key at every point.
bool is_known(const Sweep& sweep, const std::string& key) {
    return key == kFollowsTensor || is_said(sweep, key);
}

void read_conditions(const NodePtr& where, Sweep& sweep, Mistakes& mistakes) {
    const std::vector<NodePtr> one{where};
    for (const NodePtr& item : where->is(Node::Kind::List) ? where->items : one) {
        if (!item->is(Node::Kind::Scalar)) {
            mistakes.add(item->place,
                         fmt::format("a condition must be text, not {}", describe(*item)));
            continue;
        }
        try {
            Expression condition(item->scalar);
            std::vector<std::string> known;
            for (const auto& [key, value] : sweep.fixed) known.push_back(key);
            for (const SweepKey& key : sweep.keys) known.push_back(key.key);
            for (const std::string& key : condition.keys())
                if (!is_known(sweep, key))
                    mistakes.add(item->place, text::unknown_word("key", key, known),
                                 Diagnostic::Kind::UnknownName);
            sweep.conditions.push_back({std::move(condition), diagnostic_at(item->place)});
        } catch (const InputError& error) {
            mistakes.add(item->place, error.diagnostics().front().message);
        }
    }
}

ExpressionValue value_of_text(const std::string& text) {
    if (const auto number = text::parse_real(text)) return *number;
    return text;
}

/// The `name` in a swept `schedule` such as {name: zb-h1, ...}, or the word itself.
ExpressionValue name_in(const std::string& value) {
    if (!value.starts_with('{')) return value_of_text(value);
    const NodePtr name = text::parse_yaml(value, "sweep")->get("name");
    return name ? value_of_text(name->scalar) : ExpressionValue{std::string()};
}

constexpr std::string_view kWhere = "where";
constexpr std::string_view kGrid = "sweep";

/// Complains about keys that are no longer read when a point sets them, and about two keys that set
/// the same: each point has one value of a key.
void check_keys(const Node& map, const Sweep& sweep, Mistakes& mistakes) {
    for (const Node::Entry& entry : map.entries) {
        if (entry.key == kGrid || entry.key.starts_with(std::string(kGrid) + '.'))
            mistakes.add(entry.place, "a grid cannot sweep 'sweep', which is the grid itself");
        if (entry.key == "include")
            mistakes.add(entry.place,
                         "a grid cannot sweep 'include', which is read before its points");
    }
    for (std::size_t outer = 0; outer < sweep.keys.size(); ++outer)
        for (std::size_t inner = 0; inner < sweep.keys.size(); ++inner) {
            const SweepKey &whole = sweep.keys[outer], &part = sweep.keys[inner];
            if (!part.key.starts_with(whole.key + '.')) continue;
            const NodePtr values = map.get(whole.key);
            const auto gives = [&](const NodePtr& value) {
                return text::at(value, part.key.substr(whole.key.size() + 1)) != nullptr;
            };
            if (inner < outer)
                mistakes.add(map.find(whole.key)->place,
                             fmt::format("'{}' replaces what '{}' sets: sweep it before '{}'",
                                         whole.key, part.key, part.key));
            else if (std::ranges::any_of(values->items, gives))
                mistakes.add(map.find(part.key)->place,
                             fmt::format("'{}' is swept twice: values of '{}' give it too",
                                         part.key, whole.key));
        }
}

/// A condition that has no value at a point, with the values of its keys there.
InputError without_value(const SweepCondition& condition, const InputError& error,
                         const Lookup& lookup) {
    std::string where;
    for (const std::string& key : condition.expression.keys()) {
        const ExpressionValue value = lookup(key);
        const auto* number = std::get_if<double>(&value);
        where += fmt::format("{}{} is {}", where.empty() ? " where " : " and ", key,
                             number ? fmt::format("{}", *number) : std::get<std::string>(value));
    }
    Diagnostic mistake = condition.place;
    mistake.message = error.diagnostics().front().message + where;
    return InputError(std::vector{std::move(mistake)});
}

}  // namespace

std::vector<text::Form> sweep_forms() {
    using text::Form;
    const Form any{text::TextForm{}};
    text::Key where{std::string(kWhere),
                    {any, Form{text::ListForm{{any}, {}}}},
                    "Conditions over any keys that a point must meet; one, or a list.",
                    "parallel.tensor * parallel.pipeline <= 64",
                    "none: all points"};
    return {Form{text::GridForm{{std::move(where)}, described(range_fields())}}};
}

Sweep sweep_of(const NodePtr& root, text::ShippedFiles& shipped) {
    Sweep sweep;
    Mistakes mistakes;
    const NodePtr map = root->get(kGrid);
    if (!map || map->is(Node::Kind::Null)) return sweep;
    MappingReader in(map, kGrid, mistakes);
    for (const Node::Entry& entry : in.mapping()->entries)
        if (entry.key != kWhere) sweep.keys.push_back(read_key(entry, mistakes));
    check_keys(*in.mapping(), sweep, mistakes);
    sweep.fixed = fixed_values(root, shipped);
    if (const NodePtr where = in.value(kWhere)) read_conditions(where, sweep, mistakes);
    double points = 1;
    for (const SweepKey& key : sweep.keys) points *= static_cast<double>(key.values.size());
    if (points > kLargest) mistakes.add(map->place, fmt::format("the grid has {} points", points));
    mistakes.throw_if_any();
    return sweep;
}

std::size_t Sweep::points() const {
    if (keys.empty()) return 0;
    std::size_t count = 1;
    for (const SweepKey& key : keys) count *= key.values.size();
    return count;
}

std::vector<Override> Sweep::point(std::size_t index) const {
    std::vector<Override> overrides(keys.size());
    for (std::size_t k = keys.size(); k-- > 0;) {
        overrides[k] = {keys[k].key, keys[k].values[index % keys[k].values.size()]};
        index /= keys[k].values.size();
    }
    return overrides;
}

bool Sweep::admits(std::size_t index) const {
    if (conditions.empty()) return true;
    const std::vector<Override> here = point(index);
    const Lookup lookup = [&](const std::string& key) -> ExpressionValue {
        for (const auto& [swept, value] : here) {
            if (key == swept) return value_of_text(value);
            if (key == swept + ".name") return name_in(value);
        }
        const auto known = fixed.find(key);
        return known == fixed.end() ? ExpressionValue{std::string()} : value_of_text(known->second);
    };
    const Lookup followed = [&](const std::string& key) {
        return lookup(key == kFollowsTensor && !is_said(*this, key) ? "parallel.tensor" : key);
    };
    for (const SweepCondition& condition : conditions) {
        try {
            if (!condition.expression.holds(followed)) return false;
        } catch (const InputError& error) {
            throw without_value(condition, error, followed);
        }
    }
    return true;
}

}  // namespace debubble::scenarios

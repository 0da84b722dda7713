#include "text/key.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/overloaded.h"

namespace debubble::text {
namespace {

constexpr double kUnbounded = 1e12;  ///< bounds from here on only keep arithmetic safe

std::string range_text(double least, double most, const std::string& unit) {
    std::string text = least <= -kUnbounded ? "" : fmt::format(" from {}", least);
    if (most < kUnbounded) text += fmt::format(" to {}", most);
    return unit.empty() ? text : fmt::format("{} ({})", text, unit);
}

std::string text_of(const Form& form) {
    return std::visit(
        Overloaded{
            [](const WholeForm& f) {
                return "a whole number" + range_text(static_cast<double>(f.least),
                                                     static_cast<double>(f.most), f.unit);
            },
            [](const RealForm& f) { return "a number" + range_text(f.least, f.most, f.unit); },
            [](const FlagForm&) { return std::string("true or false"); },
            [](const TextForm&) { return std::string("a text"); },
            [](const PathForm&) { return std::string("a path"); },
            [](const QuantityForm& f) {
                return fmt::format("a number with{} a unit ({})",
                                   f.quantity == Quantity::Count ? " or without" : "",
                                   fmt::join(unit_names(f.quantity), ", "));
            },
            [](const WordForm& f) { return fmt::format("one of {}", fmt::join(f.words, ", ")); },
            [](const ShippedForm& f) {
                return fmt::format("the name of a file in {}, or a path", f.folder);
            },
            [](const ListForm& f) {
                if (f.of.empty()) return std::string("a list");
                return (f.count ? fmt::format("a list of {}, each ", *f.count)
                                : std::string("a list, each element ")) +
                       text_of(std::span(f.of));
            },
            [](const MapForm&) { return std::string("a map"); },
            [](const TableForm& f) {
                return fmt::format("a map from {} to {}", f.placeholder, text_of(std::span(f.of)));
            },
            [](const GridForm&) {
                return std::string(
                    "a map from any keys of the scenario to lists of their values, or to ranges");
            },
            [](const ForeignForm& f) {
                return fmt::format("{} (a map with '{}')", f.format, f.mark);
            }},
        form.is);
}

std::span<const Key> keys_in(std::span<const Form> forms) {
    for (const Form& form : forms) {
        if (const auto* map = std::get_if<MapForm>(&form.is)) return map->keys;
        if (const auto* grid = std::get_if<GridForm>(&form.is)) return grid->own;
        if (const auto* list = std::get_if<ListForm>(&form.is))
            if (const auto inner = keys_in(std::span(list->of)); !inner.empty()) return inner;
    }
    return {};
}

const GridForm* grid_in(const Key& key) {
    for (const Form& form : key.forms)
        if (const auto* grid = std::get_if<GridForm>(&form.is)) return grid;
    return nullptr;
}

void flatten(std::span<const Key> keys, const std::string& prefix, std::vector<KeyAt>& out) {
    for (const Key& key : keys) {
        out.push_back({prefix + key.name, &key});
        const std::string inner = prefix + key.name + '.';
        flatten(keys_in(key), inner, out);
        if (const GridForm* grid = grid_in(key))
            flatten(grid->range, fmt::format("{}{}.", inner, kAnyPath), out);
    }
}

/// The default of a key that several variants have.
struct Default {
    std::string value;
    std::vector<std::string> variants;
};

std::string text_of(const std::vector<Default>& defaults, bool all) {
    if (defaults.size() == 1 && all) return defaults.front().value;
    std::string text;
    for (const Default& d : defaults)
        text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", d.value,
                            fmt::join(d.variants, ", "));
    return text;
}

}  // namespace

std::span<const Key> keys_in(const Key& key) {
    return keys_in(std::span(key.forms));
}

std::vector<KeyAt> flattened(std::span<const Key> keys) {
    std::vector<KeyAt> all;
    flatten(keys, "", all);
    return all;
}

std::string text_of(std::span<const Form> forms) {
    std::string text;
    for (const Form& form : forms) text += (text.empty() ? "" : ", or ") + text_of(form);
    return text;
}

std::vector<Key> merged_variants(
    std::span<const std::pair<std::string, std::vector<Key>>> variants) {
    std::vector<Key> all;
    for (const auto& [variant, keys] : variants)
        for (const Key& key : keys)
            if (std::ranges::find(all, key.name, &Key::name) == all.end()) all.push_back(key);
    for (Key& merged : all) {
        std::vector<Default> defaults;
        std::size_t having = 0;
        for (const auto& [variant, keys] : variants) {
            const auto key = std::ranges::find(keys, merged.name, &Key::name);
            if (key == keys.end() || key->otherwise.empty()) continue;
            ++having;
            const auto same = std::ranges::find(defaults, key->otherwise, &Default::value);
            if (same == defaults.end())
                defaults.push_back({key->otherwise, {variant}});
            else
                same->variants.push_back(variant);
        }
        merged.otherwise = text_of(defaults, having == variants.size());
    }
    return all;
}

}  // namespace debubble::text

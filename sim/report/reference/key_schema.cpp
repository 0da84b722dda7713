#include "sim/report/reference/key_pages.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/overloaded.h"
#include "text/shipped_files.h"

namespace debubble::sim {
namespace {

using Json = nlohmann::ordered_json;
using text::Form;
using text::Key;

constexpr const char* kDraft = "https://json-schema.org/draft/2020-12/schema";
constexpr const char* kPathPattern = "/|\\.(ya?ml|json)$";
constexpr const char* kNumberPattern = "^ *[0-9.][0-9.eE+-]* *";

/// Writes the schema of every key into `$defs` under its path, so that grids can refer to it.
class Writer {
public:
    explicit Writer(Json& definitions) : definitions_(definitions) {}

    /// The object with these keys, whose paths begin with `prefix`.
    Json object_of(std::span<const Key> keys, const std::string& prefix) {
        Json properties = Json::object();
        for (const Key& key : keys) {
            define(key, prefix + key.name);
            properties[key.name] = reference(prefix + key.name);
        }
        return {{"type", "object"},
                {"properties", std::move(properties)},
                {"additionalProperties", false}};
    }

    /// Adds the properties of grids, once every path is defined.
    void finish_grids() {
        const Json paths = definitions_;
        for (const auto& [grid, range] : grids_) {
            Json& properties = definitions_[grid]["anyOf"][0]["properties"];
            for (const auto& [path, schema] : paths.items()) {
                if (path == grid || path.starts_with(grid + '.')) continue;
                properties[path] = {
                    {"anyOf", {{{"type", "array"}, {"items", reference(path)}}, reference(range)}}};
            }
        }
    }

private:
    static Json reference(const std::string& path) { return {{"$ref", "#/$defs/" + path}}; }

    void define(const Key& key, const std::string& path) {
        Json alternatives = Json::array();
        for (const Form& form : key.forms) alternatives.push_back(schema_of(form, path));
        alternatives.push_back({{"type", "null"}});
        std::string description = key.meaning;
        if (key.required)
            description += " Required.";
        else if (!key.otherwise.empty())
            description += fmt::format(" Default: {}.", key.otherwise);
        Json schema{{"description", std::move(description)}};
        if (!key.example.empty()) schema["examples"] = {key.example};
        schema["anyOf"] = std::move(alternatives);
        definitions_[path] = std::move(schema);
    }

    Json any_of(const std::vector<Form>& forms, const std::string& path) {
        if (forms.size() == 1) return schema_of(forms.front(), path);
        Json alternatives = Json::array();
        for (const Form& form : forms) alternatives.push_back(schema_of(form, path));
        return {{"anyOf", std::move(alternatives)}};
    }

    Json grid_of(const text::GridForm& grid, const std::string& path) {
        const std::string range = fmt::format("{}.{}", path, text::kAnyPath);
        Json schema = object_of(grid.own, path + '.');
        definitions_[range] = object_of(grid.range, range + '.');
        grids_.emplace_back(path, range);
        return schema;
    }

    Json list_of(const text::ListForm& list, const std::string& path) {
        Json schema{{"type", "array"}};
        if (!list.of.empty()) schema["items"] = any_of(list.of, path);
        if (list.count) schema["minItems"] = schema["maxItems"] = *list.count;
        return schema;
    }

    Json schema_of(const Form& form, const std::string& path) {
        return std::visit(
            Overloaded{
                [](const text::WholeForm& f) {
                    return Json{{"type", "integer"}, {"minimum", f.least}, {"maximum", f.most}};
                },
                [](const text::RealForm& f) {
                    return Json{{"type", "number"}, {"minimum", f.least}, {"maximum", f.most}};
                },
                [](const text::FlagForm&) {
                    return Json{{"type", "boolean"}};
                },
                [](const text::TextForm&) {
                    return Json{{"type", {"string", "number", "boolean"}}};
                },
                [](const text::PathForm&) {
                    return Json{{"type", "string"}};
                },
                [](const text::QuantityForm& f) {
                    const bool bare = f.quantity == text::Quantity::Count;  // without a unit
                    return Json{
                        {"type", bare ? Json{"string", "number"} : Json("string")},
                        {"pattern", fmt::format("{}({}){} *$", kNumberPattern,
                                                fmt::join(text::unit_names(f.quantity), "|"),
                                                bare ? "?" : "")}};
                },
                [](const text::WordForm& f) {
                    return Json{{"enum", f.words}};
                },
                [](const text::ShippedForm& f) {
                    return Json{{"anyOf",
                                 {{{"enum", text::shipped_names(f.folder)}},
                                  {{"type", "string"}, {"pattern", kPathPattern}}}}};
                },
                [&](const text::ListForm& f) { return list_of(f, path); },
                [&](const text::MapForm& f) {
                    // A map in a list that may be nested: only its reader knows its keys.
                    if (f.keys.empty()) return Json{{"type", "object"}};
                    return object_of(f.keys, path + '.');
                },
                [&](const text::TableForm& f) {
                    return Json{{"type", "object"},
                                {"patternProperties", {{f.pattern, any_of(f.of, path)}}},
                                {"additionalProperties", false}};
                },
                [&](const text::GridForm& f) { return grid_of(f, path); },
                [](const text::ForeignForm& f) {
                    return Json{
                        {"type", "object"}, {"description", f.format}, {"required", {f.mark}}};
                }},
            form.is);
    }

    Json& definitions_;
    std::vector<std::pair<std::string, std::string>> grids_;  ///< paths of a grid and of its range
};

/// The keys of the file that `key` may name.
std::span<const Key> keys_of_file(std::string_view name, std::span<const Key> scenario) {
    return name == "scenario" ? scenario
                              : text::keys_in(*std::ranges::find(scenario, name, &Key::name));
}

}  // namespace

std::vector<std::string> schema_names() {
    return {"scenario", "cluster", "framework", "model"};
}

std::string key_schema(std::string_view name, std::span<const Key> keys) {
    Json definitions = Json::object();
    Writer writer(definitions);
    Json root = writer.object_of(keys_of_file(name, keys), "");
    writer.finish_grids();
    Json schema{{"$schema", kDraft},
                {"title", fmt::format("A {} of debubble", name)},
                {"$comment", fmt::format("written by: debubble help --schema {}", name)}};
    schema.update(root);
    schema["$defs"] = std::move(definitions);
    return schema.dump(1) + '\n';
}

}  // namespace debubble::sim

#include "models/hf/hf_config.h"

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/diagnostic.h"
#include "models/hf/classes.h"
#include "models/read/architecture_words.h"
#include "text/document_readers.h"

namespace debubble::models {
namespace {

/// No configuration says in which type a router's logits are: each class has its own.
Architecture without_router_dtype(Architecture a) {
    a.layers = a.layers.changed([](Layer& layer) {
        if (auto* experts = std::get_if<Experts>(&layer.mlp))
            experts->router_dtype = RouterDtype::Compute;
    });
    return a;
}

/// The keys of a model's file that differ, apart from what no configuration says.
std::vector<std::string> differences(const Architecture& trained, Architecture other) {
    const Architecture a = without_router_dtype(trained);
    other = without_router_dtype(std::move(other));
    other.name = a.name;
    other.source = a.source;
    other.dropout = a.dropout;
    other.sharding = a.sharding;
    if (other == a) return {};
    const auto keys = [](const Architecture& network) {
        return HfJson::parse(architecture_json(network));
    };
    const HfJson mine = keys(a), theirs = keys(other);
    std::set<std::string> found;
    for (const auto& [one, two] : {std::pair(&mine, &theirs), std::pair(&theirs, &mine)})
        for (const auto& [key, value] : one->items())
            if (!two->contains(key) || two->at(key) != value) found.insert(key);
    return {found.begin(), found.end()};
}

/// The reasons why a class does not build the network: its configuration is read as another one.
std::vector<std::string> shortcomings(const Architecture& a, const HfJson& config) {
    text::Mistakes mistakes;
    const Architecture read =
        read_hf_config(text::parse_json(config.dump(), "config.json"), mistakes);
    std::vector<std::string> found = differences(a, read);
    if (found.empty() && !mistakes.empty()) found.emplace_back("a configuration without errors");
    return found;
}

}  // namespace

HfConfig hf_config(const Architecture& a, std::string_view torch_type) {
    if (hf_classes(a.family).empty())
        throw InputError(fmt::format(
            "'{}' cannot be exported: networks with recurrent layers can only be simulated",
            a.name));
    std::string_view nearest;
    std::vector<std::string> fewest;
    for (const HfClass& kind : hf_classes(a.family)) {
        HfJson json = {{"architectures", HfJson::array({kind.name})}, {"model_type", kind.type}};
        json.update(kind.config(a));
        json["torch_dtype"] = torch_type;
        std::vector<std::string> missing = shortcomings(a, json);
        if (missing.empty()) return {std::string(kind.type), json.dump(2) + "\n"};
        if (nearest.empty() || missing.size() < fewest.size()) {
            nearest = kind.name;
            fewest = std::move(missing);
        }
    }
    if (nearest.empty())
        throw InputError(fmt::format(
            "'{}' cannot be exported: writing configurations of its family is not supported",
            a.name));
    throw InputError(
        fmt::format("'{}' cannot be exported: no known class of transformers builds it; {}, the "
                    "nearest, lacks: {}",
                    a.name, nearest, fmt::join(fewest, ", ")));
}

}  // namespace debubble::models

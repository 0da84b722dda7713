#include <algorithm>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "sim/anchor/anchor.h"
#include "sim/report/plan_json.h"

namespace debubble::sim {

std::vector<std::string> differing_keys(const scenarios::Scenario& one,
                                        const scenarios::Scenario& other) {
    const auto flat = [](const scenarios::Scenario& scenario) {
        auto json = plan_json(scenario);
        json.erase("words");
        json.erase("nodes");  // follows from the number of GPUs
        std::map<std::string, std::string> values;
        auto given = json.at("given");
        json.erase("given");
        const auto flattened = json.flatten();
        for (const auto& [key, value] : flattened.items()) {
            std::string name = key.substr(1);
            std::ranges::replace(name, '/', '.');
            values[name] = value.dump();
        }
        for (const auto& [key, value] : given.items())
            if (key.find('.') != std::string::npos) values.try_emplace(key, value.dump());
        return values;
    };
    const auto a = flat(one);
    const auto b = flat(other);
    std::set<std::string> keys;
    for (const auto& [key, value] : a)
        if (const auto found = b.find(key); found == b.end() || found->second != value)
            keys.insert(key);
    for (const auto& [key, value] : b)
        if (!a.contains(key)) keys.insert(key);
    return {keys.begin(), keys.end()};
}

std::string class_of_difference(const std::vector<std::string>& keys) {
    const auto class_of = [](const std::string& key) -> std::string {
        const auto in = [&](std::string_view start) { return key.starts_with(start); };
        if (in("model")) return "network";
        if (in("cluster")) return "machines";
        if (in("framework")) return "software";
        if (key == "gpus") return "gpus";
        if (in("training.recompute")) return "recompute";
        if (in("training.compute") || in("training.precision")) return "precision";
        if (in("training.")) return "batch";
        if (in("schedule")) return "schedule";
        return "cut";
    };
    // Replicas follow from the number of GPUs and the cut, and the batch is mostly theirs.
    std::set<std::string> classes;
    for (const std::string& key : keys)
        if (key != "parallel.data") classes.insert(class_of(key));
    for (const char* leading : {"gpus", "cut"})
        if (classes.contains(leading)) classes.erase("batch");
    if (classes.empty()) return keys.empty() ? kItself.differs : "gpus";
    return classes.size() == 1 ? *classes.begin() : "several";
}

}  // namespace debubble::sim

#include <algorithm>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "sim/anchor/anchor.h"
#include "sim/report/plan_json.h"

namespace debubble::sim {

std::vector<std::string> differing_keys(const scenarios::Scenario& one,
                                        const scenarios::Scenario& other) {
    const auto a = plan_values(plan_json(one));
    const auto b = plan_values(plan_json(other));
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
    // Replicas follow from the number of GPUs and the partition, and the batch mostly follows from
    // them.
    std::set<std::string> classes;
    for (const std::string& key : keys)
        if (key != "parallel.data") classes.insert(class_of(key));
    for (const char* leading : {"gpus", "cut"})
        if (classes.contains(leading)) classes.erase("batch");
    if (classes.empty()) return keys.empty() ? kNoDifference : "gpus";
    return classes.size() == 1 ? *classes.begin() : "several";
}

}  // namespace debubble::sim

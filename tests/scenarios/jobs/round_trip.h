#pragma once

#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "scenarios/jobs/job.h"
#include "scenarios/jobs/write/exported.h"
#include "scenarios/jobs/write/job_writer.h"
#include "scenarios/read/read_scenario.h"

namespace debubble::jobs {

/// The keys of a plan that its job leaves out.
inline std::set<std::string> keys_of(const Exported& exported) {
    std::set<std::string> keys;
    for (const Unsaid& one : exported.unsaid) {
        for (std::size_t at = 0; at < one.key.size();) {
            const std::size_t end = std::min(one.key.find(", ", at), one.key.size());
            keys.insert(one.key.substr(at, end - at));
            at = end + 2;
        }
    }
    return keys;
}

/// Reads a job back with what it was said to leave out, and compares the plans.
inline void expect_round_trip(const scenarios::Scenario& plan, const std::string& format) {
    const Exported exported = export_job(plan, format);
    const std::set<std::string> unsaid = keys_of(exported);
    ASSERT_FALSE(unsaid.contains("plan")) << format << " " << plan.name << ": " << exported.text;
    std::vector<scenarios::Override> given{
        {"cluster", plan.cluster.gpus_per_tray
                        ? plan.cluster.name
                        : fmt::format("{{base: {}, gpus_per_node: {}}}", plan.cluster.name,
                                      plan.cluster.gpus_per_node)},
        {"gpus", std::to_string(plan.gpus)}};
    if (unsaid.contains("model")) return;  // export_job has compared the rest
    if (unsaid.contains("training.seq_length"))
        given.emplace_back("seq_length", std::to_string(plan.training.seq_length));
    if (unsaid.contains("training.global_batch"))
        given.emplace_back("global_batch", std::to_string(plan.training.global_batch));
    if (unsaid.contains("parallel.context"))
        given.emplace_back("parallel.context", std::to_string(plan.parallel.context));
    if (unsaid.contains("imbalance.sequence"))
        given.emplace_back("imbalance.sequence",
                           fmt::format("{{mean: 4096, global_batch_packing: {}}}",
                                       plan.imbalance.documents->global_batch_packing));
    if (unsaid.contains("parallel.sequence"))
        given.emplace_back("parallel.sequence", plan.parallel.sequence ? "true" : "false");
    const Imported back =
        import_text(exported.text, fmt::format("job{}", export_ending(format)), "", given);
    EXPECT_EQ(back.format, format);
    const auto wanted = plan_keys(plan);
    const auto got = plan_keys(scenarios::parse_scenario(back.text, "back.yaml"));
    for (const auto& [key, value] : wanted) {
        if (key == "model" || unsaid.contains(key)) continue;
        const auto found = got.find(key);
        EXPECT_EQ(found == got.end() ? "nothing" : found->second, value)
            << key << " of " << plan.name << " as " << format << "\n"
            << exported.text;
    }
}

}  // namespace debubble::jobs

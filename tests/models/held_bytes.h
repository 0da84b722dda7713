#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "models/graph/graph.h"
#include "models/graph/operator_runs.h"

/// What the steps of a stage's passes leave allocated, and what its operators save.
namespace debubble::models {

/// Bytes that a forward leaves for its backward.
inline std::int64_t held_after_forward(const StageGraph& graph) {
    std::int64_t held = 0;
    for (const Step& step : forward_steps(graph).steps) {
        const std::int64_t bytes =
            step.kind == Step::Kind::Run ? 0 : graph.tensors[step.index].bytes.count;
        held += step.kind == Step::Kind::Allocate ? bytes : -bytes;
    }
    return held;
}

/// Bytes that operators with such a name save, each tensor once.
inline std::int64_t saved(const StageGraph& graph, const std::set<std::string>& names) {
    std::set<int> tensors;
    for (const Operator& op : graph.operators)
        for (const std::string& name : names)
            if (op.name.find(name) != std::string::npos)
                tensors.insert(op.saved.begin(), op.saved.end());
    std::int64_t bytes = 0;
    for (const int tensor : tensors) bytes += graph.tensors[tensor].bytes.count;
    return bytes;
}

/// All passes together free each tensor as often as they allocate it.
inline void expect_to_free_what_it_allocates(const StageGraph& graph, bool split) {
    std::vector<int> alive(graph.tensors.size());
    for (const PassSteps& pass : steps_of(graph, split))
        for (const Step& step : pass.steps)
            if (step.kind != Step::Kind::Run)
                alive[step.index] += step.kind == Step::Kind::Allocate ? 1 : -1;
    for (std::size_t i = 0; i < alive.size(); ++i)
        EXPECT_EQ(alive[i], 0) << graph.tensors[i].name << (split ? ", split" : "");
}

}  // namespace debubble::models

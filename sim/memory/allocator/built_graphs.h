#pragma once

#include <memory>

#include "models/graph/graph.h"

namespace debubble::sim {

/// The builder of the graphs of one network's stages. They are kept for the process: plans that
/// differ in replicas, sharding or order have the same ones.
class BuiltGraphs {
public:
    BuiltGraphs(const models::Architecture& model, const models::Execution& execution,
                models::ExpertParameters experts);

    /// models::build_stage() of the slice. Thread-safe.
    std::shared_ptr<const models::StageGraph> get(const models::StageContent& content,
                                                  int slice) const;

private:
    struct Key;
    std::shared_ptr<const models::Architecture> model_;
    models::Execution execution_;
    models::ExpertParameters experts_;
};

}  // namespace debubble::sim

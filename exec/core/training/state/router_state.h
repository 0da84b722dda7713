#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "exec/core/arena.h"
#include "exec/core/kernels.h"
#include "models/graph/graph.h"

namespace debubble::exec {

/// The state of a stage's routers apart from parameters: the tokens of each expert in a step, and
/// the biases that correct the choice (DeepSeek-V3, arXiv:2412.19437, section 2.1.2).
class RouterState {
public:
    struct Layer {
        int layer = 0;
        std::int64_t experts = 1;
        std::int64_t first = 0;              ///< first of its experts among those of all layers
        std::optional<int> correction = {};  ///< index into StageGraph::buffers
    };

    /// All numbers are zero at first.
    RouterState(const models::StageGraph& graph, Kernels& kernels, Arena& arena);

    const std::vector<Layer>& layers() const { return layers_; }
    /// fp32 [experts]: a layer's tokens, which passes add to.
    TensorView loads(int layer) const;
    /// fp32 [experts of all layers], to be summed over ranks at the end of a step.
    TensorView loads() const { return loads_.view(); }
    TensorView correction(int buffer) const;  ///< fp32 [experts]

    void begin_step();
    /// Reads the summed loads, and raises by `rate` the correction of each expert that got fewer
    /// tokens than the mean of its layer, or lowers it.
    void end_step(double rate);
    /// The loads that the last end_step() has read, of all layers.
    const std::vector<float>& counted() const { return counted_; }

private:
    TensorView part(const ArenaTensor& of, const Layer& layer) const;
    void correct(const Layer& layer, float rate);

    Kernels* kernels_;
    std::vector<Layer> layers_;
    ArenaTensor loads_, corrections_;  ///< empty without experts, or corrections
    std::vector<float> counted_;
};

}  // namespace debubble::exec

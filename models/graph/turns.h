#pragma once

#include <cstddef>
#include <cstdint>

/// A forward and a backward of two microbatches whose layers are overlapped part by part, in the
/// order in which Megatron-Core issues the parts (Megatron-LM d98e8a6,
/// core/models/common/model_chunk_schedule_plan.py). The executor runs this order, and a pair's
/// memory is planned by it.
namespace debubble::models {

/// The part of a pass between two points at which the other pass may continue.
enum class TurnPart : std::uint8_t {
    Outside,   ///< operators of no layer
    Computes,  ///< operators of a layer up to its next exchange, delayed weights, or its end
    Asks,      ///< starts an all-to-all of the experts, which overlaps the other pass
    Weights,   ///< weight gradients that are delayed
};

/// Steps of a pass: those of `layer` that end before the step `end`.
struct TurnSteps {
    TurnPart part{};
    int layer = -1;       ///< number in the model; -1 outside of layers
    std::size_t end = 0;  ///< the frees that follow an all-to-all belong to the next part
    friend bool operator==(const TurnSteps&, const TurnSteps&) = default;
};

/// Runs both passes. Each has run_outside(), which runs what comes before its layers or after them;
/// begin_layer(), false if none is left; compute(), exchange() and weights(), which run the part
/// that comes next in the layer if it is of that kind; and finish_layer(), which runs the rest of
/// it.
template <class Forward, class Backward>
void take_turns(Forward& f, Backward& b) {
    f.run_outside();
    b.run_outside();
    for (;;) {
        const bool forward_has = f.begin_layer(), backward_has = b.begin_layer();
        if (!forward_has && !backward_has) break;
        b.compute();
        b.exchange();  // of the experts' outputs' gradients
        f.compute();   // attention and router
        b.compute();   // experts
        f.exchange();  // to the experts
        b.weights();
        b.exchange();  // of their inputs' gradients
        f.compute();   // experts
        f.exchange();  // from the experts
        b.finish_layer();
        f.finish_layer();
    }
    b.run_outside();
    f.run_outside();
}

}  // namespace debubble::models

#include "exec/core/interpreter/run_in_turns.h"

#include <algorithm>
#include <array>

#include "models/graph/turns.h"

namespace debubble::exec {

namespace {

/// One pass of the pair, whose parts are recorded.
class Recorded {
public:
    Recorded(const Turn& turn, Recorder& recorder) : turn_(turn), recorder_(recorder) {}

    void run_outside() {
        layer_ = -1;
        const Moment begin = recorder_.now();
        turn_.pass.run_outside();
        recorder_.pair_part(turn_.action, PairStep::Outside, layer_, begin, recorder_.now());
    }
    bool begin_layer() {
        const std::optional<int> next = turn_.pass.begin_layer();
        in_layer_ = next.has_value();
        computed_ = exchanged_ = 0;
        layer_ = next.value_or(-1);
        return in_layer_;
    }
    void compute() {
        if (!in_layer_ || (turn_.pass.layer_is_done() && !asked_)) return;
        if (asked_) recorder_.pair_part(turn_.action, exchange_step(), layer_, turn_.pass.await());
        asked_ = false;
        const Moment begin = recorder_.now();
        turn_.pass.compute();
        recorder_.pair_part(turn_.action, compute_step(), layer_, begin, recorder_.now());
    }
    void exchange() {
        if (in_layer_) asked_ = turn_.pass.exchange() || asked_;
    }
    void weights() {
        if (!in_layer_ || asked_ || turn_.pass.layer_is_done()) return;
        const Moment begin = recorder_.now();
        if (turn_.pass.weights())
            recorder_.pair_part(turn_.action, weights_step(), layer_, begin, recorder_.now());
    }
    /// Exchanges beyond the two of a layer come one after the other.
    void finish_layer() {
        compute();
        weights();
        while (in_layer_ && !turn_.pass.layer_is_done()) {
            exchange();
            compute();
            weights();
        }
    }

private:
    /// A layer without experts is computed as one.
    PairStep compute_step() {
        using enum PairStep;
        constexpr std::array kForward{Attention, Experts, Combine};
        constexpr std::array kBackward{Combine, Experts, Attention};
        const std::size_t at = std::min<std::size_t>(computed_++, 2);
        if (at == 1 && exchanged_ == 0) return Attention;  // after the weights of a dense MLP
        if (at == 0 && (turn_.pass.layer_is_done() || !turn_.pass.exchanges_next())) return Experts;
        return forward() ? kForward[at] : kBackward[at];
    }
    PairStep exchange_step() {
        const bool first = exchanged_++ == 0;
        return first == forward() ? PairStep::Dispatch : PairStep::Combine;
    }
    PairStep weights_step() {
        return turn_.pass.layer_is_done() ? PairStep::AttentionWeights : PairStep::ExpertWeights;
    }
    bool forward() const { return turn_.action.pass == Pass::Forward; }

    const Turn& turn_;
    Recorder& recorder_;
    bool in_layer_ = false;
    bool asked_ = false;
    int layer_ = -1;
    std::size_t computed_ = 0;   ///< computes of the layer
    std::size_t exchanged_ = 0;  ///< exchanges of the layer
};

}  // namespace

void run_in_turns(const Turn& forward, const Turn& backward, Recorder& recorder) {
    Recorded f(forward, recorder), b(backward, recorder);
    models::take_turns(f, b);
}

}  // namespace debubble::exec

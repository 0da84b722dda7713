#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/plan/prediction.h"

/// Expectations of a plan, for `simulate --expect`: "step<15.5s, peak<70GiB, fits".
namespace debubble::sim {

/// One expectation: a figure, a comparison and a number, or a word.
struct Expectation {
    std::string words;   ///< as written
    std::string figure;  ///< "step"
    enum class Is : std::uint8_t { Less, LessOrEqual, Greater, GreaterOrEqual, True } is = Is::True;
    double bound = 0;  ///< in seconds, bytes, tokens a second or shares
};

/// Figures: step, exposed, idle (seconds), peak, left (bytes), tokens_per_s, tokens_per_s_per_gpu,
/// mfu, bubble (shares, or in %), and the word fits. Throws InputError.
std::vector<Expectation> parse_expectations(std::string_view text);

/// A sentence for each unmet expectation of the prediction: "step<15 s: it is 15.2 s".
std::vector<std::string> unmet(const std::vector<Expectation>& expected,
                               const Prediction& prediction, int gpus);

}  // namespace debubble::sim

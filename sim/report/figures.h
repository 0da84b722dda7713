#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/plan/prediction.h"

/// The figures of predictions: their units, what a person expects of them, and what differs between
/// two predictions.
namespace debubble::sim {

/// The unit of a prediction's figure.
enum class FigureUnit : std::uint8_t { Seconds, Bytes, Rate, Share };

/// "1.164 s", "19.49 GiB", "56,323", "17.2 %"
std::string figure_text(double value, FigureUnit unit);

/// One expectation: a figure, a comparison and a number, or a word.
struct Expectation {
    std::string words;   ///< as written
    std::string figure;  ///< "step"
    enum class Is : std::uint8_t { Less, LessOrEqual, Greater, GreaterOrEqual, True } is = Is::True;
    double bound = 0;  ///< in seconds, bytes, tokens a second or shares
};

/// Figures: step, exposed, idle (seconds), peak, reserved, left (bytes), tokens_per_s,
/// tokens_per_s_per_gpu, mfu, bubble (shares, or in %), and the word fits. Throws InputError.
std::vector<Expectation> parse_expectations(std::string_view text);

/// A sentence for each unmet expectation of the prediction: "step<15 s: it is 15.2 s".
std::vector<std::string> unmet(const std::vector<Expectation>& expected,
                               const Prediction& prediction, int gpus);

// Compares two predictions of `simulate --json` part by part, so that a team notices when a change
// of plan, profile or version changes a figure.

struct PredictionFigures {
    std::string file;
    std::string scenario;
    nlohmann::ordered_json json;
};

/// The prediction in a file of `simulate --json`; nothing where the file is of another kind. Throws
/// InputError for several predictions in one file, or for figures that are not numbers.
std::optional<PredictionFigures> read_prediction(const std::string& file);

/// A figure in both predictions; a part is the mean over the ranks.
struct FigureChange {
    std::string name;  ///< as in the JSON: "step_time_s"
    double before = 0;
    double after = 0;
    bool is_part = false;  ///< parts of the step: they sum to it
};
struct PredictionChange {
    std::vector<FigureChange> figures;  ///< all figures in both
    std::vector<std::string> plan;      ///< "schedule.name: 1f1b -> zb-v", of the plans
    std::vector<std::string> fits;      ///< sentences about plans that no longer fit, or fit now
    bool moved = false;                 ///< a figure differs by more than rounding
};
PredictionChange compare_predictions(const PredictionFigures& before,
                                     const PredictionFigures& after);

std::string to_text(const PredictionFigures& before, const PredictionFigures& after,
                    const PredictionChange& change);
nlohmann::ordered_json to_json(const PredictionChange& change);

}  // namespace debubble::sim

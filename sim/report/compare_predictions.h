#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

/// Compares two predictions of `simulate --json` part by part, so that a team notices when a change
/// of plan, profile or version changes a figure.
namespace debubble::sim {

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

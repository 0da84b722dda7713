#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

/// Two predictions of `simulate --json` part by part, so that a team notices when a change of plan,
/// profile or version moves a figure.
namespace debubble::sim {

struct PredictionFigures {
    std::string file;
    std::string scenario;
    nlohmann::ordered_json json;
};

/// The prediction of a file of `simulate --json`; nothing where the file is no such. Throws
/// InputError for one of several predictions, or for figures that are no numbers.
std::optional<PredictionFigures> read_prediction(const std::string& file);

/// A figure of both; a part is the mean over the ranks.
struct FigureChange {
    std::string name;  ///< as in the JSON: "step_time_s"
    double before = 0;
    double after = 0;
    bool is_part = false;  ///< of the step: those sum to it
};
struct PredictionChange {
    std::vector<FigureChange> figures;  ///< all that both have
    std::vector<std::string> plan;      ///< "schedule.name: 1f1b -> zb-v", of the plans
    std::vector<std::string> fits;      ///< sentences about what fits no more, or fits again
    bool moved = false;                 ///< a figure differs by more than rounding
};
PredictionChange compare_predictions(const PredictionFigures& before,
                                     const PredictionFigures& after);

std::string to_text(const PredictionFigures& before, const PredictionFigures& after,
                    const PredictionChange& change);
nlohmann::ordered_json to_json(const PredictionChange& change);

}  // namespace debubble::sim

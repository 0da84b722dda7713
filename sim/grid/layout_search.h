#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "sim/predict.h"

/// The search over cuts of the layers into virtual stages.
namespace debubble::sim {

struct LayoutRow {
    std::string name;  ///< "uniform", "balanced", "best"; "fastest" and "smallest" if none fits
    std::vector<int> layers_per_stage;
    std::string layout;  ///< as Megatron-Core writes it (models/partition/partition.h)
    Prediction prediction;
};

struct LayoutSearch {
    std::vector<LayoutRow> rows;  ///< the uniform one and the balanced one where they exist, then
                                  ///< the best, or the fastest and the smallest
    std::size_t tried = 0;        ///< different cuts, played or ruled out by their bound
    bool all = false;             ///< every cut was tried; else no move of one layer is better
    bool fits = false;            ///< some cut does
};

/// Told how many cuts have been tried, and what training.recompute: auto considers for a cut; from
/// any thread.
struct LayoutProgress {
    std::function<void(std::size_t tried)> tried = {};
    ChoicesDone choosing = {};
};

/// Every cut is tried where there are not more than this; else moves of one layer are.
inline constexpr std::size_t kMostCutsPlayed = 2000;
inline constexpr int kMostStagesSearched = 64;

/// The cut with the shortest step of those that fit. Stages may be empty. From the better of
/// uniform and balanced on, the best move of one layer from a stage to another is made until none
/// is better. If none fits, time is not given for memory that is too little anyway: the fastest of
/// all and the one that needs the least memory are found, each as well as moves find it. Prices and
/// memory are those of predict(), with the scenario's recomputation, which may be chosen for each
/// (auto). Throws InputError if there is one stage or there are more than kMostStagesSearched, and
/// as predict().
LayoutSearch search_layouts(const scenarios::Scenario& scenario, int jobs = 0,
                            const LayoutProgress& progress = {});

}  // namespace debubble::sim

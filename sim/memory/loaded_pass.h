#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/graph/graph.h"
#include "sim/memory/memory_model.h"
#include "sim/memory/pair_memory.h"
#include "sim/memory/sharded_units.h"

/// Passes whose experts get other loads in every layer. Bytes of tensors are linear in the rows of
/// their layer, so that a pass's levels follow from two graphs of its stage, which are planned for
/// an even load and for a higher one, and only few of its steps can be the fullest.
namespace debubble::sim {

/// Bytes at the even load, and what a layer's rows add to them.
struct LoadedLevel {
    Bytes even;
    std::vector<std::int64_t>
        more;  ///< bytes at the higher load beyond them, by layer with experts

    /// `shares`: where between the two loads each layer's rows are, 0 at the even one; beyond 1 the
    /// line goes on.
    Bytes at(std::span<const double> shares) const;
};

/// A moment in a pass that may be its fullest one.
struct LoadedMoment {
    LoadedLevel level;
    Bytes unsharded;  ///< of it, gathered or not reduced yet
};

/// Moments of a pass, or of a part of it, of which for any loads one is the fullest.
struct LoadedPiece {
    std::vector<LoadedMoment> moments;
    LoadedLevel after;  ///< at its end, relative to the beginning of the pass

    /// The fullest moment: its level and the unsharded part of that.
    struct Fullest {
        Bytes level;
        Bytes unsharded;
    };
    Fullest fullest(std::span<const double> shares) const;
};

/// The two graphs of a stage, and its layers with experts by their numbers in the graph.
struct TwoLoads {
    const models::StageGraph* even = nullptr;
    const models::StageGraph* higher = nullptr;
    std::vector<int> layers;
};

/// True if the graphs differ in the bytes of their tensors alone: not if larger tensors travel to
/// the host which smaller ones do not.
bool differ_in_bytes_alone(const models::StageGraph& even, const models::StageGraph& higher);

/// By tensor of the graphs: the place of its layer among those with experts, if its bytes depend on
/// that layer's rows.
std::vector<std::optional<std::size_t>> layers_of_rows(const TwoLoads& stage);

/// The whole pass as one piece, as play() of pass_memory.h has it. Precondition: the graphs differ
/// in bytes alone.
LoadedPiece loaded_pass(const TwoLoads& stage, const models::PassSteps& pass,
                        const HeldByPlace& held, bool again = false);

/// The pieces of a pass that takes turns (pair_memory.h).
struct LoadedTurns {
    struct Part {
        models::TurnPart part{};
        LoadedPiece piece;
    };
    LoadedPiece before;
    std::vector<std::vector<Part>> layers;
    LoadedPiece after;

    /// The same for these loads; sums stand in the first class of memory.
    PassPieces at(std::span<const double> shares) const;
};
LoadedTurns loaded_turns(const TwoLoads& stage, const models::PassSteps& pass,
                         const HeldByPlace& held);

}  // namespace debubble::sim

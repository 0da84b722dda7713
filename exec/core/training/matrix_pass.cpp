#include "exec/core/training/optimizer_pass.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace debubble::exec {

namespace {

MatrixSlice place_of(const Slice& slice, std::int64_t columns) {
    const Dimensions &begin = slice.box.begin, &extent = slice.box.extent;
    return {extent[0],        extent[1],        slice.offset,
            slice.strides[0], slice.strides[1], begin[0] * columns + begin[1],
            columns};
}

/// The layout of the parts of a packed matrix; a matrix that is not packed is its only part.
struct Parts {
    std::int64_t high, wide;  ///< rows and columns of each
    bool stacked;             ///< stacked by rows, and not by columns
};

Parts parts_of(const models::Parameter& parameter) {
    Parts parts{parameter.shape[0], parameter.shape[1], parameter.cut_dimension == 0};
    (parts.stacked ? parts.high : parts.wide) /= parameter.parts;
    return parts;
}

ArenaTensor room_for(const Parts& parts, Arena& arena) {
    return arena.allocate({parts.high, parts.wide}, DataType::Fp32, MemoryClass::Workspace,
                          "part of a matrix");
}

/// The step of one matrix on this rank.
class MatrixStep {
public:
    MatrixStep(const MatrixPass& pass, const TrainedStage& state, const UnitState& unit,
               const UnitSlot& slot, Kernels& kernels, Arena& arena)
        : pass_(pass),
          parameter_(state.parameters()[slot.parameter]),
          unit_(unit),
          mine_(intersection(slot.range, unit.stepped())),
          kernels_(kernels),
          arena_(arena),
          whole_(arena.allocate({parameter_.shape[0], parameter_.shape[1]}, DataType::Fp32,
                                MemoryClass::Workspace, "momentum of a matrix")) {
        if (mine_.count == 0) return;
        const FlatRange range{mine_.first - slot.range.first, mine_.count};
        for (const Slice& slice :
             slices_of(parameter_, state.execution(), state.cutting_rank(slot.parameter), range))
            slices_.push_back(place_of(slice, parameter_.shape[1]));
    }

    /// Puts this rank's part of the momentum into the whole, and zeros where others have it.
    void advance_momentum() {
        kernels_.fill_zero(whole_.view());
        if (mine_.count == 0) return;
        const TensorView gradient = unit_.held_gradients(mine_), moment = unit_.moment(0, mine_);
        const MuonMomentum how{pass_.muon.momentum, pass_.muon.nesterov, pass_.gradient_factor};
        for (const MatrixSlice& slice : slices_)
            kernels_.muon_momentum(how, slice, gradient, moment, whole_.view());
    }

    /// The whole is the sum over the ranks that have parts of it.
    void sum(Communicator* among, Deadline deadline) {
        if (among == nullptr) return;
        const std::string label = fmt::format("momentum of {}", parameter_.name);
        among->all_reduce(whole_.view(), Reduction::Sum, label)->wait(deadline);
    }

    void step() {
        if (mine_.count == 0) return;
        orthogonal_parts();
        const TensorView values = unit_.held_values(mine_);
        const TensorView main = unit_.policy().main ? unit_.main(mine_) : values;
        const TensorView copy = unit_.policy().main ? values : TensorView{};
        const double scale = step_scale(pass_.muon.scale_mode, models::part_of(parameter_));
        const double kept = 1 - pass_.lr * pass_.muon.weight_decay;
        for (const MatrixSlice& slice : slices_)
            kernels_.muon_step(kept, pass_.lr * scale, slice, whole_.view(), main, copy);
    }

private:
    void orthogonal_parts() {
        const std::int64_t columns = parameter_.shape[1];
        const auto [high, wide, stacked] = parts_of(parameter_);
        const ArenaTensor part = room_for(parts_of(parameter_), arena_);
        const Blocks out{high, 1, wide, columns, wide}, back{high, 1, wide, wide, columns};
        for (int p = 0; p < parameter_.parts; ++p) {
            const TensorView in_whole =
                part_of(whole_.view(), stacked ? p * high * columns : p * wide, wide);
            kernels_.copy_blocks(out, in_whole, part_of(part.view(), 0, wide));
            make_orthogonal(part.view(), pass_.muon.steps, kernels_, arena_);
            kernels_.copy_blocks(back, part_of(part.view(), 0, wide), in_whole);
        }
    }

    const MatrixPass& pass_;
    const models::Parameter& parameter_;
    const UnitState& unit_;
    FlatRange mine_;  ///< the part of the matrix that this rank steps, in its unit
    Kernels& kernels_;
    Arena& arena_;
    std::vector<MatrixSlice> slices_;  ///< those elements, relative to their first one
    ArenaTensor whole_;
};

/// The ranks that cut the parameter; nullptr if it is whole on each.
Communicator* cutting_ranks(const TrainingGroups& groups, const models::Parameter& parameter) {
    if (parameter.sharding == models::Sharding::Replicated) return nullptr;
    return parameter.expert ? groups.expert_tensor.get() : groups.tensor.get();
}

}  // namespace

double step_scale(scenarios::MuonOptions::ScaleMode mode, const models::MatrixPart& shape) {
    using Mode = scenarios::MuonOptions::ScaleMode;
    const auto outputs = static_cast<double>(shape.outputs);
    const auto inputs = static_cast<double>(shape.inputs);
    switch (mode) {
        case Mode::Spectral: return std::sqrt(std::max(outputs, inputs));
        case Mode::ShapeScaling: return std::sqrt(std::max(1.0, outputs / inputs));
        case Mode::UnitRmsNorm: break;
    }
    return std::sqrt(outputs / inputs);
}

void step_matrices(const MatrixPass& pass, const std::vector<LocalStage>& stages,
                   TrainingGroups& groups, Kernels& kernels, Arena& arena, Deadline deadline) {
    for (const LocalStage& local : stages) {
        const TrainedStage& state = *local.state;
        for (const UnitState& unit : state.units()) {
            if (!unit.unit().matrices) continue;
            Communicator* const shards =
                unit.policy().shares_optimizer() ? state.replicas_of(unit) : nullptr;
            for (const UnitSlot& slot : unit.unit().slots) {
                MatrixStep matrix(pass, state, unit, slot, kernels, arena);
                matrix.advance_momentum();
                matrix.sum(shards, deadline);
                matrix.sum(cutting_ranks(groups, state.parameters()[slot.parameter]), deadline);
                matrix.step();
            }
        }
    }
}

void rehearse_matrices(const std::vector<LocalStage>& stages, Kernels& kernels, Arena& arena) {
    std::set<std::pair<std::int64_t, std::int64_t>> known;
    for (const LocalStage& local : stages)
        for (const UnitState& unit : local.state->units())
            for (const UnitSlot& slot : unit.unit().slots) {
                if (!unit.unit().matrices) continue;
                const Parts parts = parts_of(local.state->parameters()[slot.parameter]);
                if (!known.insert({parts.high, parts.wide}).second) continue;
                const ArenaTensor part = room_for(parts, arena);
                kernels.fill_zero(part.view());
                make_orthogonal(part.view(), 1, kernels, arena);
            }
    kernels.finish();
}

}  // namespace debubble::exec

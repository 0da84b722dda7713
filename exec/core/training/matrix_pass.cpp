#include "exec/core/training/matrix_pass.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "exec/core/half.h"
#include "exec/core/training/newton_schulz.h"

namespace debubble::exec {

namespace {

float element(const ConstTensorView& view, std::int64_t i) {
    switch (view.type) {
        case DataType::Fp32: return reinterpret_cast<const float*>(view.data)[i];
        case DataType::Bf16: return to_float(reinterpret_cast<const BFloat16*>(view.data)[i]);
        case DataType::Fp16: return to_float(reinterpret_cast<const Float16*>(view.data)[i]);
        case DataType::Fp64:
        case DataType::Int32: break;
    }
    return 0;
}

void put(const TensorView& view, std::int64_t i, float value) {
    switch (view.type) {
        case DataType::Fp32: reinterpret_cast<float*>(view.data)[i] = value; return;
        case DataType::Bf16: reinterpret_cast<BFloat16*>(view.data)[i] = to_bfloat16(value); return;
        case DataType::Fp16: reinterpret_cast<Float16*>(view.data)[i] = to_float16(value); return;
        case DataType::Fp64:
        case DataType::Int32: return;
    }
}

/// The step of one matrix on this rank.
class MatrixStep {
public:
    MatrixStep(const MatrixPass& pass, const TrainedStage& state, const UnitState& unit,
               const UnitSlot& slot, Kernels& kernels, Arena& arena)
        : pass_(pass),
          parameter_(state.parameters()[static_cast<std::size_t>(slot.parameter)]),
          unit_(unit),
          mine_(intersection(slot.range, unit.stepped())),
          kernels_(kernels),
          arena_(arena),
          memory_(arena.allocate({parameter_.shape[0], parameter_.shape[1]}, DataType::Fp32,
                                 MemoryClass::Workspace, "momentum of a matrix")),
          whole_(reinterpret_cast<float*>(memory_.view().data)) {
        if (mine_.count > 0)
            slices_ = slices_of(parameter_, state.execution(), state.cutting_rank(slot.parameter),
                                FlatRange{mine_.first - slot.range.first, mine_.count});
    }

    /// Puts this rank's part of the momentum into the whole, and zeros where others have it.
    void advance_momentum() {
        kernels_.fill_zero(memory_.view());
        kernels_.finish();
        if (mine_.count == 0) return;
        const TensorView gradient = unit_.held_gradients(mine_), moment = unit_.moment(0, mine_);
        const auto factor = static_cast<float>(pass_.gradient_factor);
        const auto decay = static_cast<float>(pass_.muon.momentum);
        each([&](std::int64_t local, std::int64_t global) {
            const float g = element(gradient, local) * factor;
            const float before = element(moment, local);
            const float m = before + (1 - decay) * (g - before);
            put(moment, local, m);
            whole_[global] = pass_.muon.nesterov ? g + decay * (m - g) : m;
        });
    }

    /// The whole is the sum over the ranks that have parts of it.
    void sum(Communicator* among, Deadline deadline) {
        if (among == nullptr) return;
        const std::string label = fmt::format("momentum of {}", parameter_.name);
        among->all_reduce(memory_.view(), Reduction::Sum, label)->wait(deadline);
    }

    void step() {
        if (mine_.count == 0) return;
        orthogonal_parts();
        const TensorView values = unit_.held_values(mine_);
        const TensorView main = unit_.policy().main ? unit_.main(mine_) : values;
        const double scale = step_scale(pass_.muon.scale_mode, models::part_of(parameter_));
        const auto rate = static_cast<float>(pass_.lr * scale);
        const auto keep = static_cast<float>(1 - pass_.lr * pass_.muon.weight_decay);
        each([&](std::int64_t local, std::int64_t global) {
            const float stepped = keep * element(main, local) - rate * whole_[global];
            put(main, local, stepped);
            if (unit_.policy().main) put(values, local, stepped);
        });
    }

private:
    /// Calls `visit` with the index of every element of this rank's range, and its index in the
    /// whole matrix.
    template <class Visit>
    void each(const Visit& visit) const {
        const std::int64_t columns = parameter_.shape[1];
        for (const Slice& slice : slices_)
            for (std::int64_t r = 0; r < slice.box.extent[0]; ++r)
                for (std::int64_t c = 0; c < slice.box.extent[1]; ++c)
                    visit(slice.offset + r * slice.strides[0] + c * slice.strides[1],
                          (slice.box.begin[0] + r) * columns + slice.box.begin[1] + c);
    }

    void orthogonal_parts() {
        const std::int64_t columns = parameter_.shape[1];
        std::int64_t high = parameter_.shape[0], wide = columns;
        const bool stacked = parameter_.cut_dimension == 0;
        (stacked ? high : wide) /= parameter_.parts;
        const ArenaTensor part = arena_.allocate({high, wide}, DataType::Fp32,
                                                 MemoryClass::Workspace, "part of a matrix");
        auto* const of_part = reinterpret_cast<float*>(part.view().data);
        for (int p = 0; p < parameter_.parts; ++p) {
            float* const first = whole_ + (stacked ? p * high * columns : p * wide);
            for (std::int64_t r = 0; r < high; ++r)
                std::copy_n(first + r * columns, wide, of_part + r * wide);
            make_orthogonal(part.view(), pass_.muon.steps, kernels_, arena_);
            for (std::int64_t r = 0; r < high; ++r)
                std::copy_n(of_part + r * wide, wide, first + r * columns);
        }
    }

    const MatrixPass& pass_;
    const models::Parameter& parameter_;
    const UnitState& unit_;
    FlatRange mine_;  ///< this rank steps of the matrix, in its unit
    Kernels& kernels_;
    Arena& arena_;
    std::vector<Slice> slices_;
    ArenaTensor memory_;
    float* whole_;
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
    kernels.finish();
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
                matrix.sum(
                    cutting_ranks(groups,
                                  state.parameters()[static_cast<std::size_t>(slot.parameter)]),
                    deadline);
                matrix.step();
            }
        }
    }
}

}  // namespace debubble::exec

#include "exec/core/training/rank_training.h"

#include <iterator>

#include "exec/core/training/shared_gradients.h"

namespace debubble::exec {

namespace {

constexpr const char* kMoments[] = {kinds::kFirstMoment, kinds::kSecondMoment};

/// Adds the pieces of the part of a slot that lies in `range` of its unit.
struct Collector {
    const TrainedStage& state;
    const UnitSlot& slot;
    std::vector<WantedPiece>& pieces;
    HostCopies& copies;

    template <class ViewOf>
    void add(const char* kind, const FlatRange& range, ViewOf&& view_of) {
        const FlatRange part = intersection(slot.range, range);
        if (part.count == 0) return;
        const TensorView view = copies.of(view_of(part));
        auto more =
            pieces_of<std::byte>(state.parameters()[slot.parameter], state.execution(),
                                 state.cutting_rank(slot.parameter), kind, view.type, view.data,
                                 FlatRange{part.first - slot.range.first, part.count});
        std::ranges::move(more, std::back_inserter(pieces));
    }
};

/// Adds the pieces of the weights from `values`, and of the other state from `stepped`.
void add_slot(Collector collect, const UnitState& unit, const FlatRange& values,
              const FlatRange& stepped, bool parameters, bool moments) {
    if (parameters)
        collect.add(kinds::kParameter, values,
                    [&](const FlatRange& part) { return unit.held_values(part); });
    if (collect.state.policy().main)
        collect.add(kinds::kMain, stepped, [&](const FlatRange& part) { return unit.main(part); });
    for (int m = 0; moments && m < unit.moments(); ++m)
        collect.add(kMoments[m], stepped,
                    [&](const FlatRange& part) { return unit.moment(m, part); });
}

/// Buffers are whole on every rank.
void add_buffers(const TrainedStage& state, std::vector<WantedPiece>& pieces, HostCopies& copies) {
    for (std::size_t i = 0; i < state.buffers().size(); ++i) {
        const TensorView view = copies.of(state.routers().correction(static_cast<int>(i)));
        pieces.push_back(piece_of(state.buffers()[i], view.data));
    }
}

}  // namespace

std::vector<Piece> pieces_to_save(const TrainedStage& state, bool first_holder,
                                  HostCopies& copies) {
    std::vector<WantedPiece> pieces;
    if (!first_holder) return {};
    for (const UnitState& unit : state.units())
        for (const UnitSlot& slot : unit.unit().slots)
            if (represents(state, slot))
                add_slot({state, slot, pieces, copies}, unit, unit.owned(), unit.owned(),
                         !state.policy().main, true);
    if (state.place().tensor_rank == 0 && state.place().shard == 0)
        add_buffers(state, pieces, copies);
    return {pieces.begin(), pieces.end()};
}

std::vector<WantedPiece> pieces_to_load(TrainedStage& state, Wanted wanted, HostCopies& copies) {
    std::vector<WantedPiece> pieces;
    for (const UnitState& unit : state.units())
        for (const UnitSlot& slot : unit.unit().slots)
            add_slot({state, slot, pieces, copies}, unit, unit.values_held(), unit.stepped(), true,
                     wanted == Wanted::Everything);
    add_buffers(state, pieces, copies);
    return pieces;
}

}  // namespace debubble::exec

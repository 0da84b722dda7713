#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <utility>

#include "exec/io/checkpoint/piece_source.h"

namespace debubble::exec {

/// Stored tensors that a number of ranks, threads of one process, read at the same time. They are
/// let go once all have: a mapped file that is deleted keeps its space on the disk until then.
/// Copies are of the same tensors.
class SharedPieces {
public:
    /// Precondition: `readers` is positive.
    SharedPieces(PieceSource source, int readers);

    /// Each reader calls it once. One whose `read` throws lets nothing go.
    void read(const std::function<void(const PieceSource&)>& read) const;
    /// Before the first reader.
    const PieceSource& source() const { return state_->source; }

private:
    struct State {
        State(PieceSource pieces, int of) : source(std::move(pieces)), readers(of) {}
        PieceSource source;
        std::atomic<int> readers;  ///< that have not read yet
    };
    std::shared_ptr<State> state_;
};

}  // namespace debubble::exec

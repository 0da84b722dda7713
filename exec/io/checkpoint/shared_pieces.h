#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <utility>

#include "exec/io/checkpoint/piece_source.h"

namespace debubble::exec {

/// Stored tensors that a number of ranks, threads of one process, read at the same time. They are
/// released once all have read: until then a mapped file that is deleted keeps its space on the
/// disk. Copies refer to the same tensors.
class SharedPieces {
public:
    /// Precondition: `readers` is positive.
    SharedPieces(PieceSource source, int readers);

    /// Reads the tensors; each reader calls it once. A reader whose `read` throws releases nothing.
    void read(const std::function<void(const PieceSource&)>& read) const;
    /// The tensors, for use before the first reader.
    const PieceSource& source() const { return state_->source; }

private:
    struct State {
        State(PieceSource pieces, int of) : source(std::move(pieces)), readers(of) {}
        PieceSource source;
        std::atomic<int> readers;  ///< readers that have not read yet
    };
    std::shared_ptr<State> state_;
};

}  // namespace debubble::exec

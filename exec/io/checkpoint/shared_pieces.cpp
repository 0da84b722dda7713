#include "exec/io/checkpoint/piece_source.h"

#include <cassert>
#include <utility>

namespace debubble::exec {

SharedPieces::SharedPieces(PieceSource source, int readers)
    : state_(std::make_shared<State>(std::move(source), readers)) {
    assert(readers > 0 && "a piece has a reader");
}

void SharedPieces::read(const std::function<void(const PieceSource&)>& read) const {
    assert(state_->readers > 0 && "each reader reads once");
    read(state_->source);
    if (--state_->readers == 0) state_->source = {};
}

}  // namespace debubble::exec

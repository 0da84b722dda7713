#pragma once

#include <string>

#include "exec/io/checkpoint/piece_source.h"

namespace debubble::exec {

/// SHA-256 of the names, shapes, types and contents of all tensors of the source, wherever its
/// files lie. A tensor that has a checksum counts with that. Of other tensors with more than 1 MiB,
/// blocks of 4 KiB at equal distances count: 256 of each tensor, or fewer where there are more than
/// eight such tensors, so that about 2048 blocks are read from a disk in all, but at least two of
/// each. Throws FileCut where a file is shortened meanwhile.
std::string fingerprint(const PieceSource& source);

}  // namespace debubble::exec

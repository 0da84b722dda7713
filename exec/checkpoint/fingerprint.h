#pragma once

#include <string>

#include "exec/checkpoint/piece_source.h"

namespace debubble::exec {

/// SHA-256 of the names, shapes, types and contents of all tensors of the source, wherever its
/// files lie. What has a checksum counts with that; of other tensors of more than 1 MiB, 256
/// blocks of 4 KiB at equal distances count. Throws FileCut where a file is shortened meanwhile.
std::string fingerprint(const PieceSource& source);

}  // namespace debubble::exec

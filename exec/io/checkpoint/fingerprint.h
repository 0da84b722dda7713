#pragma once

#include <string>

#include "exec/io/checkpoint/piece_source.h"

namespace debubble::exec {

/// SHA-256 of the names, shapes, types and contents of all tensors of the source, wherever its
/// files lie. What has a checksum counts with that; of others that have more than 1 MiB,
/// blocks of 4 KiB at equal distances count: 256 of each, fewer where there are more than eight of
/// them, so that it takes some 2048 looks at a disk, or two of each. Throws FileCut where a file is
/// shortened meanwhile.
std::string fingerprint(const PieceSource& source);

}  // namespace debubble::exec

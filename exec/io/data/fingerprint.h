#pragma once

#include <string>

#include "exec/io/data/data_set.h"

namespace debubble::exec {

/// The SHA-256 of what a training sees of the samples, wherever and in whatever files they lie:
/// equal data has equal fingerprints on every host. Of data of more than 64 MiB (tokens and
/// targets, or pixels) only as many samples count as fit into that size, at equal distances from
/// the first to the last, and at most 2048 where images are files of their own, since a read from a
/// cold disk takes milliseconds. A change of a few samples in between may then go unseen. Throws
/// InputError where the data is bad.
std::string fingerprint(const DataSet& data);

}  // namespace debubble::exec

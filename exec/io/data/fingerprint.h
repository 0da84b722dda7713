#pragma once

#include <string>

#include "exec/io/data/data_set.h"

namespace debubble::exec {

/// The SHA-256 of what a training sees of them, wherever and in whatever
/// files they lie: equal data has equal fingerprints on every host. Of data of more than 64 MiB
/// (tokens and targets, or pixels) as many samples as fit into that count, from the first to the
/// last at equal distances, and 2048 at most, as of images in files of their own: on a cold disk a
/// look takes milliseconds. A change of a few samples in between may then go unseen. Throws
/// InputError where the data is bad.
std::string fingerprint(const DataSet& data);

}  // namespace debubble::exec

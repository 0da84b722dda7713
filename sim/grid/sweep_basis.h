#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "scenarios/read/read_scenario.h"

/// The inputs of a sweep's results other than its grid. They are stored in a file next to the
/// results, so that a resumed sweep recognises rows of another scenario.
namespace debubble::sim {

/// A hash or a version for each input, by its name for people ("the scenario", "the file
/// clusters/mine.yaml").
using Basis = std::map<std::string, std::string>;

/// The basis from a scenario's text without its `sweep:`, to which points may be added, and from
/// the `--set` options.
Basis basis_of(const std::string& text, const std::string& file,
               const std::vector<scenarios::Override>& pinned);
/// Adds the other files read so far: models, clusters, orders.
void add_files_read(Basis& basis, const std::filesystem::path& scenario);

/// The file next to `results` that holds the basis.
std::filesystem::path basis_file_of(const std::filesystem::path& results);

/// Writes the basis next to new results. For results of an earlier run, throws InputError if an
/// input differs from that run's; an input that only one of the two runs read is not compared, and
/// without a basis file nothing is. Precondition: `results` is locked.
void keep_basis(const std::filesystem::path& results, const Basis& basis, bool new_results);

}  // namespace debubble::sim

#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "scenarios/read_scenario.h"

/// What the results of a sweep are made from, beside its grid: kept beside them, so that a resumed
/// sweep tells rows of another scenario from its own.
namespace debubble::sim {

/// By what a person calls it ("the scenario", "the file clusters/mine.yaml"), a hash or a version.
using Basis = std::map<std::string, std::string>;

/// Of a scenario's text without its `sweep:`, which may grow, and of what `--set` says.
Basis basis_of(const std::string& text, const std::string& file,
               const std::vector<scenarios::Override>& pinned);
/// The other files that were read, so far: models, clusters, orders.
void add_files_read(Basis& basis, const std::filesystem::path& scenario);

/// The file beside `results` that holds it.
std::filesystem::path basis_file_of(const std::filesystem::path& results);

/// Writes it beside new results. Beside those of an earlier run, throws InputError if something of
/// it is other than then; what only one of the two runs read is not compared, and where no file is
/// there nothing is. Precondition: `results` is locked.
void keep_basis(const std::filesystem::path& results, const Basis& basis, bool new_results);

}  // namespace debubble::sim

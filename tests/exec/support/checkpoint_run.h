#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "exec/io/checkpoint/checkpoint.h"
#include "models/graph/graph.h"

/// A run that does nothing but save and load.
namespace debubble::exec {

/// Small, and cut in every way that there is: parts, rows, columns, a padded vocabulary.
models::Architecture small_gpt();

/// How a run cuts the network; the last shards of a flat buffer may be shorter.
struct Cut {
    int pipeline = 1;
    int tensor = 1;
    int data = 1;

    int ranks() const { return pipeline * tensor * data; }
    models::Execution execution() const {
        models::Execution how;
        how.tensor = tensor;
        how.kernels.vocabulary_multiple = 4;
        return how;
    }
};

/// The memory of one rank: its flat shard of each of its parameters and of a moment.
class RankMemory {
public:
    RankMemory(const models::Architecture& model, const Cut& cut, int rank);

    std::vector<WantedPiece> pieces();

private:
    models::StageGraph graph_;
    int tensor_rank_;
    int data_rank_;
    Cut cut_;
    std::map<std::pair<std::string, std::string>, std::vector<float>> memory_;
};

Manifest manifest_of(const models::Architecture& model, std::int64_t step);

/// Every element has a value of its own, which changes with the step. The first rank is this
/// thread, the others have one each.
void save(const std::filesystem::path& folder, const models::Architecture& model, const Cut& cut,
          std::int64_t step, int kept = 0);

/// Every rank of the cut loads the values that save() saved.
void expect_loads(const Checkpoint& checkpoint, const models::Architecture& model, const Cut& cut);

}  // namespace debubble::exec

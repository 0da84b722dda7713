#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/cluster/measured.h"

/// Collectives measured by others: the tables of nccl-tests and the dumps of NCCL's Inspector.
namespace debubble::scenarios {

struct CollectiveSample {
    /// Nothing for a message from one rank to another.
    std::optional<models::Collective::Kind> kind;
    int ranks = 2;
    int nodes = 1;
    Bytes bytes;  ///< of the whole (gathered, reduced) tensor, or of the message
    double seconds = 0;
};

/// Reads what a program of nccl-tests a0b82b2 printed: rows of size, count, type, redop, root, time
/// (out of place), and so on; the ranks from its lines "# Rank". Sizes are those of the whole
/// tensor. Throws InputError with the line of every mistake.
std::vector<CollectiveSample> read_nccl_tests(const std::string& file);
std::vector<CollectiveSample> read_nccl_tests_text(const std::string& text,
                                                   const std::string& file);

/// Reads the .jsonl and .log files of a folder, or one file, that NCCL's Inspector
/// (plugins/profiler/inspector of nccl 5067397c) wrote: one object per line. Real traffic waits for
/// its peers, so the least time over the ranks of one call counts, and of the calls of one size a
/// low quantile; of messages only sends.
std::vector<CollectiveSample> read_nccl_inspector(const std::string& folder);
std::vector<CollectiveSample> read_nccl_inspector_text(const std::string& text,
                                                       const std::string& file);

struct FittedCollective {
    MeasuredCollective cost;  ///< latency + bytes / bandwidth
    int sizes = 0;            ///< number of sizes
    double spread = 0;        ///< greatest relative distance of a size from the fit
};
using FittedCollectives =
    std::map<std::pair<std::optional<models::Collective::Kind>, int>, FittedCollective>;

/// Least squares of the relative error over the sizes from 1 MiB on; smaller ones give the latency.
/// Only samples of that many nodes count.
FittedCollectives fit_collectives(const std::vector<CollectiveSample>& samples, bool of_one_node);

/// "all_reduce over 8 ranks: 34.1 us + bytes / 132.0 GB/s (11 sizes, within 1.2 %)"
std::string words_of(const FittedCollectives& fitted);

}  // namespace debubble::scenarios

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "scenarios/cluster/cluster.h"

/// `debubble calibrate --run`: what `debubble run --json` measured of saves, loads and starts, as
/// `reliability` of a cluster.
namespace debubble::exec {

/// Bytes that went to or came from storage, and the seconds that ranks waited for them.
struct Transfer {
    Bytes size;
    double seconds = 0;
};

/// What one report says; see RunOverheads.
struct RunTimes {
    double start_s = 0;
    std::optional<Transfer> save;  ///< the median one
    std::optional<Transfer> load;  ///< unset where the run did not go on after a checkpoint
};

/// Reads a report. Throws InputError, located, where it is none.
RunTimes read_run_times(const std::string& file);

/// seconds = fixed + bytes / rate.
struct TransferLaw {
    BytesPerSecond rate;
    double fixed_s = 0;
    bool knows_fixed = false;  ///< whether sizes differ enough to tell both apart
};

/// A line through all transfers (fit_line). Of sizes that lie within a tenth of each other all is
/// taken for the rate. Nothing where there are none.
std::optional<TransferLaw> fit_transfers(const std::vector<Transfer>& transfers);

/// What goes into the cluster, and what is said of it.
struct SiteTimes {
    std::optional<TransferLaw> save;
    std::optional<TransferLaw> load;
    double start_s = 0;  ///< the median, with what a load takes beside its bytes
    std::string words;
};
SiteTimes site_times_of(const std::vector<RunTimes>& runs);

/// Puts them above what the cluster's `reliability` says already.
void put_site_times(const SiteTimes& times, scenarios::Cluster& cluster);

/// `reliability: {...}` as a line of a cluster's file; empty where the cluster has none.
std::string reliability_text(const scenarios::Cluster& cluster);

}  // namespace debubble::exec

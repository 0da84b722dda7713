#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "schedule/schedule.h"

/// The exchange format: PyTorch's pipeline schedule CSV, one row per rank.
namespace debubble {

/// Limits of a file: far above any pipeline, small enough that products of them fit.
inline constexpr int kMostStages = 1 << 14;

/// Until 2.5, PyTorch wrote `B` for backward-input and `BW` for the full backward.
enum class Dialect { Current, UntilPyTorch25 };

/// The action of one cell, or a sentence that describes the mistake; trailing text is an error. The
/// peer of a SEND or RECV is not written; read_csv() fills it in, this function leaves it Rank{0}.
/// `parse_action(to_text(a))` gives `a` again except for that peer.
std::variant<Action, std::string> parse_action(std::string_view text,
                                               Dialect dialect = Dialect::Current);

struct CsvOptions {
    std::string file;                    ///< name of the file in diagnostics
    std::string name = "imported";       ///< name of the schedule
    std::optional<Placement> placement;  ///< derived from the rows if not given
    /// The dialect; derived from the cells if not given: without any `I`, a file with both `B` and
    /// `W` means the old one, since a `W` needs its `I`.
    std::optional<Dialect> dialect = {};
};

struct CsvResult {
    Schedule schedule;
    Dialect dialect = Dialect::Current;  ///< the dialect of the file
};

/// Reads both dialects, compute-only and lowered files. Throws InputError with
/// every bad cell's line and column.
CsvResult read_csv(std::string_view text, const CsvOptions& options);

std::string write_csv(const Schedule& schedule);

/// Reads a placement with one row per rank that lists its stages: "0,3\n1,2\n".
Placement read_placement(std::string_view text, const std::string& file);
std::string write_placement(const Placement& placement);

}  // namespace debubble

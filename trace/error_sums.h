#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"
#include "schedule/action.h"

/// The differences between predicted and executed actions, summed.
namespace debubble {

/// A value of the simulated step and the same value of the executed one.
template <class T>
struct Compared {
    T simulated{};
    T executed{};
    friend bool operator==(const Compared&, const Compared&) = default;
};

/// (simulated - executed) / executed: positive if the prediction is too long. Nothing where both
/// are 0, or only the executed one is.
std::optional<double> relative_error(const Compared<Duration>& times);

Duration apart(const Compared<Duration>& times);  ///< >= 0

/// The actions of one kind, or the computes of one stage.
struct ErrorRow {
    std::string name;       ///< "F", "SEND", "REDUCE_GRAD"; "stage 2"
    std::size_t count = 0;  ///< actions in both traces
    Compared<Duration> sum;
    Duration apart{};  ///< sum of their absolute differences

    std::optional<double> mean_error() const;  ///< apart / executed
    std::optional<double> bias() const { return relative_error(sum); }
};

/// Sums by kind of action and by stage.
class ErrorSums {
public:
    void add(const Action& action, const Compared<Duration>& length);
    /// The rows of the kinds that occur, in the order of Action.
    std::vector<ErrorRow> kinds() const;
    /// The rows of computes by stage; an Overlap counts for its first compute's stage.
    std::vector<ErrorRow> stages() const;

private:
    std::map<std::pair<std::size_t, Pass>, ErrorRow> kinds_;
    std::map<Stage, ErrorRow> stages_;
};

}  // namespace debubble

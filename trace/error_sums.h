#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"
#include "schedule/action.h"

/// How far predicted actions are from executed ones, added up.
namespace debubble {

template <class T>
struct Beside {
    T simulated{};
    T executed{};
    friend bool operator==(const Beside&, const Beside&) = default;
};

/// (simulated - executed) / executed: above 0 the prediction is too long. Nothing where
/// both are 0, or only the executed one is.
std::optional<double> relative_error(const Beside<Duration>& times);

Duration apart(const Beside<Duration>& times);  ///< >= 0

/// The actions of one kind, or the computes of one stage.
struct ErrorRow {
    std::string name;       ///< "F", "SEND", "REDUCE_GRAD"; "stage 2"
    std::size_t count = 0;  ///< actions that both traces hold
    Beside<Duration> sum;
    Duration apart{};  ///< sum of their absolute differences

    std::optional<double> mean_error() const;  ///< apart / executed
    std::optional<double> bias() const { return relative_error(sum); }
};

/// By kind of action, and by stage.
class ErrorSums {
public:
    void add(const Action& action, const Beside<Duration>& length);
    /// Those that occur, in the order of Action.
    std::vector<ErrorRow> kinds() const;
    /// Of computes; an Overlap counts for its first one's.
    std::vector<ErrorRow> stages() const;

private:
    std::map<std::pair<std::size_t, Pass>, ErrorRow> kinds_;
    std::map<Stage, ErrorRow> stages_;
};

}  // namespace debubble

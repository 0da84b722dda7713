#pragma once

#include <string>
#include <vector>

#include "base/units.h"

/// Shipped scenarios with figures that their authors published, compared with predictions.
namespace debubble::sim {

struct PublishedPlan {
    std::string name;
    std::string source;
    double published_s = 0;  ///< seconds of a step, derived from a rate where only a rate is
                             ///< published
    double predicted_s = 0;
    bool fits = true;
    Bytes left;  ///< memory left on the fullest rank; negative if the plan does not fit

    double difference() const { return predicted_s / published_s - 1; }
};

/// Predicts all of them, in the order of their names.
std::vector<PublishedPlan> published_plans();

/// A table for people; empty without plans.
std::string to_text(const std::vector<PublishedPlan>& plans);

}  // namespace debubble::sim

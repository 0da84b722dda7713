#pragma once

#include <string>
#include <vector>

#include "base/units.h"

/// Shipped scenarios of which their authors published a figure, beside what is predicted of them.
namespace debubble::sim {

struct PublishedPlan {
    std::string name;
    std::string source;
    double published_s = 0;  ///< seconds of a step, by arithmetic from a rate where one stands
    double predicted_s = 0;
    bool fits = true;
    Bytes left;  ///< memory of the fullest rank; below zero if the plan does not fit

    double difference() const { return predicted_s / published_s - 1; }
};

/// Predicts every one of them, in the order of their names.
std::vector<PublishedPlan> published_plans();

/// A table for people; empty without plans.
std::string to_text(const std::vector<PublishedPlan>& plans);

}  // namespace debubble::sim

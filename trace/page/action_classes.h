#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "schedule/action.h"
#include "trace/picture/document/palette.h"

/// The classes of actions of a page. An action is the template of its class with its own numbers,
/// so that a million actions are a few templates and columns of numbers.
namespace debubble::page {

/// The colours of a bar by theme, also faded for when other bars are highlighted.
struct BarColours {
    Rgb light;
    Rgb dark;
    Rgb faded_light;
    Rgb faded_dark;
};

class ActionClasses {
public:
    ActionClasses();
    ~ActionClasses();
    ActionClasses(const ActionClasses&) = delete;
    ActionClasses& operator=(const ActionClasses&) = delete;

    struct Found {
        std::uint32_t number = 0;
        std::vector<std::int64_t>& values;  ///< the numbers in its words; valid until the next call
    };
    /// `second` has the colours of an Overlap's second compute.
    Found of(const Action& action, const BarColours& first,
             const std::optional<BarColours>& second);

    /// The classes by number: words, labels, colours, role in a timeline.
    const nlohmann::ordered_json& json() const;

private:
    struct Table;
    std::unique_ptr<Table> table_;
};

}  // namespace debubble::page

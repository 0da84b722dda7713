#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "schedule/action.h"
#include "trace/picture/document/palette.h"

/// The kinds of actions of a page. An action is its kind's words with its own numbers in them, so
/// that a million of them are a few templates and columns of numbers.
namespace debubble::page {

/// The colours of a bar: by theme, and faded where other bars are meant.
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
        std::vector<std::int64_t>& values;  ///< the numbers in its words, until the next call
    };
    /// `second` are the colours of an Overlap's second compute.
    Found of(const Action& action, const BarColours& first,
             const std::optional<BarColours>& second);

    /// The kinds by number: words, labels, colours, what each is to a timeline.
    const nlohmann::ordered_json& json() const;

private:
    struct Table;
    std::unique_ptr<Table> table_;
};

}  // namespace debubble::page

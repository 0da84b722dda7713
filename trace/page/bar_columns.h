#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "trace/page/columns.h"
#include "trace/picture/document/document.h"

namespace debubble::page {

/// The bars of a page, numbered through all of its tracks: for each device its lane of bars, then
/// its streams.
class BarNumbers {
public:
    explicit BarNumbers(const picture::TimelineDocument& document);

    /// The devices of a page: one of each rank.
    const std::vector<const picture::Device*>& devices() const { return devices_; }
    /// The number of a span's bar; nothing for an invisible span.
    std::optional<std::int64_t> of(std::size_t span) const {
        if (span >= numbers_.size() || numbers_[span] < 0) return std::nullopt;
        return numbers_[span];
    }
    /// The dependencies of a span, as numbers of bars. A span without length is replaced by its own
    /// dependencies.
    std::vector<std::int64_t> needs(std::uint32_t span) const;

private:
    const picture::TimelineDocument& document_;
    std::vector<const picture::Device*> devices_;
    std::vector<std::int64_t> numbers_;
};

/// Writes the columns of all bars, and into `json` the tables that they index.
void write_bars(const picture::TimelineDocument& document, const BarNumbers& numbers,
                nlohmann::ordered_json& json, Columns& columns);

/// Writes the bubbles of all devices, and the exposed communication between their bars.
void write_gaps(const picture::TimelineDocument& document, const BarNumbers& numbers,
                Columns& columns);

/// Writes the use of links by every bar as indices into a table in `json`; an empty column if it is
/// not known.
void write_links(const picture::TimelineDocument& document, const BarNumbers& numbers,
                 nlohmann::ordered_json& json, Columns& columns);

/// Writes the memory of all devices over time, in whole units of `memory_unit` bytes. If a page
/// would have too many steps, each is the greatest memory of an interval.
void write_memory(const picture::TimelineDocument& document, const BarNumbers& numbers,
                  nlohmann::ordered_json& json, Columns& columns);

}  // namespace debubble::page

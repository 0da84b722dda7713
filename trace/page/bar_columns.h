#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "trace/page/columns.h"
#include "trace/picture/document/document.h"

namespace debubble::page {

/// The bars of a page, numbered through all of its tracks: of each device its lane of bars, then
/// its streams.
class BarNumbers {
public:
    explicit BarNumbers(const picture::TimelineDocument& document);

    /// The devices of a page: one of each rank.
    const std::vector<const picture::Device*>& devices() const { return devices_; }
    /// The number of a span's bar; nothing for what cannot be seen.
    std::optional<std::int64_t> of(std::size_t span) const {
        if (span >= numbers_.size() || numbers_[span] < 0) return std::nullopt;
        return numbers_[span];
    }
    /// What a span needs, as numbers of bars; in the place of a span without length what that
    /// needs.
    std::vector<std::int64_t> needs(std::uint32_t span) const;

private:
    const picture::TimelineDocument& document_;
    std::vector<const picture::Device*> devices_;
    std::vector<std::int64_t> numbers_;
};

/// Writes what every bar has: the columns, and in `json` the tables that they point into.
void write_bars(const picture::TimelineDocument& document, const BarNumbers& numbers,
                nlohmann::ordered_json& json, Columns& columns);

/// Writes the bubbles of all devices, and what is exposed between their bars.
void write_gaps(const picture::TimelineDocument& document, const BarNumbers& numbers,
                Columns& columns);

/// Writes what every bar sends over the links of its rank, by the table that stands in `json` where
/// it is known; elsewhere an empty column.
void write_links(const picture::TimelineDocument& document, const BarNumbers& numbers,
                 nlohmann::ordered_json& json, Columns& columns);

/// Writes the memory of all devices over time, in whole units of `memory_unit` bytes. Where there
/// are too many steps for a page, each is the greatest of a stretch.
void write_memory(const picture::TimelineDocument& document, const BarNumbers& numbers,
                  nlohmann::ordered_json& json, Columns& columns);

}  // namespace debubble::page

#pragma once

#include <memory>
#include <string>

#include "trace/picture/colours.h"
#include "trace/picture/document/document.h"
#include "trace/picture/rows.h"

namespace debubble::picture {

/// A document on the axis.
struct Layer {
    Document document;
    std::shared_ptr<const Colouring> colouring;  ///< nullptr until a worker has made it
    Duration shift{};                            ///< time on the axis minus the document's time

    explicit operator bool() const { return document != nullptr; }
    TimeRange range() const { return {document->range.begin + shift, document->range.end + shift}; }
    TimeRange on_axis(const Span& span) const { return {span.begin + shift, span.end + shift}; }
    const DeviceColours& colours_of(const Device& device) const {
        return colouring->devices[&device - document->devices.data()];
    }
};

/// One of the two documents of a comparison. A single document is A.
enum class Side : std::uint8_t { A, B };

/// Whether a change of a plan is for the better.
enum class Verdict : std::uint8_t { Neither, Better, Worse };

/// What the last change of a plan did, for the head of its picture.
struct ChangeWords {
    std::string words;  ///< "step -7.3 %, bubble 33.1 -> 17.0 %, ..."
    Verdict verdict{};
    friend bool operator==(const ChangeWords&, const ChangeWords&) = default;
};

/// The content of one time axis: one or two documents, and their rows.
struct Timeline {
    Layer main;
    Layer other;              ///< B of a comparison, or the previous plan as a ghost
    bool comparison = false;  ///< otherwise `other` is a ghost
    RowLayout layout;
    Bytes memory_top;                                  ///< least upper edge of the memory lanes
    std::shared_ptr<const Colouring> error_colouring;  ///< errors of a comparison's A
    ChangeWords change;
    bool own_memory_scale = false;  ///< memory lanes end at the greatest memory, not at the limit
    bool stale = false;             ///< the question has changed since this answer

    /// The range from the first start to the last end of both documents.
    TimeRange range() const;
    const Layer& layer(Side side) const { return side == Side::A ? main : other; }
    /// The device of `other` with the same rank as a device of `main`; nullptr if there is none.
    const Device* counterpart(const Device& device) const;
    /// The device of a row in A, or in B or the ghost.
    const Device* device(const Row& row, Side side) const;
    /// The stream of a side in a stream's row; nullptr if the side has no such stream.
    const Stream* stream(const Row& row, Side side) const;
    /// The scale of all memory lanes: A's limit, or B's if A has none.
    MemoryScale memory_scale() const;
    RowNeeds needs() const;
    bool ghost() const { return other && !comparison; }
};

}  // namespace debubble::picture

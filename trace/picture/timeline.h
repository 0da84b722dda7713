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
    std::shared_ptr<const Colouring> colouring;  ///< nullptr while a worker makes it
    Duration shift{};                            ///< time on the axis = the document's time + shift

    explicit operator bool() const { return document != nullptr; }
    TimeRange range() const { return {document->range.begin + shift, document->range.end + shift}; }
    TimeRange on_axis(const Span& span) const { return {span.begin + shift, span.end + shift}; }
    const DeviceColours& colours_of(const Device& device) const {
        return colouring->devices[static_cast<std::size_t>(&device - document->devices.data())];
    }
};

/// One of the two documents of a comparison; A if there is only one.
enum class Side : std::uint8_t { A, B };

/// Whether a change of a plan is for the better.
enum class Verdict : std::uint8_t { Neither, Better, Worse };

/// What the last change of a plan did, for the head of its picture.
struct ChangeWords {
    std::string words;  ///< "step -7.3 %, bubble 33.1 -> 17.0 %, ..."
    Verdict verdict{};
    friend bool operator==(const ChangeWords&, const ChangeWords&) = default;
};

/// The content of one time axis: a document or two, and the rows that they are drawn on.
struct Timeline {
    Layer main;
    Layer other;              ///< B of a comparison, or the ghost of the plan before
    bool comparison = false;  ///< otherwise `other` is a ghost
    RowLayout layout;
    Bytes memory_top;  ///< upper edge of the memory lanes, if they need no higher one
    std::shared_ptr<const Colouring> error_colouring;  ///< errors of a comparison's A
    ChangeWords change;
    bool own_memory_scale = false;  ///< memory lanes end at what is held, not at the limit
    bool stale = false;  ///< the question has changed, and this is the answer to the one before

    /// The range from the first start to the last end of everything that is shown.
    TimeRange range() const;
    const Layer& layer(Side side) const { return side == Side::A ? main : other; }
    /// The device of `other` with the rank of a device of `main`, if it has that rank.
    const Device* counterpart(const Device& device) const;
    /// The device of a row: A's, or B's or the ghost's.
    const Device* device(const Row& row, Side side) const;
    /// The track of a side that a stream's row shows; nothing if the side has no such stream.
    const Stream* stream(const Row& row, Side side) const;
    /// The scale of all memory lanes: A's limit, or B's if A has none.
    MemoryScale memory_scale() const;
    RowNeeds needs() const;
    bool ghost() const { return other && !comparison; }
};

}  // namespace debubble::picture

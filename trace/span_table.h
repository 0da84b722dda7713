#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "schedule/action.h"
#include "trace/trace.h"

/// Tables over the spans of a trace: numbers of keys and of messages, and the spans of each.
namespace debubble {

/// Numbers keys from 0 in the order in which they are first seen: a hash table with open
/// addressing, at most half full, without removal.
class KeyNumbers {
public:
    struct Key {
        std::uint64_t high = 0;
        std::uint64_t low = 0;
        friend bool operator==(const Key&, const Key&) = default;
    };

    /// Reserves space for that many keys.
    void reserve(std::size_t keys);
    std::uint32_t number_or_add(const Key& key);
    std::optional<std::uint32_t> number(const Key& key) const;
    const std::vector<Key>& keys() const { return keys_; }  ///< by number

private:
    static constexpr std::uint32_t kFree = UINT32_MAX;
    /// The slot of the key, or the free one where it belongs.
    std::size_t slot_of(const Key& key) const;
    void make_slots(std::size_t count);

    std::vector<Key> keys_;
    std::vector<std::uint32_t> slots_;  ///< numbers; a power of two of them
};

/// Numbers the messages of a trace, separately for each replica. In the trace of a step almost
/// every combination of producer, microbatch, slice and kind occurs, and its index among all of
/// them is its number; where a file's trace has few of many, they are numbered as they are seen.
class MessageNumbers {
public:
    /// Every message of the trace's spans and every result of its computes gets a number.
    explicit MessageNumbers(const Trace& trace);

    /// Upper bound of the numbers, exclusive.
    std::size_t count() const { return dense_ ? combinations_ : seen_.keys().size(); }
    /// Nothing if the trace cannot contain the message.
    std::optional<std::uint32_t> of(const Message& message, std::int32_t replica) const;

private:
    /// The greatest value of each part of a message's index, plus one.
    struct Extent {
        std::uint64_t replicas = 0;
        std::uint64_t producers = 0;
        std::uint64_t micro_batches = 0;
        std::uint64_t slices = 0;  ///< messages without a slice count as slice 0
    };
    Extent extent_;
    std::size_t combinations_ = 0;
    bool dense_ = true;
    KeyNumbers seen_;
};

/// Spans by the number of their subject (a message, a collective), those of one number in order of
/// begin.
class SpanTable {
public:
    /// Reserves space for that many spans.
    void reserve(std::size_t spans) { added_.reserve(spans); }
    void add(std::uint32_t number, std::uint32_t span) { added_.push_back({number, span}); }
    /// Called after the last add() and before all queries. All numbers are below `numbers`.
    /// `sorted` says that the spans were added in order of begin.
    void close(const Trace& trace, std::size_t numbers, bool sorted = false);

    std::size_t size() const { return spans_.size(); }
    std::size_t groups() const { return first_.size() - 1; }
    /// The spans of a number that is below the limit given to close().
    std::span<const std::uint32_t> group(std::size_t number) const {
        return std::span(spans_).subspan(first_[number], first_[number + 1] - first_[number]);
    }
    /// Index of the group's first span among those of all groups.
    std::size_t begin_of(std::size_t number) const { return first_[number]; }

    /// The last span of the number that began at `at` or before.
    std::optional<std::size_t> last_before(const Trace& trace, std::uint32_t number,
                                           Instant at) const;
    /// Index of a span of that number among those of all groups.
    std::size_t index_of(const Trace& trace, std::uint32_t number, std::uint32_t span) const;

private:
    struct Added {
        std::uint32_t number;
        std::uint32_t span;
    };
    std::vector<Added> added_;
    std::vector<std::uint32_t> first_;  ///< by number, and the end of all
    std::vector<std::uint32_t> spans_;
};

}  // namespace debubble

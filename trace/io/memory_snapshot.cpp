#include "trace/io/trace_formats.h"

#include <algorithm>
#include <ostream>
#include <string_view>
#include <vector>

namespace debubble {
namespace {

/// The few instructions of pickles that the snapshot needs (Python's pickletools.py).
class Pickle {
public:
    explicit Pickle(std::ostream& out) : out_(out) { out_ << "\x80\x02"; }
    void dict() { out_ << "}("; }
    void end_dict() { out_ << 'u'; }
    void list() { out_ << "]("; }
    void end_list() { out_ << 'e'; }
    void text(std::string_view words) {
        out_ << 'X';
        bytes(words.size(), 4);
        out_ << words;
    }
    void number(std::int64_t value) {  // LONG1: eight bytes, two's complement
        out_ << '\x8a' << '\x08';
        bytes(static_cast<std::uint64_t>(value), 8);
    }
    void entry(std::string_view key, std::string_view words) {
        text(key);
        text(words);
    }
    void entry(std::string_view key, std::int64_t value) {
        text(key);
        number(value);
    }
    void stop() { out_ << '.'; }

private:
    void bytes(std::uint64_t value, int count) {
        for (int i = 0; i < count; ++i) out_ << static_cast<char>(value >> (8 * i) & 0xffU);
    }
    std::ostream& out_;
};

struct Block {
    std::int64_t address = 0;
    std::int64_t size = 0;
};

/// The allocations and frees of one rank.
class RankEvents {
public:
    RankEvents(const Trace& trace, Rank rank, Pickle& out) : out_(out) {
        for (const Span& span : trace.spans)
            if (span.rank == rank && span.replica == 0 && span.lane == Lane::Compute)
                computes_.push_back(&span);
    }

    void take(const MemorySample& sample) {
        std::int64_t& level = levels_[sample.held_as];
        std::int64_t fall = level - sample.held.count;
        level = sample.held.count;
        if (fall < 0) return allocate(sample, -fall);
        std::vector<Block>& blocks = blocks_[sample.held_as];
        while (fall > 0 && !blocks.empty()) {
            const Block newest = blocks.back();
            blocks.pop_back();
            event("free_requested", newest, sample);
            event("free_completed", newest, sample);
            if (newest.size > fall) allocate(sample, newest.size - fall);
            fall -= newest.size;
        }
    }

private:
    void allocate(const MemorySample& sample, std::int64_t size) {
        constexpr std::int64_t kAlignment = 512;  // of PyTorch's allocator
        const Block block{next_, size};
        next_ += (size + kAlignment - 1) / kAlignment * kAlignment;
        blocks_[sample.held_as].push_back(block);
        event("alloc", block, sample);
    }

    void event(std::string_view action, const Block& block, const MemorySample& sample) {
        out_.dict();
        out_.entry("action", action);
        out_.entry("addr", block.address);
        out_.entry("size", block.size);
        out_.entry("stream", 0);
        out_.entry("time_us", sample.at.time_since_epoch().count() / 1000);
        out_.text("frames");
        out_.list();
        out_.dict();
        out_.entry("filename", action_at(sample.at));
        out_.entry("line", 0);
        out_.entry("name", name_of(sample.held_as));
        out_.end_dict();
        out_.end_list();
        out_.end_dict();
    }

    /// The latest action; samples lie inside actions and at their ends.
    std::string action_at(Instant at) const {
        const auto after =
            std::ranges::upper_bound(computes_, at, {}, [](const Span* s) { return s->begin; });
        return after == computes_.begin() ? "before the step" : to_text((*(after - 1))->action);
    }

    Pickle& out_;
    std::vector<const Span*> computes_;
    ArrayBy<MemoryClass, std::int64_t, kMemoryClasses> levels_{};
    ArrayBy<MemoryClass, std::vector<Block>, kMemoryClasses> blocks_;
    std::int64_t next_ = std::int64_t{1} << 32U;
};

}  // namespace

void write_memory_snapshot(const Trace& trace, std::ostream& out) {
    Pickle pickle(out);
    pickle.dict();
    pickle.text("segments");
    pickle.list();
    pickle.end_list();
    pickle.text("device_traces");
    pickle.list();
    std::int32_t ranks = 0;
    for (const MemorySample& sample : trace.memory) ranks = std::max(ranks, sample.rank.index + 1);
    auto sample = trace.memory.begin();
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
        pickle.list();
        RankEvents events(trace, Rank{rank}, pickle);
        for (; sample != trace.memory.end() && sample->rank.index == rank; ++sample)
            events.take(*sample);
        pickle.end_list();
    }
    pickle.end_list();
    pickle.end_dict();
    pickle.stop();
}

}  // namespace debubble

#include "exec/core/interpreter/gather_records.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>

#include "base/check.h"

namespace debubble::exec {

namespace {

constexpr Message::Kind kKind = Message::Kind::Activation;

/// Writes values as they are in memory, since the processes of a job run the same program.
class Writer {
public:
    template <class T>
    void add(std::span<const T> values) {
        static_assert(std::is_trivially_copyable_v<T>);
        const std::size_t size = values.size();
        append(&size, sizeof size);
        append(values.data(), values.size_bytes());
    }
    template <class T>
    void add(const T& value) {
        add(std::span<const T>(&value, 1));
    }
    /// The bytes as whole words, since communicators send words.
    std::vector<std::byte> take() && {
        bytes_.resize((bytes_.size() + 3) / 4 * 4);
        return std::move(bytes_);
    }

private:
    void append(const void* from, std::size_t size) {
        const auto* first = static_cast<const std::byte*>(from);
        bytes_.insert(bytes_.end(), first, first + size);
    }
    std::vector<std::byte> bytes_;
};

class Reader {
public:
    explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

    template <class T>
    std::vector<T> many() {
        std::size_t size = 0;
        take(&size, sizeof size);
        std::vector<T> values(size);
        take(values.data(), size * sizeof(T));
        return values;
    }
    template <class T>
    T one() {
        return many<T>().front();
    }
    std::string text() {
        const std::vector<char> letters = many<char>();
        return {letters.begin(), letters.end()};
    }

private:
    void take(void* to, std::size_t size) {
        DEBUBBLE_CHECK(size <= bytes_.size(), "a record is read as it was written");
        if (size > 0) std::memcpy(to, bytes_.data(), size);
        bytes_ = bytes_.subspan(size);
    }
    std::span<const std::byte> bytes_;
};

std::vector<std::byte> pack(const StepRecord& record) {
    Writer out;
    out.add(record.rank);
    out.add(record.replica);
    out.add(std::span(record.spans));
    out.add(std::span(record.memory));
    out.add(record.peak.at);
    out.add(record.peak.held);
    out.add(std::span<const char>(record.peak.action));
    out.add(std::span<const char>(record.peak.op));
    return std::move(out).take();
}

StepRecord unpack(std::span<const std::byte> bytes) {
    Reader in(bytes);
    StepRecord record;
    record.rank = in.one<Rank>();
    record.replica = in.one<std::int32_t>();
    record.spans = in.many<Span>();
    record.memory = in.many<MemorySample>();
    record.peak.at = in.one<Instant>();
    record.peak.held = in.one<MemoryByClass>();
    record.peak.action = in.text();
    record.peak.op = in.text();
    return record;
}

void shift(StepRecord& record, Duration by) {
    for (Span& span : record.spans) {
        span.begin += by;
        span.end += by;
    }
    for (MemorySample& sample : record.memory) sample.at += by;
    record.peak.at += by;
}

Buffer words(std::span<std::byte> bytes) {
    return {bytes, DataType::Int32};
}

}  // namespace

GatheredRecords gather_records(Communicator& world, const StepRecord& mine,
                               std::chrono::nanoseconds patience) {
    const ClockOffset offset = measure_clock_offset(world, patience);
    StepRecord record = mine;
    shift(record, offset.add);

    GatheredRecords gathered;
    std::array errors{static_cast<double>((offset.error + mine.clock_error).count()),
                      static_cast<double>(mine.clock_error.count())};
    world.all_reduce(buffer_of(std::span<double>(errors)), Reduction::Max, "CLOCK_ERROR")
        ->wait(within(patience));
    gathered.clock_error = {2 * Duration{static_cast<std::int64_t>(errors[0])},
                            Duration{static_cast<std::int64_t>(errors[1])}};

    if (world.rank() > 0) {
        std::vector<std::byte> bytes = pack(record);
        std::int32_t size = static_cast<std::int32_t>(bytes.size());
        world.send({0, kKind}, buffer_of(std::span(&size, 1)), "TRACE")->wait(within(patience));
        world.send({0, kKind}, words(bytes), "TRACE")->wait(within(patience));
        return gathered;
    }
    gathered.records.push_back(std::move(record));
    for (int peer = 1; peer < world.size(); ++peer) {
        std::int32_t size = 0;
        world.receive({peer, kKind}, buffer_of(std::span(&size, 1)), "TRACE")
            ->wait(within(patience));
        std::vector<std::byte> bytes(size);
        world.receive({peer, kKind}, words(bytes), "TRACE")->wait(within(patience));
        gathered.records.push_back(unpack(bytes));
    }
    return gathered;
}

}  // namespace debubble::exec

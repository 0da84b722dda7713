#include "trace/span_table.h"

#include <algorithm>

#include "schedule/dependencies.h"

namespace debubble {
namespace {

std::uint64_t unsigned_of(std::int32_t x) {
    return static_cast<std::uint32_t>(x);
}

/// 0 for a message of a whole microbatch.
std::uint64_t place_of_slice(const MicroBatch& mb) {
    return mb.slice ? 1U + static_cast<std::uint16_t>(*mb.slice) : 0U;
}

std::uint64_t kind_of(const Message& m) {
    return m.kind == Message::Kind::Gradient ? 1U : 0U;
}

KeyNumbers::Key key_of(const Message& m, std::int32_t replica) {
    return {
        unsigned_of(replica) << 32U | unsigned_of(m.producer.index),
        unsigned_of(m.micro_batch.index) << 32U | place_of_slice(m.micro_batch) << 1U | kind_of(m)};
}

template <class Visitor>
void for_each_message(const Trace& trace, const Visitor& visit) {
    for (const Span& span : trace.spans) {
        if (const auto* send = std::get_if<Send>(&span.action))
            visit(send->message, span.replica);
        else if (const auto* recv = std::get_if<Recv>(&span.action))
            visit(recv->message, span.replica);
        else
            for_each_compute(span.action, [&](const Compute& c) {
                if (const auto result = result_of(c)) visit(*result, span.replica);
            });
    }
}

}  // namespace

MessageNumbers::MessageNumbers(const Trace& trace) {
    for_each_message(trace, [&](const Message& m, std::int32_t replica) {
        const auto reach = [](std::uint64_t& extent, std::uint64_t place) {
            extent = std::max(extent, place + 1);
        };
        reach(extent_.replicas, unsigned_of(replica));
        reach(extent_.producers, unsigned_of(m.producer.index));
        reach(extent_.micro_batches, unsigned_of(m.micro_batch.index));
        reach(extent_.slices, place_of_slice(m.micro_batch));
    });
    // No product overflows: each is compared before the next one.
    const std::uint64_t most = 4 * trace.spans.size();
    std::uint64_t combinations = 2;
    for (const std::uint64_t extent :
         {extent_.replicas, extent_.producers, extent_.micro_batches, extent_.slices})
        if (combinations <= most) combinations *= extent;
    dense_ = combinations <= most;
    combinations_ = dense_ ? combinations : 0;
    if (dense_) return;
    for_each_message(trace, [&](const Message& m, std::int32_t replica) {
        seen_.number_or_add(key_of(m, replica));
    });
}

std::optional<std::uint32_t> MessageNumbers::of(const Message& m, std::int32_t replica) const {
    if (!dense_) return seen_.number(key_of(m, replica));
    const std::uint64_t of_replica = unsigned_of(replica);
    const std::uint64_t producer = unsigned_of(m.producer.index);
    const std::uint64_t micro_batch = unsigned_of(m.micro_batch.index);
    const std::uint64_t slice = place_of_slice(m.micro_batch);
    if (of_replica >= extent_.replicas || producer >= extent_.producers ||
        micro_batch >= extent_.micro_batches || slice >= extent_.slices)
        return std::nullopt;
    const std::uint64_t row = (of_replica * extent_.producers + producer) * 2 + kind_of(m);
    return static_cast<std::uint32_t>((row * extent_.micro_batches + micro_batch) * extent_.slices +
                                      slice);
}

}  // namespace debubble

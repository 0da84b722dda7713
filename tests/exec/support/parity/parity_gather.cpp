#include "tests/exec/support/parity/parity_gather.h"

#include <nlohmann/json.hpp>

#include "exec/core/interpreter/gather_records.h"

namespace debubble::exec::parity {

namespace {

using nlohmann::json;

constexpr Message::Kind kKind = Message::Kind::Gradient;

/// All that parity is about, without the record, which has a gather of its own. CBOR, since it has
/// NaN.
std::vector<std::uint8_t> pack(const RankResult& result) {
    json memory = json::array();
    for (const Bytes held : result.static_memory) memory.push_back(held.count);
    return json::to_cbor({{"loss_shares", result.loss_shares},
                          {"router_shares", result.router_shares},
                          {"evaluated_share", result.evaluated_share},
                          {"norms", result.norms},
                          {"gradients", result.gradients},
                          {"weights", result.weights},
                          {"static_memory", memory}});
}

RankResult unpack(const std::vector<std::uint8_t>& bytes) {
    const json packed = json::from_cbor(bytes);
    RankResult result;
    packed.at("loss_shares").get_to(result.loss_shares);
    packed.at("router_shares").get_to(result.router_shares);
    packed.at("evaluated_share").get_to(result.evaluated_share);
    packed.at("norms").get_to(result.norms);
    packed.at("gradients").get_to(result.gradients);
    packed.at("weights").get_to(result.weights);
    for (std::size_t kind = 0; kind < result.static_memory.size(); ++kind)
        result.static_memory[kind].count = packed.at("static_memory").at(kind);
    return result;
}

/// Whole words, since those are what communicators carry.
std::size_t padded(std::size_t bytes) {
    return (bytes + 3) / 4 * 4;
}

Buffer words(std::vector<std::uint8_t>& bytes) {
    return {std::as_writable_bytes(std::span(bytes)), DataType::Int32};
}

void send(Communicator& world, std::vector<std::uint8_t> bytes, Deadline deadline) {
    auto size = static_cast<std::int32_t>(bytes.size());
    bytes.resize(padded(bytes.size()));
    world.send({0, kKind}, buffer_of(std::span(&size, 1)), "SIZE")->wait(deadline);
    world.send({0, kKind}, words(bytes), "RESULT")->wait(deadline);
}

std::vector<std::uint8_t> receive(Communicator& world, int peer, Deadline deadline) {
    std::int32_t size = 0;
    world.receive({peer, kKind}, buffer_of(std::span(&size, 1)), "SIZE")->wait(deadline);
    std::vector<std::uint8_t> bytes(padded(static_cast<std::size_t>(size)));
    world.receive({peer, kKind}, words(bytes), "RESULT")->wait(deadline);
    bytes.resize(static_cast<std::size_t>(size));
    return bytes;
}

}  // namespace

std::optional<Result> train_together(Communicator& world, const Case& c) {
    const Job job(c);
    RankResult mine = train_on(world, job);
    GatheredRecords gathered = gather_records(world, mine.record, job.patience);
    const Deadline deadline = within(job.patience);
    if (world.rank() > 0) {
        send(world, pack(mine), deadline);
        return std::nullopt;
    }
    std::vector<RankResult> ranks;
    ranks.push_back(std::move(mine));
    for (int peer = 1; peer < world.size(); ++peer)
        ranks.push_back(unpack(receive(world, peer, deadline)));
    Result result = join(job, std::move(ranks));
    result.records = std::move(gathered.records);
    result.clock_error = gathered.clock_error;
    return result;
}

}  // namespace debubble::exec::parity

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <numeric>

#include "exec/comm/local/meeting.h"
#include "exec/comm/processes/engine.h"

namespace debubble::exec::processes {

namespace {

using local::Pattern;

class ProcessRequest final : public Request {
public:
    ProcessRequest(std::shared_ptr<MessageEngine> engine, std::shared_ptr<Operation> operation)
        : engine_(std::move(engine)), operation_(std::move(operation)) {}
    ProcessRequest(const ProcessRequest&) = delete;
    ProcessRequest& operator=(const ProcessRequest&) = delete;
    ~ProcessRequest() override { engine_->leave(*operation_); }
    Interval wait(Deadline deadline) override { return engine_->wait(*operation_, deadline); }
    bool done() override { return engine_->done(*operation_); }

private:
    std::shared_ptr<MessageEngine> engine_;
    std::shared_ptr<Operation> operation_;
};

/// The bytes of a chunk that is sent are only read.
std::span<std::byte> readable(ConstBuffer buffer) {
    return {const_cast<std::byte*>(buffer.bytes.data()), buffer.bytes.size()};
}

/// A number that is the same for equal lists and counts on every rank (FNV-1a, 64 bits).
std::uint64_t number_of(const std::vector<int>& ranks, int count) {
    std::uint64_t hash = 0xcbf29ce484222325;
    const auto mix = [&](int value) {
        hash = (hash ^ static_cast<std::uint64_t>(value)) * 0x100000001b3;
    };
    for (const int rank : ranks) mix(rank);
    mix(-1 - count);
    return hash;
}

using GroupCounts = std::map<std::vector<int>, int>;

class ProcessCommunicator final : public Communicator {
public:
    ProcessCommunicator(std::shared_ptr<MessageEngine> engine, std::shared_ptr<GroupCounts> counts,
                        std::vector<int> ranks)
        : engine_(std::move(engine)), counts_(std::move(counts)), ranks_(std::move(ranks)) {
        const auto me = std::find(ranks_.begin(), ranks_.end(), engine_->rank());
        assert(me != ranks_.end() && "a rank asks for groups that it is in");
        rank_ = static_cast<int>(me - ranks_.begin());
        group_ = number_of(ranks_, (*counts_)[ranks_]++);
    }

    int rank() const override { return rank_; }
    std::span<const int> ranks() const override { return ranks_; }

    Pending send(const Channel& to, ConstBuffer data, std::string_view label) override {
        const int peer = ranks_[to.peer];
        auto operation = message(to, true, data, fmt::format("{} to rank {}", label, peer));
        operation->phases.push_back({{}, {{peer, readable(data)}}, {}});
        return start(std::move(operation));
    }
    Pending receive(const Channel& from, Buffer data, std::string_view label) override {
        const int peer = ranks_[from.peer];
        auto operation = message(from, false, data, fmt::format("{} from rank {}", label, peer));
        operation->phases.push_back({{}, {}, {{peer, data.bytes}}});
        return start(std::move(operation));
    }

    /// Each rank sums one share of the elements and sends the sums to all.
    Pending all_reduce(Buffer data, Reduction reduction, std::string_view label) override {
        auto operation = collective(Pattern::AllReduce, reduction, 0, data, label);
        const auto share = [=, this](int position) {
            const std::size_t width = size_of(data.type), n = ranks_.size(), r = position;
            const std::size_t from = data.elements() * r / n, to = data.elements() * (r + 1) / n;
            return Buffer(data.bytes.subspan(from * width, (to - from) * width), data.type);
        };
        Operation::Phase spread{reduce_shares(*operation, share, share(rank_), reduction), {}, {}};
        for_others([&](int position) {
            spread.out.push_back({ranks_[position], share(rank_).bytes});
            spread.in.push_back({ranks_[position], share(position).bytes});
        });
        operation->phases.push_back(std::move(spread));
        return start(std::move(operation));
    }
    Pending all_gather(ConstBuffer mine, Buffer all, std::string_view label) override {
        auto operation = collective(Pattern::AllGather, {}, 0, all, label);
        const Buffer own = all.part(rank_, size());
        Operation::Phase phase;
        phase.begin = [=] { std::copy(mine.bytes.begin(), mine.bytes.end(), own.bytes.begin()); };
        if (own.bytes.data() == mine.bytes.data()) phase.begin = nullptr;
        for_others([&](int position) {
            phase.out.push_back({ranks_[position], readable(mine)});
            phase.in.push_back({ranks_[position], all.part(position, size()).bytes});
        });
        operation->phases.push_back(std::move(phase));
        return start(std::move(operation));
    }
    Pending reduce_scatter(ConstBuffer all, Buffer mine, Reduction reduction,
                           std::string_view label) override {
        auto operation = collective(Pattern::ReduceScatter, reduction, 0, all, label);
        const auto share = [=, this](int position) { return all.part(position, size()); };
        auto sum = reduce_shares(*operation, share, mine, reduction);
        operation->phases.push_back({std::move(sum), {}, {}});
        return start(std::move(operation));
    }
    Pending all_to_all(std::span<const ConstBuffer> out, std::span<const Buffer> in,
                       std::string_view label) override {
        assert(out.size() == ranks_.size() && in.size() == ranks_.size() &&
               "a chunk for each rank");
        auto operation =
            collective(Pattern::AllToAll, {}, 0, ConstBuffer({}, out.front().type), label);
        Operation::Phase phase;
        phase.begin = [from = out[rank_], to = in[rank_]] {
            std::copy(from.bytes.begin(), from.bytes.end(), to.bytes.begin());
        };
        for_others([&](int position) {
            phase.out.push_back({ranks_[position], readable(out[position])});
            phase.in.push_back({ranks_[position], in[position].bytes});
        });
        operation->phases.push_back(std::move(phase));
        return start(std::move(operation));
    }
    Pending reduce_scatter_uneven(std::span<const ConstBuffer> chunks, Buffer mine,
                                  Reduction reduction, std::string_view label) override {
        assert(chunks.size() == ranks_.size() && "a chunk for each rank");
        auto operation = collective(Pattern::ReduceScatterUneven, reduction, 0,
                                    ConstBuffer({}, mine.type), label);
        const auto share = [=](int position) { return chunks[position]; };
        auto sum = reduce_shares(*operation, share, mine, reduction);
        operation->phases.push_back({std::move(sum), {}, {}});
        return start(std::move(operation));
    }
    Pending broadcast(Buffer data, int root, std::string_view label) override {
        auto operation = collective(Pattern::Broadcast, {}, root, data, label);
        Operation::Phase phase;
        if (rank_ == root) {
            for_others([&](int p) { phase.out.push_back({ranks_[p], data.bytes}); });
        } else {
            phase.in.push_back({ranks_[root], data.bytes});
        }
        operation->phases.push_back(std::move(phase));
        return start(std::move(operation));
    }
    Pending barrier(std::string_view label) override {
        auto operation = collective(Pattern::Barrier, {}, 0, {}, label);
        Operation::Phase phase;
        for_others([&](int position) {
            phase.out.push_back({ranks_[position], {}});
            phase.in.push_back({ranks_[position], {}});
        });
        operation->phases.push_back(std::move(phase));
        return start(std::move(operation));
    }

    std::unique_ptr<Communicator> group(std::span<const int> global_ranks) override {
        return std::make_unique<ProcessCommunicator>(
            engine_, counts_, std::vector(global_ranks.begin(), global_ranks.end()));
    }
    void abort(const std::string& sentence) override {
        engine_->fail(fmt::format("rank {} failed: {}", global_rank(), sentence));
    }

private:
    template <class Visitor>
    void for_others(const Visitor& visit) const {
        for (int position = 0; position < size(); ++position) {
            if (position != rank_) visit(position);
        }
    }

    /// Adds the phase that brings all other ranks' parts of this rank's share here, and returns the
    /// function that then reduces them, in rank order, into `target`.
    template <class Share>
    std::function<void()> reduce_shares(Operation& operation, const Share& share, Buffer target,
                                        Reduction reduction) {
        const std::size_t bytes = share(rank_).bytes.size();
        auto staging = std::make_shared<std::vector<std::byte>>(bytes * ranks_.size());
        std::vector<ConstBuffer> sources;
        Operation::Phase gather;
        for (int position = 0; position < size(); ++position) {
            const std::span place = std::span(*staging).subspan(bytes * position, bytes);
            sources.push_back(position == rank_ ? ConstBuffer(share(rank_))
                                                : ConstBuffer(place, target.type));
            if (position == rank_) continue;
            gather.out.push_back({ranks_[position], readable(share(position))});
            gather.in.push_back({ranks_[position], place});
        }
        operation.phases.push_back(std::move(gather));
        // Keeps the staging memory alive, in which the sources lie.
        return [staging, sources, target, reduction] {
            reduce(sources, {&target, 1}, reduction, 0, target.elements());
        };
    }

    std::shared_ptr<Operation> message(const Channel& channel, bool out, ConstBuffer data,
                                       std::string description) {
        assert(channel.peer != rank_ && "a rank does not send to itself");
        auto operation = std::make_shared<Operation>();
        operation->key = {group_, static_cast<std::int32_t>(channel.kind), channel.tag, 0};
        operation->key.number = uses_[{out, channel}]++;
        operation->terms = {Pattern::Message, {}, 0, data.type, data.bytes.size()};
        operation->description = std::move(description);
        return operation;
    }
    std::shared_ptr<Operation> collective(Pattern pattern, Reduction reduction, int root,
                                          ConstBuffer whole, std::string_view label) {
        auto operation = std::make_shared<Operation>();
        operation->key = {group_, -1, 0, collectives_++};
        operation->terms = {pattern, reduction, root, whole.type, whole.bytes.size()};
        operation->description = fmt::format("{} among {}", label, local::ranks_text(ranks_));
        return operation;
    }
    Pending start(std::shared_ptr<Operation> operation) {
        engine_->start(operation);
        return std::make_unique<ProcessRequest>(engine_, std::move(operation));
    }

    std::shared_ptr<MessageEngine> engine_;
    std::shared_ptr<GroupCounts> counts_;
    std::vector<int> ranks_;
    int rank_ = 0;
    std::uint64_t group_ = 0;
    std::uint64_t collectives_ = 0;
    std::map<std::pair<bool, Channel>, std::uint64_t> uses_;
};

}  // namespace

std::unique_ptr<Communicator> join_world(const OpenWire& open, const Patience& patience,
                                         const std::string& name) {
    auto engine = std::make_shared<MessageEngine>(open, patience, name);
    std::vector<int> all(engine->ranks());
    std::iota(all.begin(), all.end(), 0);
    return std::make_unique<ProcessCommunicator>(engine, std::make_shared<GroupCounts>(), all);
}

}  // namespace debubble::exec::processes

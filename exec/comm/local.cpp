#include "exec/comm/transports.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <exception>
#include <map>
#include <numeric>
#include <thread>
#include <utility>

#include "exec/comm/local/world.h"

namespace debubble::exec {

namespace {

using local::Meeting;
using local::MeetingKey;
using local::Participant;
using local::Pattern;
using local::Terms;
using local::World;

class LocalRequest final : public Request {
public:
    LocalRequest(std::shared_ptr<World> world, std::shared_ptr<Meeting> meeting, int position)
        : world_(std::move(world)), meeting_(std::move(meeting)), position_(position) {}
    LocalRequest(const LocalRequest&) = delete;
    LocalRequest& operator=(const LocalRequest&) = delete;
    ~LocalRequest() override { world_->leave(*meeting_, position_); }
    Interval wait(Deadline deadline) override {
        Interval when = world_->wait(*meeting_, position_, deadline);
        const Participant& me = meeting_->participants[position_];
        if (me.lanes == nullptr || meeting_->shares() == 0) return when;
        if (!std::exchange(kernels_wait_, true)) me.lanes->hold_compute(me.ran.end);
        when.marks = me.ran;
        return when;
    }
    bool done() override {
        if (!world_->done(*meeting_, position_)) return false;
        const Participant& me = meeting_->participants[position_];
        return me.lanes == nullptr || meeting_->shares() == 0 || me.lanes->reached(me.ran.end);
    }

private:
    std::shared_ptr<World> world_;
    std::shared_ptr<Meeting> meeting_;
    int position_;
    bool kernels_wait_ = false;
};

class LocalCommunicator final : public Communicator {
public:
    /// With `lanes`, the communicator moves tensors in the memory of that device.
    LocalCommunicator(std::shared_ptr<World> world, std::vector<int> ranks, int rank,
                      DeviceLanes* lanes = nullptr)
        : world_(std::move(world)), ranks_(std::move(ranks)), rank_(rank), lanes_(lanes) {
        group_ = world_->group_number(global_rank(), ranks_);
    }

    int rank() const override { return rank_; }
    std::span<const int> ranks() const override { return ranks_; }

    Pending send(const Channel& to, ConstBuffer data, std::string_view label) override {
        return message(to, global_rank(), ranks_[to.peer],
                       {true, data, {}, std::string(label), lanes_});
    }
    Pending receive(const Channel& from, Buffer data, std::string_view label) override {
        return message(from, ranks_[from.peer], global_rank(),
                       {true, data, data, std::string(label), lanes_});
    }

    Pending all_reduce(Buffer data, Reduction reduction, std::string_view label) override {
        return collective({Pattern::AllReduce, reduction, 0, data.type, data.bytes.size()},
                          {true, data, data, std::string(label), lanes_});
    }
    Pending all_gather(ConstBuffer mine, Buffer all, std::string_view label) override {
        check_part(mine, all);
        return collective({Pattern::AllGather, {}, 0, all.type, all.bytes.size()},
                          {true, mine, all, std::string(label), lanes_});
    }
    Pending reduce_scatter(ConstBuffer all, Buffer mine, Reduction reduction,
                           std::string_view label) override {
        check_part(mine, all);
        return collective({Pattern::ReduceScatter, reduction, 0, all.type, all.bytes.size()},
                          {true, all, mine, std::string(label), lanes_});
    }
    Pending all_to_all(std::span<const ConstBuffer> out, std::span<const Buffer> in,
                       std::string_view label) override {
        check_pieces(out.size());
        check_pieces(in.size());
        Participant participant{true, {}, {}, std::string(label), lanes_};
        participant.ins.assign(out.begin(), out.end());
        participant.outs.assign(in.begin(), in.end());
        return collective({Pattern::AllToAll, {}, 0, out.front().type, 0}, std::move(participant));
    }
    Pending reduce_scatter_uneven(std::span<const ConstBuffer> chunks, Buffer mine,
                                  Reduction reduction, std::string_view label) override {
        check_pieces(chunks.size());
        Participant participant{true, {}, mine, std::string(label), lanes_};
        participant.ins.assign(chunks.begin(), chunks.end());
        return collective({Pattern::ReduceScatterUneven, reduction, 0, mine.type, 0},
                          std::move(participant));
    }
    Pending broadcast(Buffer data, int root, std::string_view label) override {
        assert(root >= 0 && root < size() && "the root is one of the group");
        return collective({Pattern::Broadcast, {}, root, data.type, data.bytes.size()},
                          {true, data, data, std::string(label), lanes_});
    }
    Pending barrier(std::string_view label) override {
        return collective({Pattern::Barrier, {}, 0, {}, 0}, {true, {}, {}, std::string(label)});
    }

    std::unique_ptr<Communicator> group(std::span<const int> global_ranks) override {
        const auto me = std::find(global_ranks.begin(), global_ranks.end(), global_rank());
        assert(me != global_ranks.end() && "a rank asks for groups that it is in");
        return std::make_unique<LocalCommunicator>(
            world_, std::vector(global_ranks.begin(), global_ranks.end()),
            static_cast<int>(me - global_ranks.begin()), lanes_);
    }
    /// All ranks share one memory here; lanes of several GPUs would need peer access.
    std::unique_ptr<Communicator> on_device(DeviceLanes& lanes) override {
        std::int32_t numbers[2] = {lanes.memory(), -lanes.memory()};
        all_reduce(buffer_of(std::span<std::int32_t>(numbers)), Reduction::Max, "DEVICES")
            ->wait(within(std::chrono::minutes(5)));
        if (numbers[0] != -numbers[1] || size() > lanes.most_parties()) return nullptr;
        return std::make_unique<LocalCommunicator>(world_, ranks_, rank_, &lanes);
    }
    void abort(const std::string& sentence) override {
        world_->fail(fmt::format("rank {} failed: {}", global_rank(), sentence));
    }

private:
    void check_part(const ConstBuffer& mine, const ConstBuffer& all) const {
        assert(mine.type == all.type && "a part has the type of the whole");
        assert(mine.bytes.size() * ranks_.size() == all.bytes.size() &&
               "the whole is one part per rank");
        (void)mine, (void)all;
    }

    void check_pieces(std::size_t count) const {
        assert(count == ranks_.size() && "a chunk for every rank");
        (void)count;
    }

    Pending message(const Channel& channel, int from, int to, Participant participant) {
        assert(channel.peer != rank_ && "a rank does not send to itself");
        const Terms terms{
            Pattern::Message, {}, 0, participant.in.type, participant.in.bytes.size()};
        const MeetingKey key{group_, static_cast<std::int32_t>(channel.kind), channel.tag, from,
                             to};
        if (lanes_ != nullptr)
            begin_on(fmt::format("channel {} {} {} {} {}", group_, *key.kind, key.tag, from, to),
                     participant);
        return join(key, terms, {from, to}, from == global_rank() ? 0 : 1, std::move(participant));
    }
    Pending collective(const Terms& terms, Participant participant) {
        if (lanes_ != nullptr) begin_on(fmt::format("group {}", group_), participant);
        return join({group_}, terms, ranks_, rank_, std::move(participant));
    }
    void begin_on(const std::string& lane, Participant& participant) const {
        participant.lane = lanes_->lane(lane);
        participant.ready = lanes_->mark(kComputeLane);
    }
    Pending join(MeetingKey key, const Terms& terms, std::vector<int> ranks, int position,
                 Participant participant) {
        key.number = uses_[key]++;
        auto meeting = world_->join(key, terms, std::move(ranks), position, std::move(participant));
        return std::make_unique<LocalRequest>(world_, std::move(meeting), position);
    }

    std::shared_ptr<World> world_;
    std::vector<int> ranks_;
    int rank_;
    DeviceLanes* lanes_;
    int group_ = 0;
    std::map<MeetingKey, std::uint64_t> uses_;  ///< uses of each key, whose own number is 0
};

/// The first exception of a job. That other ranks were aborted is a consequence of it.
class FirstFailure {
public:
    void note(std::exception_ptr failure, bool is_consequence) {
        const std::lock_guard lock(mutex_);
        if (!failure_ || (is_consequence_ && !is_consequence)) {
            failure_ = std::move(failure);
            is_consequence_ = is_consequence;
        }
    }
    void rethrow_if_any() const {
        if (failure_) std::rethrow_exception(failure_);
    }

private:
    std::mutex mutex_;
    std::exception_ptr failure_;
    bool is_consequence_ = false;
};

void run_rank(Communicator& communicator, const std::function<void(Communicator&)>& body,
              FirstFailure& failure) {
    try {
        body(communicator);
    } catch (const Aborted&) {
        failure.note(std::current_exception(), true);
    } catch (const std::exception& error) {
        failure.note(std::current_exception(), false);
        communicator.abort(error.what());
    }
}

}  // namespace

void run_local(int ranks, Transport transport, const std::function<void(Communicator&)>& body) {
    const auto world = std::make_shared<World>(ranks, transport);
    std::vector<int> all(ranks);
    std::iota(all.begin(), all.end(), 0);
    FirstFailure failure;
    std::vector<std::jthread> threads;
    threads.reserve(ranks);
    for (int rank = 0; rank < ranks; ++rank) {
        threads.emplace_back([&, rank] {
            LocalCommunicator communicator(world, all, rank);
            run_rank(communicator, body, failure);
        });
    }
    threads.clear();  // joins the threads
    failure.rethrow_if_any();
}

}  // namespace debubble::exec

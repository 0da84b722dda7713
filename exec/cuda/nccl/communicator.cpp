#include "exec/cuda/nccl/calls.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "exec/comm/local/meeting.h"
#include "exec/cuda/nccl/job.h"

namespace debubble::exec::nccl {

namespace {

using local::Pattern;
using local::Terms;

/// The description of a communication that ranks send each other.
struct Word {
    Terms terms;
    char description[104];

    Word(const Terms& what, const std::string& text) {
        std::memset(static_cast<void*>(this), 0, sizeof *this);
        terms = what;
        text.copy(description, sizeof description - 1);
    }
    std::string text() const {
        return fmt::format("{} for {}", description, local::to_text(terms));
    }
};
static_assert(sizeof(Word) % sizeof(std::int32_t) == 0,
              "whole elements of the host's communicator");

Buffer buffer_over(std::span<Word> words) {
    return {std::as_writable_bytes(words), DataType::Int32};
}

/// The words are destroyed last: the request over the host needs them until it is gone.
struct Ask {
    std::vector<Word> mine;
    std::vector<Word> all;        ///< words of the group, or of a message the sender's
    std::vector<int> ranks;       ///< ranks whose words they are
    std::vector<Terms> expected;  ///< the terms that each of these words should have
    Pending request;
};

class NcclRequest final : public Request {
public:
    NcclRequest(std::shared_ptr<Job> job, Communicator& host, Ask ask, MarkedInterval ran)
        : job_(std::move(job)), host_(host), ask_(std::move(ask)), ran_(ran) {}

    NcclRequest(const NcclRequest&) = delete;
    NcclRequest& operator=(const NcclRequest&) = delete;
    /// A request that is given up ends the job: NCCL must not touch its buffers after this.
    ~NcclRequest() override {
        try {
            if (ask_.request->done()) return;
            ask_.request.reset();  // tells all ranks
            job_->fail(fmt::format("{} was given up", ask_.mine[0].description));
        } catch (const WorldError& error) {
            job_->fail(error.what());
        }
    }

    Interval wait(Deadline deadline) override {
        Interval when;
        try {
            when = ask_.request->wait(deadline);
        } catch (const WorldError& error) {
            job_->fail(error.what());
            throw;
        }
        check_agreed();
        if (!std::exchange(kernels_wait_, true)) job_->lanes().hold_compute(ran_.end);
        when.marks = ran_;
        return when;
    }
    bool done() override {
        job_->throw_if_failed(ask_.mine[0].description);
        if (!ask_.request->done()) return false;
        check_agreed();
        return job_->lanes().reached(ran_.end);
    }

private:
    void check_agreed() const {
        const Word& mine = ask_.mine[0];
        for (std::size_t i = 0; i < ask_.all.size(); ++i) {
            const Word& other = ask_.all[i];
            if (other.terms == ask_.expected[i]) continue;
            const std::string sentence =
                fmt::format("rank {} takes {}, rank {} takes {}", ask_.ranks[i], other.text(),
                            host_.global_rank(), Word(ask_.expected[i], mine.description).text());
            job_->fail(sentence);
            throw WorldError(sentence);
        }
        job_->throw_if_failed(mine.description);
    }

    std::shared_ptr<Job> job_;
    Communicator& host_;
    Ask ask_;
    MarkedInterval ran_;
    bool kernels_wait_ = false;
};

class NcclCommunicator final : public Communicator {
public:
    NcclCommunicator(std::shared_ptr<Job> job, std::unique_ptr<Communicator> host, GroupPlan plan,
                     const GroupUse& use)
        : job_(std::move(job)), host_(std::move(host)), plan_(std::move(plan)) {
        number_ = job_->next_group();
        purpose_ = use.callers_stand_still ? Purpose::StandingGroup : Purpose::Group;
        for (const Edge& edge : use.edges)
            if (edge.from == rank() || edge.to == rank()) warm_up(edge);
        if (use.collectives && size() > 1) group_handle();
    }

    int rank() const override { return host_->rank(); }
    std::span<const int> ranks() const override { return host_->ranks(); }

    Pending send(const Channel& to, ConstBuffer data, std::string_view label) override {
        const std::string text = fmt::format("{} to rank {}", label, global(to.peer));
        Ask ask = asking({Pattern::Message, {}, 0, data.type, data.bytes.size()}, text);
        const Way& way = way_of({rank(), to.peer, to.kind, to.tag});
        ask.request = host_->send(to, buffer_over(ask.mine), label);
        return begin(std::move(ask), way, data.bytes.empty(),
                     [&] { return job_->calls().send(way.handle, data, 1, way.lane); });
    }
    Pending receive(const Channel& from, Buffer data, std::string_view label) override {
        const std::string text = fmt::format("{} from rank {}", label, global(from.peer));
        Ask ask = asking({Pattern::Message, {}, 0, data.type, data.bytes.size()}, text);
        const Way& way = way_of({from.peer, rank(), from.kind, from.tag});
        ask.all = ask.mine;
        ask.ranks = {global(from.peer)};
        ask.expected = {ask.mine[0].terms};
        ask.request = host_->receive(from, buffer_over(ask.all), label);
        return begin(std::move(ask), way, data.bytes.empty(),
                     [&] { return job_->calls().receive(way.handle, data, 0, way.lane); });
    }

    Pending all_reduce(Buffer data, Reduction reduction, std::string_view label) override {
        return collective({Pattern::AllReduce, reduction, 0, data.type, data.bytes.size()}, label,
                          [&](const Way& way) {
                              return job_->calls().all_reduce(way.handle, data, reduction,
                                                              way.lane);
                          });
    }
    Pending all_gather(ConstBuffer mine, Buffer all, std::string_view label) override {
        return collective({Pattern::AllGather, {}, 0, all.type, all.bytes.size()}, label,
                          [&](const Way& way) {
                              return job_->calls().all_gather(way.handle, mine, all, way.lane);
                          });
    }
    Pending reduce_scatter(ConstBuffer all, Buffer mine, Reduction reduction,
                           std::string_view label) override {
        return collective({Pattern::ReduceScatter, reduction, 0, all.type, all.bytes.size()}, label,
                          [&](const Way& way) {
                              return job_->calls().reduce_scatter(way.handle, all, mine, reduction,
                                                                  way.lane);
                          });
    }
    Pending all_to_all(std::span<const ConstBuffer> out, std::span<const Buffer> in,
                       std::string_view label) override {
        const Terms terms{Pattern::AllToAll, {}, 0, out.front().type, 0};
        return of_pieces(
            terms, out, [&](std::size_t from) { return in[from].bytes.size(); }, label,
            [&](const Way& way) {
                return job_->calls().all_to_all(way.handle, out, in, way.lane);
            });
    }
    Pending reduce_scatter_uneven(std::span<const ConstBuffer> chunks, Buffer mine,
                                  Reduction reduction, std::string_view label) override {
        const Terms terms{Pattern::ReduceScatterUneven, reduction, 0, mine.type, 0};
        return of_pieces(
            terms, chunks, [&](std::size_t) { return mine.bytes.size(); }, label,
            [&](const Way& way) {
                return job_->calls().reduce_scatter_uneven(way.handle, rank(), chunks, mine,
                                                           reduction, way.lane);
            });
    }
    Pending broadcast(Buffer data, int root, std::string_view label) override {
        return collective({Pattern::Broadcast, {}, root, data.type, data.bytes.size()}, label,
                          [&](const Way& way) {
                              return job_->calls().broadcast(way.handle, data, root, way.lane);
                          });
    }
    /// A barrier of the hosts: nothing on the device needs it.
    Pending barrier(std::string_view label) override { return host_->barrier(label); }

    std::unique_ptr<Communicator> group(std::span<const int> global_ranks) override {
        return std::make_unique<NcclCommunicator>(job_, host_->group(global_ranks), plan_,
                                                  plan_(global_ranks));
    }
    std::shared_ptr<DeviceMemory> memory() override { return job_->memory(); }
    int multiprocessors_taken() const override { return job_->multiprocessors_taken(); }
    /// True by NCCL_LAUNCH_ORDER_IMPLICIT (library.cpp): no kernel starts before those issued
    /// earlier.
    bool starts_in_order() const override { return true; }
    void abort(const std::string& sentence) override {
        host_->abort(sentence);  // the watch hears of it
    }

private:
    /// A communicator of NCCL and its own lane.
    struct Way {
        Handle handle = nullptr;
        DeviceLane lane;
    };

    int global(int position) const { return ranks()[position]; }
    Deadline deadline() const { return within(job_->patience()); }

    static Ask asking(const Terms& terms, const std::string& description) {
        Ask ask;
        ask.mine.emplace_back(terms, description);
        return ask;
    }
    Pending begin(Ask ask, const Way& way, bool nothing, const std::function<Answer()>& call) {
        const std::string description = ask.mine[0].description;
        const MarkedInterval ran =
            job_->issue(way.handle, way.lane, description, nothing ? nullptr : call);
        return std::make_unique<NcclRequest>(job_, *host_, std::move(ask), ran);
    }

    template <class Call>
    Pending collective(const Terms& terms, std::string_view label, const Call& call) {
        const std::vector<int> members(ranks().begin(), ranks().end());
        Ask ask = asking(terms, fmt::format("{} among {}", label, local::ranks_text(members)));
        const Way& way = group_handle();
        ask.all.assign(members.size(), ask.mine[0]);
        ask.ranks = members;
        ask.expected.assign(members.size(), terms);
        ask.request = host_->all_gather(buffer_over(ask.mine), buffer_over(ask.all), label);
        return begin(std::move(ask), way, terms.bytes == 0, [&] { return call(way); });
    }

    /// Chunks of unequal sizes: each rank sends each other rank its chunk.
    template <class BytesFrom, class Call>
    Pending of_pieces(const Terms& terms, std::span<const ConstBuffer> out,
                      const BytesFrom& bytes_from, std::string_view label, const Call& call) {
        const std::vector<int> members(ranks().begin(), ranks().end());
        const std::string text = fmt::format("{} among {}", label, local::ranks_text(members));
        const auto with = [&](std::size_t bytes) {
            Terms chunk = terms;
            chunk.bytes = bytes;
            return chunk;
        };
        Ask ask;
        bool nothing = true;
        for (std::size_t r = 0; r < members.size(); ++r) {
            ask.mine.emplace_back(with(out[r].bytes.size()), text);
            ask.expected.push_back(with(bytes_from(r)));
            nothing = nothing && out[r].bytes.empty() && ask.expected[r].bytes == 0;
        }
        ask.all = ask.mine;
        ask.ranks = members;
        const Way& way = group_handle();
        std::vector<ConstBuffer> words_out;
        std::vector<Buffer> words_in;
        for (std::size_t r = 0; r < members.size(); ++r) {
            words_out.push_back(buffer_over(std::span(ask.mine).subspan(r, 1)));
            words_in.push_back(buffer_over(std::span(ask.all).subspan(r, 1)));
        }
        ask.request = host_->all_to_all(words_out, words_in, label);
        return begin(std::move(ask), way, nothing, [&] { return call(way); });
    }

    const Way& group_handle() {
        if (group_.handle != nullptr) return group_;
        const std::vector<int> members(ranks().begin(), ranks().end());
        const std::string what = fmt::format("a group of {}", local::ranks_text(members));
        Id id{};
        if (rank() == 0) id = job_->calls().fresh_id();
        host_->broadcast(as_words(id), 0, "NCCL_ID")->wait(deadline());
        group_.handle = job_->join(size(), id, rank(), purpose_, what);
        group_.lane = job_->lanes().lane(fmt::format("nccl group {}", number_));
        return group_;
    }

    /// The sender makes the id; the two ends are NCCL's ranks 0 and 1.
    const Way& way_of(const Edge& edge) {
        assert(edge.from != edge.to && "a rank does not send to itself");
        const auto [at, is_new] = ways_.try_emplace(edge);
        Way& way = at->second;
        if (!is_new && way.handle != nullptr) return way;
        const bool sends = edge.from == rank();
        const Channel channel{sends ? edge.to : edge.from, edge.kind, edge.tag};
        Id id{};
        if (sends) {
            id = job_->calls().fresh_id();
            host_->send(channel, as_words(id), "NCCL_ID")->wait(deadline());
        } else {
            host_->receive(channel, as_words(id), "NCCL_ID")->wait(deadline());
        }
        way.handle = job_->join(
            2, id, sends ? 0 : 1, Purpose::Edge,
            fmt::format("the way from rank {} to rank {}", global(edge.from), global(edge.to)));
        way.lane = job_->lanes().lane(fmt::format("nccl edge {} {} {} {} {}", number_, edge.from,
                                                  edge.to, static_cast<int>(edge.kind), edge.tag));
        return way;
    }

    /// The first message of an edge sets up NCCL's connection; that must not happen during a step.
    void warm_up(const Edge& edge) {
        const Way& way = way_of(edge);
        const Buffer scratch = job_->calls().scratch();
        const bool sends = edge.from == rank();
        job_->issue(way.handle, way.lane, "a first message", [&] {
            return sends ? job_->calls().send(way.handle, scratch, 1, way.lane)
                         : job_->calls().receive(way.handle, scratch, 0, way.lane);
        });
    }

    static Buffer as_words(Id& id) { return {id, DataType::Int32}; }

    std::shared_ptr<Job> job_;
    std::unique_ptr<Communicator> host_;
    GroupPlan plan_;
    int number_ = 0;
    Purpose purpose_{};
    Way group_;
    std::map<Edge, Way> ways_;
};

}  // namespace

std::unique_ptr<Communicator> connect(Communicator& host, DeviceLanes& lanes,
                                      std::unique_ptr<Calls> calls, const GroupPlan& plan,
                                      std::chrono::nanoseconds patience) {
    auto job = std::make_shared<Job>(host, lanes, std::move(calls), patience);
    return std::make_unique<NcclCommunicator>(std::move(job), host.group(host.ranks()), plan,
                                              GroupUse{});
}

}  // namespace debubble::exec::nccl

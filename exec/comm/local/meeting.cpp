#include "exec/comm/local/meeting.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>

namespace debubble::exec::local {

namespace {

/// The executor of a share: the thread itself, or a lane of the device whose share it is.
class Hands {
public:
    explicit Hands(const Participant* on_device = nullptr) : party_(on_device) {}

    void copy(const ConstBuffer& from, const Buffer& to) const {
        if (from.bytes.empty() || from.bytes.data() == to.bytes.data()) return;
        if (party_ == nullptr)
            std::memcpy(to.bytes.data(), from.bytes.data(), from.bytes.size());
        else
            party_->lanes->copy(party_->lane, from.bytes.data(), to.bytes.data(),
                                Bytes{static_cast<std::int64_t>(from.bytes.size())});
    }
    /// Reduces elements [begin, end) of each buffer.
    void reduce(const std::vector<ConstBuffer>& sources, const std::vector<Buffer>& targets,
                Reduction reduction, std::size_t begin, std::size_t end) const {
        if (party_ == nullptr) return exec::reduce(sources, targets, reduction, begin, end);
        const DataType type = sources.front().type;
        const std::size_t offset = begin * static_cast<std::size_t>(size_of(type));
        std::vector<const std::byte*> from;
        std::vector<std::byte*> to;
        for (const ConstBuffer& source : sources) from.push_back(source.bytes.data() + offset);
        for (const Buffer& target : targets) to.push_back(target.bytes.data() + offset);
        party_->lanes->reduce(party_->lane, from, to, type, reduction,
                              static_cast<std::int64_t>(end - begin));
    }

private:
    const Participant* party_;
};

void all_reduce(const Meeting& meeting, int share, const Hands& hands) {
    std::vector<ConstBuffer> sources;
    std::vector<Buffer> targets;
    for (const Participant& participant : meeting.participants) {
        sources.push_back(participant.in);
        targets.push_back(participant.out);
    }
    const std::size_t elements = sources.front().elements(), shares = sources.size();
    const auto bound = [&](int s) { return elements * static_cast<std::size_t>(s) / shares; };
    hands.reduce(sources, targets, meeting.terms.reduction, bound(share), bound(share + 1));
}

void all_gather(const Meeting& meeting, int share, const Hands& hands) {
    const int size = static_cast<int>(meeting.participants.size());
    for (const Participant& participant : meeting.participants) {
        hands.copy(meeting.participants[share].in, participant.out.part(share, size));
    }
}

void reduce_scatter(const Meeting& meeting, int share, const Hands& hands) {
    const int size = static_cast<int>(meeting.participants.size());
    std::vector<ConstBuffer> sources;
    for (const Participant& participant : meeting.participants)
        sources.push_back(participant.in.part(share, size));
    const Buffer& target = meeting.participants[share].out;
    hands.reduce(sources, {target}, meeting.terms.reduction, 0, target.elements());
}

void all_to_all(const Meeting& meeting, int share, const Hands& hands) {
    const Participant& mine = meeting.participants[share];
    for (std::size_t from = 0; from < meeting.participants.size(); ++from)
        hands.copy(meeting.participants[from].ins[share], mine.outs[from]);
}

void reduce_scatter_uneven(const Meeting& meeting, int share, const Hands& hands) {
    std::vector<ConstBuffer> sources;
    for (const Participant& participant : meeting.participants)
        sources.push_back(participant.ins[share]);
    const Buffer& target = meeting.participants[share].out;
    if (target.bytes.empty()) return;
    hands.reduce(sources, {target}, meeting.terms.reduction, 0, target.elements());
}

void move(const Meeting& meeting, int share, const Hands& hands) {
    switch (meeting.terms.pattern) {
        case Pattern::Message:
            return hands.copy(meeting.participants[0].in, meeting.participants[1].out);
        case Pattern::AllReduce: return all_reduce(meeting, share, hands);
        case Pattern::AllGather: return all_gather(meeting, share, hands);
        case Pattern::ReduceScatter: return reduce_scatter(meeting, share, hands);
        case Pattern::AllToAll: return all_to_all(meeting, share, hands);
        case Pattern::ReduceScatterUneven: return reduce_scatter_uneven(meeting, share, hands);
        case Pattern::Broadcast:
            return hands.copy(meeting.participants[meeting.terms.root].in,
                              meeting.participants[share].out);
        case Pattern::Barrier: return;
    }
}

/// No lane starts before the kernels of all participants are done, and no lane is done before all
/// have read: then nobody still reads another participant's memory. A wait names only marks that
/// were made before it, so that meetings may be asked of the lanes in any order. The receiver's
/// lane does the work of a message.
void move_on_lanes(Meeting& meeting) {
    const auto all_wait_for = [&](auto mark_of) {
        for (const Participant& mine : meeting.participants)
            for (const Participant& other : meeting.participants)
                if (&mine != &other) mine.lanes->wait(mine.lane, *other.lanes, mark_of(other));
    };
    for (const Participant& mine : meeting.participants) mine.lanes->wait(mine.lane, mine.ready);
    all_wait_for([](const Participant& participant) { return participant.ready; });
    for (Participant& mine : meeting.participants) mine.ran.begin = mine.lanes->mark(mine.lane);
    if (meeting.terms.pattern == Pattern::Message) {
        const Participant &sender = meeting.participants[0], &receiver = meeting.participants[1];
        receiver.lanes->wait(receiver.lane, *sender.lanes, sender.ran.begin);
        move(meeting, 0, Hands(&receiver));
    } else {
        for (std::size_t share = 0; share < meeting.participants.size(); ++share)
            move(meeting, static_cast<int>(share), Hands(&meeting.participants[share]));
    }
    for (Participant& mine : meeting.participants) mine.ran.end = mine.lanes->mark(mine.lane);
    all_wait_for([](const Participant& participant) { return participant.ran.end; });
    for (Participant& mine : meeting.participants) mine.ran.end = mine.lanes->mark(mine.lane);
}

std::string_view name_of(DataType type) {
    switch (type) {
        case DataType::Fp64: return "fp64";
        case DataType::Fp32: return "fp32";
        case DataType::Fp16: return "fp16";
        case DataType::Bf16: return "bf16";
        case DataType::Int32: return "int32";
    }
    return "?";
}

std::string name_of(const Terms& terms) {
    const char* reduction = terms.reduction == Reduction::Sum ? "sum" : "max";
    switch (terms.pattern) {
        case Pattern::Message: return "a message";
        case Pattern::AllReduce: return fmt::format("an all-reduce ({})", reduction);
        case Pattern::AllGather: return "an all-gather";
        case Pattern::ReduceScatter: return fmt::format("a reduce-scatter ({})", reduction);
        case Pattern::AllToAll: return "a chunk of an all-to-all";
        case Pattern::ReduceScatterUneven:
            return fmt::format("a chunk of a reduce-scatter ({})", reduction);
        case Pattern::Broadcast: return fmt::format("a broadcast (root {})", terms.root);
        case Pattern::Barrier: return "a barrier";
    }
    return "?";
}

}  // namespace

int Meeting::shares() const {
    switch (terms.pattern) {
        case Pattern::Message: return 1;
        case Pattern::Barrier: return 0;
        default: return on_device() ? 1 : static_cast<int>(participants.size());
    }
}

void carry_out(Meeting& meeting, int share) {
    if (meeting.on_device()) return move_on_lanes(meeting);
    move(meeting, share, Hands());
}

std::string to_text(const Terms& terms) {
    if (terms.pattern == Pattern::Barrier) return name_of(terms);
    return fmt::format("{} of {} bytes of {}", name_of(terms), terms.bytes, name_of(terms.type));
}

std::optional<std::string> why_chunks_differ(const Meeting& meeting) {
    const bool reduces = meeting.terms.pattern == Pattern::ReduceScatterUneven;
    if (meeting.terms.pattern != Pattern::AllToAll && !reduces) return std::nullopt;
    const auto piece_of = [&](std::size_t bytes) {
        Terms chunk = meeting.terms;
        chunk.bytes = bytes;
        return to_text(chunk);
    };
    const auto size = static_cast<int>(meeting.participants.size());
    for (int to = 0; to < size; ++to) {
        const Participant& taker = meeting.participants[to];
        for (int from = 0; from < size; ++from) {
            const std::size_t given = meeting.participants[from].ins[to].bytes.size();
            const std::size_t taken = (reduces ? taker.out : taker.outs[from]).bytes.size();
            if (given == taken) continue;
            return fmt::format("rank {} takes {} for {}, but rank {} takes {} for {}",
                               meeting.ranks[from], describe(meeting, from), piece_of(given),
                               meeting.ranks[to], describe(meeting, to), piece_of(taken));
        }
    }
    return std::nullopt;
}

std::string ranks_text(const std::vector<int>& ranks) {
    return fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s", fmt::join(ranks, ", "));
}

std::string describe(const Meeting& meeting, int position) {
    const std::string& label = meeting.participants[position].label;
    if (meeting.terms.pattern != Pattern::Message) {
        return fmt::format("{} among {}", label, ranks_text(meeting.ranks));
    }
    return position == 0 ? fmt::format("{} to rank {}", label, meeting.ranks[1])
                         : fmt::format("{} from rank {}", label, meeting.ranks[0]);
}

}  // namespace debubble::exec::local

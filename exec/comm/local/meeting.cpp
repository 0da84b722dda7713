#include "exec/comm/local/meeting.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>

#include "exec/comm/reduce.h"

namespace debubble::exec::local {

namespace {

/// Who moves the bytes of a share: the thread itself, or a lane of the device whose share it is.
class Hands {
public:
    explicit Hands(const Party* on_device = nullptr) : party_(on_device) {}

    void copy(const ConstBuffer& from, const Buffer& to) const {
        if (from.bytes.empty() || from.bytes.data() == to.bytes.data()) return;
        if (party_ == nullptr)
            std::memcpy(to.bytes.data(), from.bytes.data(), from.bytes.size());
        else
            party_->lanes->copy(party_->lane, from.bytes.data(), to.bytes.data(),
                                Bytes{static_cast<std::int64_t>(from.bytes.size())});
    }
    /// Elements [begin, end) of each.
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
    const Party* party_;
};

void all_reduce(const Meeting& meeting, int share, const Hands& hands) {
    std::vector<ConstBuffer> sources;
    std::vector<Buffer> targets;
    for (const Party& party : meeting.parties) {
        sources.push_back(party.in);
        targets.push_back(party.out);
    }
    const std::size_t elements = sources.front().elements(), shares = sources.size();
    const auto bound = [&](int s) { return elements * static_cast<std::size_t>(s) / shares; };
    hands.reduce(sources, targets, meeting.terms.reduction, bound(share), bound(share + 1));
}

void all_gather(const Meeting& meeting, int share, const Hands& hands) {
    const int size = static_cast<int>(meeting.parties.size());
    for (const Party& party : meeting.parties) {
        hands.copy(meeting.parties[share].in, party.out.part(share, size));
    }
}

void reduce_scatter(const Meeting& meeting, int share, const Hands& hands) {
    const int size = static_cast<int>(meeting.parties.size());
    std::vector<ConstBuffer> sources;
    for (const Party& party : meeting.parties) sources.push_back(party.in.part(share, size));
    const Buffer& target = meeting.parties[share].out;
    hands.reduce(sources, {target}, meeting.terms.reduction, 0, target.elements());
}

void move(const Meeting& meeting, int share, const Hands& hands) {
    switch (meeting.terms.pattern) {
        case Pattern::Message: return hands.copy(meeting.parties[0].in, meeting.parties[1].out);
        case Pattern::AllReduce: return all_reduce(meeting, share, hands);
        case Pattern::AllGather: return all_gather(meeting, share, hands);
        case Pattern::ReduceScatter: return reduce_scatter(meeting, share, hands);
        case Pattern::Broadcast:
            return hands.copy(meeting.parties[meeting.terms.root].in, meeting.parties[share].out);
        case Pattern::Barrier: return;
    }
}

/// No lane begins before everybody's kernels are there, and none is through before all are: what
/// others read of a party's memory is then read. A wait names marks that were made before it, so
/// that meetings may be asked of the lanes in any order. A message is the receiver's work.
void move_on_lanes(Meeting& meeting) {
    const auto all_wait_for = [&](auto mark_of) {
        for (const Party& mine : meeting.parties)
            for (const Party& other : meeting.parties)
                if (&mine != &other) mine.lanes->wait(mine.lane, *other.lanes, mark_of(other));
    };
    for (const Party& mine : meeting.parties) mine.lanes->wait(mine.lane, mine.ready);
    all_wait_for([](const Party& party) { return party.ready; });
    for (Party& mine : meeting.parties) mine.ran.begin = mine.lanes->mark(mine.lane);
    if (meeting.terms.pattern == Pattern::Message) {
        const Party &sender = meeting.parties[0], &receiver = meeting.parties[1];
        receiver.lanes->wait(receiver.lane, *sender.lanes, sender.ran.begin);
        move(meeting, 0, Hands(&receiver));
    } else {
        for (std::size_t share = 0; share < meeting.parties.size(); ++share)
            move(meeting, static_cast<int>(share), Hands(&meeting.parties[share]));
    }
    for (Party& mine : meeting.parties) mine.ran.end = mine.lanes->mark(mine.lane);
    all_wait_for([](const Party& party) { return party.ran.end; });
    for (Party& mine : meeting.parties) mine.ran.end = mine.lanes->mark(mine.lane);
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
        default: return on_device() ? 1 : static_cast<int>(parties.size());
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

std::string ranks_text(const std::vector<int>& ranks) {
    return fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s", fmt::join(ranks, ", "));
}

std::string describe(const Meeting& meeting, int position) {
    const std::string& label = meeting.parties[position].label;
    if (meeting.terms.pattern != Pattern::Message) {
        return fmt::format("{} among {}", label, ranks_text(meeting.ranks));
    }
    return position == 0 ? fmt::format("{} to rank {}", label, meeting.ranks[1])
                         : fmt::format("{} from rank {}", label, meeting.ranks[0]);
}

}  // namespace debubble::exec::local

#include "exec/comm/local/meeting.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>

#include "exec/comm/reduce.h"

namespace debubble::exec::local {

namespace {

void copy(ConstBuffer from, Buffer to) {
    if (from.bytes.empty() || from.bytes.data() == to.bytes.data()) return;
    std::memcpy(to.bytes.data(), from.bytes.data(), from.bytes.size());
}

void all_reduce(const Meeting& meeting, int share) {
    std::vector<ConstBuffer> sources;
    std::vector<Buffer> targets;
    for (const Party& party : meeting.parties) {
        sources.push_back(party.in);
        targets.push_back(party.out);
    }
    const std::size_t elements = sources.front().elements(), shares = sources.size();
    const auto bound = [&](int s) { return elements * static_cast<std::size_t>(s) / shares; };
    reduce(sources, targets, meeting.terms.reduction, bound(share), bound(share + 1));
}

void all_gather(const Meeting& meeting, int share) {
    const int size = static_cast<int>(meeting.parties.size());
    for (const Party& party : meeting.parties) {
        copy(meeting.parties[share].in, party.out.part(share, size));
    }
}

void reduce_scatter(const Meeting& meeting, int share) {
    const int size = static_cast<int>(meeting.parties.size());
    std::vector<ConstBuffer> sources;
    for (const Party& party : meeting.parties) sources.push_back(party.in.part(share, size));
    const Buffer& target = meeting.parties[share].out;
    reduce(sources, {&target, 1}, meeting.terms.reduction, 0, target.elements());
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
        default: return static_cast<int>(parties.size());
    }
}

void carry_out(const Meeting& meeting, int share) {
    switch (meeting.terms.pattern) {
        case Pattern::Message: return copy(meeting.parties[0].in, meeting.parties[1].out);
        case Pattern::AllReduce: return all_reduce(meeting, share);
        case Pattern::AllGather: return all_gather(meeting, share);
        case Pattern::ReduceScatter: return reduce_scatter(meeting, share);
        case Pattern::Broadcast:
            return copy(meeting.parties[meeting.terms.root].in, meeting.parties[share].out);
        case Pattern::Barrier: return;
    }
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

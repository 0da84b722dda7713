#pragma once

#include <array>
#include <optional>
#include <string_view>

/// How the messages between stages are transferred, which is part of the meaning of an order: the
/// same lists finish on one transport, deadlock on another, and exchange their data on a third. The
/// rules are NCCL's: a send and its receive match by their order on a communicator, a communicator
/// has one stream, and work on a stream starts when the work enqueued before it has ended.
namespace debubble {

enum class Transport {
    Buffered,      ///< a send is complete at once
    Own,           ///< a send is complete with its receive; an edge (from, to, kind) has a stream
    IssueOrdered,  ///< as Own, and no communication of a rank starts before the one listed
                   ///< before it has started (NCCL with implicit launch order)
    Pair,          ///< one stream for all messages of two ranks (torch.distributed.pipelining on a
                   ///< communicator for each peer)
    Group,         ///< one stream for all messages of a rank (the same on a group's communicator)
    Batched,       ///< messages between two computes are one batch, for which the rank waits
                   ///< (Megatron-LM's batch_isend_irecv)
};

/// The transports that an order is checked on, and the words for them.
struct NamedTransport {
    std::string_view name;
    Transport transport;
    std::string_view software;  ///< software that transfers messages so
};
inline constexpr std::array<NamedTransport, 5> kTransports{
    {{"own", Transport::Own, "debubble"},
     {"issue-ordered", Transport::IssueOrdered, "NCCL with implicit launch order"},
     {"pair", Transport::Pair, "PyTorch 2.12 to 2.14, a communicator for each peer"},
     {"group", Transport::Group, "PyTorch 2.10, 2.11 and from 2.15 on, one communicator"},
     {"batched", Transport::Batched, "Megatron-LM without overlap"}}};

std::optional<Transport> transport_named(std::string_view name);
std::string_view name_of(Transport transport);

/// True where messages of several edges wait for each other.
constexpr bool shares_streams(Transport transport) {
    return transport == Transport::Pair || transport == Transport::Group ||
           transport == Transport::Batched;
}

}  // namespace debubble

#pragma once

namespace debubble {

/// The moment at which a send is complete.
enum class Transport {
    Buffered,      ///< at once
    Rendezvous,    ///< with its receive
    IssueOrdered,  ///< as Rendezvous, and no communication of a rank starts before the one listed
                   ///< before it has started (NCCL with implicit launch order)
};

}  // namespace debubble

#pragma once

namespace debubble {

/// How a send completes.
enum class Transport {
    Buffered,      ///< at once
    Rendezvous,    ///< with its receive
    IssueOrdered,  ///< as Rendezvous, and no communication of a rank starts before the one listed
                   ///< before it has started (NCCL with implicit launch order)
};

}  // namespace debubble

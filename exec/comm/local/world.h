#pragma once

#include <compare>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "exec/comm/local/meeting.h"
#include "schedule/transport.h"

namespace debubble::exec::local {

/// Where two or more ranks find each other: the n-th use of a channel of a group, or its
/// n-th collective.
struct Place {
    int group = 0;
    std::int32_t kind = -1;  ///< -1 for a collective
    std::int32_t tag = 0;
    int from = 0;  ///< global ranks of a message
    int to = 0;
    std::uint64_t number = 0;
    friend auto operator<=>(const Place&, const Place&) = default;
};

/// What the threads of a job share. All its methods may be called by all of them.
class World {
public:
    World(int ranks, Transport transport);

    int ranks() const { return static_cast<int>(bells_.size()); }
    /// A number for the group of these ranks, the same for the n-th request of each.
    int group_number(int rank, const std::vector<int>& ranks);

    /// Rank `ranks[position]` comes to `place`. A buffered message has left its memory when
    /// this returns.
    std::shared_ptr<Meeting> join(const Place& place, const Terms& terms, std::vector<int> ranks,
                                  int position, Party party);
    Interval wait(Meeting& meeting, int position, Deadline deadline);
    /// Carries out what can be, and waits for nothing.
    bool done(Meeting& meeting, int position);
    /// The party's buffers are about to go: waits for who works on them, and fails
    /// all ranks if the meeting is not done.
    void leave(Meeting& meeting, int position);

    void fail(const std::string& sentence);

private:
    using Lock = std::unique_lock<std::mutex>;
    using Key = std::pair<int, std::vector<int>>;

    bool released(const Meeting& meeting, int position) const;
    bool receiver_is_at(const Place& place);
    void arrive(const std::shared_ptr<Meeting>& meeting, int position, Party party);
    void start_all_from(const std::shared_ptr<Meeting>& meeting);
    bool may_start(const Meeting& meeting) const;
    bool work(Lock& lock, Meeting& meeting);
    void throw_if_failed(Lock& lock, Meeting& meeting, int position);
    void wait_for_workers(Lock& lock, Meeting& meeting, int position);
    void ring(const Meeting& meeting);
    void fail_locked(const std::string& sentence);
    std::string what_is_missing(const Meeting& meeting) const;

    const Transport transport_;
    std::mutex mutex_;                                ///< guards all below, and the meetings
    std::vector<std::condition_variable> bells_;      ///< by rank: something has changed for it
    std::map<Place, std::shared_ptr<Meeting>> open_;  ///< not all parties are there
    /// By rank, what has not started, in the order asked; used when that order counts.
    std::vector<std::deque<std::shared_ptr<Meeting>>> queues_;
    std::map<std::pair<std::vector<int>, int>, int> group_numbers_;
    std::map<Key, int> groups_of_rank_;
    std::optional<std::string> failure_;
};

}  // namespace debubble::exec::local

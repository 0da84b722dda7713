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

/// The key by which two or more ranks find each other: the n-th use of a channel of a group, or its
/// n-th collective.
struct MeetingKey {
    int group = 0;
    std::optional<std::int32_t> kind = {};  ///< of the message; unset for a collective
    std::int32_t tag = 0;
    int from = 0;  ///< global ranks of a message's two ends
    int to = 0;
    std::uint64_t number = 0;
    friend auto operator<=>(const MeetingKey&, const MeetingKey&) = default;
};

/// The state that the threads of a job share. Every thread may call all its methods.
class World {
public:
    World(int ranks, Transport transport);

    int ranks() const { return static_cast<int>(changed_.size()); }
    /// The number of the group of these ranks; the n-th request of each rank gets the same number.
    int group_number(int rank, const std::vector<int>& ranks);

    /// Rank `ranks[position]` joins the meeting `key`. When this returns, a buffered message has
    /// left its memory.
    std::shared_ptr<Meeting> join(const MeetingKey& key, const Terms& terms, std::vector<int> ranks,
                                  int position, Participant participant);
    Interval wait(Meeting& meeting, int position, Deadline deadline);
    /// Carries out free shares without waiting, and tells whether the meeting is done.
    bool done(Meeting& meeting, int position);
    /// Called before the participant's buffers are freed: waits for the threads that work on them,
    /// and fails all ranks if the meeting is not done.
    void leave(Meeting& meeting, int position);

    void fail(const std::string& sentence);

private:
    using Lock = std::unique_lock<std::mutex>;
    using Key = std::pair<int, std::vector<int>>;

    bool released(const Meeting& meeting, int position) const;
    bool receiver_is_at(const MeetingKey& key);
    void arrive(const std::shared_ptr<Meeting>& meeting, int position, Participant participant);
    void start_all_from(const std::shared_ptr<Meeting>& meeting);
    bool may_start(const Meeting& meeting) const;
    bool work(Lock& lock, Meeting& meeting);
    void throw_if_failed(Lock& lock, Meeting& meeting, int position);
    void wait_for_workers(Lock& lock, Meeting& meeting, int position);
    void ring(const Meeting& meeting);
    void fail_locked(const std::string& sentence);
    std::string what_is_missing(const Meeting& meeting) const;

    const Transport transport_;
    /// Guards all members below, and the meetings.
    std::mutex mutex_;
    std::vector<std::condition_variable> changed_;  ///< by rank: something has changed for it
    /// Meetings that lack some participant.
    std::map<MeetingKey, std::shared_ptr<Meeting>> open_;
    /// The meetings that have not started, by rank, in the order in which the rank asked; used when
    /// that order counts.
    std::vector<std::deque<std::shared_ptr<Meeting>>> queues_;
    std::map<std::pair<std::vector<int>, int>, int> group_numbers_;
    std::map<Key, int> groups_of_rank_;
    std::optional<std::string> failure_;
};

}  // namespace debubble::exec::local

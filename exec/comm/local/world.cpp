#include "exec/comm/local/world.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

namespace debubble::exec::local {

World::World(int ranks, Transport transport)
    : transport_(transport), changed_(ranks), queues_(ranks) {}

int World::group_number(int rank, const std::vector<int>& ranks) {
    const Lock lock(mutex_);
    const int count = groups_of_rank_[{rank, ranks}]++;
    const int next = static_cast<int>(group_numbers_.size());
    return group_numbers_.try_emplace({ranks, count}, next).first->second;
}

std::shared_ptr<Meeting> World::join(const MeetingKey& key, const Terms& terms,
                                     std::vector<int> ranks, int position,
                                     Participant participant) {
    const bool on_device = participant.lanes != nullptr;
    const bool buffered = transport_ == Transport::Buffered && !on_device &&
                          terms.pattern == Pattern::Message && position == 0;
    const bool copied = buffered && !receiver_is_at(key);
    const Clock::time_point asked = Clock::now();
    std::vector<std::byte> copy;
    if (copied) {
        copy.assign(participant.in.bytes.begin(), participant.in.bytes.end());
        participant.in = ConstBuffer(copy, terms.type);  // moving the vector keeps its memory
    }

    Lock lock(mutex_);
    std::shared_ptr<Meeting>& at_key = open_[key];
    if (!at_key) {
        at_key = std::make_shared<Meeting>();
        at_key->terms = terms;
        at_key->missing = static_cast<int>(ranks.size());
        at_key->participants.resize(ranks.size());
        at_key->ranks = std::move(ranks);
    }
    std::shared_ptr<Meeting> meeting = at_key;
    const bool agreed = meeting->terms == terms;
    if (copied) {
        meeting->copy = std::move(copy);
        meeting->copied = Interval{asked, Clock::now()};
    }
    arrive(meeting, position, std::move(participant));
    if (meeting->missing == 0) open_.erase(key);
    if (!agreed) {
        const auto other = std::find_if(
            meeting->participants.begin(), meeting->participants.end(),
            [&](const Participant& p) { return p.here && &p != &meeting->participants[position]; });
        const auto index = static_cast<int>(other - meeting->participants.begin());
        fail_locked(fmt::format("rank {} takes {} for {}, but rank {} takes {} for {}",
                                meeting->ranks[index], describe(*meeting, index),
                                to_text(meeting->terms), meeting->ranks[position],
                                describe(*meeting, position), to_text(terms)));
    }
    if (meeting->missing == 0 && !failure_)
        if (const auto difference = why_chunks_differ(*meeting)) fail_locked(*difference);
    if (!failure_) start_all_from(meeting);
    while (on_device && work(lock, *meeting)) continue;  // its lanes then have more work queued
    if (buffered && !copied) {
        while (work(lock, *meeting)) continue;
        // The receiver may be copying; the sender's memory is free once the copy is done.
        wait_for_workers(lock, *meeting, position);
    }
    return meeting;
}

bool World::receiver_is_at(const MeetingKey& key) {
    const Lock lock(mutex_);
    return open_.count(key) > 0;
}

void World::arrive(const std::shared_ptr<Meeting>& meeting, int position, Participant participant) {
    assert(!meeting->participants[position].here && "a rank comes once to a meeting");
    meeting->participants[position] = std::move(participant);
    meeting->participants[position].here = true;
    --meeting->missing;
    if (transport_ == Transport::IssueOrdered) {
        queues_[meeting->ranks[position]].push_back(meeting);
    }
}

bool World::may_start(const Meeting& meeting) const {
    if (meeting.missing > 0) return false;
    return transport_ != Transport::IssueOrdered ||
           std::all_of(meeting.ranks.begin(), meeting.ranks.end(),
                       [&](int rank) { return queues_[rank].front().get() == &meeting; });
}

/// Starts the meeting if it may start, then those that it held up, and so on.
void World::start_all_from(const std::shared_ptr<Meeting>& meeting) {
    std::vector<std::shared_ptr<Meeting>> candidates{meeting};
    while (!candidates.empty()) {
        const std::shared_ptr<Meeting> next = std::move(candidates.back());
        candidates.pop_back();
        if (next->started || !may_start(*next)) continue;
        next->started = true;
        next->when.begin = next->when.end = Clock::now();
        if (transport_ == Transport::IssueOrdered) {
            for (const int rank : next->ranks) {
                queues_[rank].pop_front();
                if (!queues_[rank].empty()) candidates.push_back(queues_[rank].front());
            }
        }
        ring(*next);
    }
}

/// Carries out one share, if there is one that no thread has taken.
bool World::work(Lock& lock, Meeting& meeting) {
    if (failure_ || !meeting.started || meeting.next_share == meeting.shares()) return false;
    const int share = meeting.next_share++;
    ++meeting.workers;
    lock.unlock();
    try {
        carry_out(meeting, share);
    } catch (const std::exception& error) {  // device work failed; the others wait for this worker
        lock.lock();
        --meeting.workers;
        fail_locked(error.what());
        ring(meeting);
        throw;
    }
    lock.lock();
    --meeting.workers;
    ++meeting.shares_done;
    if (meeting.done()) meeting.when.end = Clock::now();
    if (meeting.done() || failure_) ring(meeting);
    return true;
}

/// Whether the participant needs the meeting no longer: it is done, or its bytes were copied.
bool World::released(const Meeting& meeting, int position) const {
    return meeting.done() || (position == 0 && meeting.copied.has_value());
}

Interval World::wait(Meeting& meeting, int position, Deadline deadline) {
    const Clock::time_point asked = Clock::now();
    const int rank = meeting.ranks[position];
    Lock lock(mutex_);
    while (!released(meeting, position)) {
        if (work(lock, meeting)) continue;
        throw_if_failed(lock, meeting, position);
        if (Clock::now() >= deadline) {
            const std::chrono::duration<double> waited = Clock::now() - asked;
            const std::string sentence =
                fmt::format("rank {} waited {:.3g} s for {}: {}", rank, waited.count(),
                            describe(meeting, position), what_is_missing(meeting));
            fail_locked(sentence);
            wait_for_workers(lock, meeting, position);
            throw DeadlinePassed(sentence);
        }
        changed_[rank].wait_until(lock, deadline);
    }
    return position == 0 && meeting.copied ? *meeting.copied : meeting.when;
}

bool World::done(Meeting& meeting, int position) {
    Lock lock(mutex_);
    while (!released(meeting, position) && work(lock, meeting)) continue;
    if (!released(meeting, position)) throw_if_failed(lock, meeting, position);
    return released(meeting, position);
}

void World::throw_if_failed(Lock& lock, Meeting& meeting, int position) {
    if (!failure_) return;
    wait_for_workers(lock, meeting, position);
    throw Aborted(fmt::format("rank {} stopped waiting for {}: {}", meeting.ranks[position],
                              describe(meeting, position), *failure_));
}

void World::leave(Meeting& meeting, int position) {
    Lock lock(mutex_);
    if (released(meeting, position)) return;
    if (!failure_) {
        fail_locked(fmt::format("rank {} gave {} up before it was done", meeting.ranks[position],
                                describe(meeting, position)));
    }
    wait_for_workers(lock, meeting, position);
}

/// A copy takes a moment and always ends, so there is no deadline.
void World::wait_for_workers(Lock& lock, Meeting& meeting, int position) {
    changed_[meeting.ranks[position]].wait(lock, [&] { return meeting.workers == 0; });
}

void World::ring(const Meeting& meeting) {
    for (const int rank : meeting.ranks) changed_[rank].notify_all();
}

void World::fail(const std::string& sentence) {
    const Lock lock(mutex_);
    fail_locked(sentence);
}

void World::fail_locked(const std::string& sentence) {
    if (failure_) return;
    failure_ = sentence;
    for (std::condition_variable& changed : changed_) changed.notify_all();
}

std::string World::what_is_missing(const Meeting& meeting) const {
    if (meeting.started) return "its bytes are being copied";
    std::vector<int> absent;
    for (std::size_t i = 0; i < meeting.ranks.size(); ++i) {
        if (!meeting.participants[i].here) absent.push_back(meeting.ranks[i]);
    }
    if (!absent.empty()) {
        return fmt::format("{} {} not reached it", ranks_text(absent),
                           absent.size() == 1 ? "has" : "have");
    }
    for (const int rank : meeting.ranks) {
        const Meeting& first = *queues_[rank].front();
        if (&first == &meeting) continue;
        const auto position = std::find(first.ranks.begin(), first.ranks.end(), rank);
        return fmt::format("rank {} must start {} before it", rank,
                           describe(first, static_cast<int>(position - first.ranks.begin())));
    }
    assert(false && "a meeting that may start has started");
    return "";
}

}  // namespace debubble::exec::local

#include "sim/run_plan/draw_run.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>

#include "base/random_bits.h"

namespace debubble::sim {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kMostShown = 200'000;  ///< cycles of a picture; more are shown together

/// The wait for the next event of a Poisson process.
double wait(RandomBits& bits, double rate) {
    return rate > 0 ? -std::log1p(-bits.share()) / rate : kNever;
}

enum class Struck : std::uint8_t { Job, Machine, Switch };

/// Saves that are complete, and the one that is being written.
class Saves {
public:
    explicit Saves(const RunJob& job) : job_(job) {}

    /// The `count`-th save since the last restart is done by all ranks.
    void commit(std::int64_t count, double work, double now) {
        if (job_.save.in_memory) in_memory_ = work;
        settle(now);
        if (count % job_.remote_every != 0) return;
        if (writing_work_ < 0) commit_remote(work, now);  // else the one before it is being written
    }
    void commit_remote(double work, double now) {
        writing_work_ = work;
        complete_at_ = now + job_.save.persist;
        settle(now);
    }
    void settle(double now) {
        if (writing_work_ < 0 || complete_at_ > now) return;
        remote_ = writing_work_;
        writing_work_ = -1;
    }
    /// The work that a job begins with again.
    double survives(bool memory, double now) {
        settle(now);
        writing_work_ = -1;  // its processes are gone
        if (!memory) in_memory_ = remote_;
        return std::max(remote_, in_memory_);
    }

private:
    const RunJob& job_;
    double remote_ = 0;
    double in_memory_ = 0;
    double writing_work_ = -1;  ///< below 0: nothing is being written
    double complete_at_ = 0;
};

class Run {
public:
    Run(const RunJob& job, RandomBits bits, bool keep_spells)
        : job_(job),
          bits_(bits),
          saves_(job),
          keep_(keep_spells),
          target_(job.work()),
          cap_(kHopeless * target_),
          interval_(static_cast<double>(job.save_every) * job.step),
          pause_(job.save.pause + job.save.background / static_cast<double>(job.remote_every)),
          active_(replicas()) {
        next_failure_ = wait(bits_, job.failures.sum());
        next_slow_ = job.slow ? wait(bits_, job.slow->rate) : kNever;
        next_planned_ = job.planned.every;
    }

    DrawnRun play() {
        while (work_ < target_ && !is_hopeless()) {
            advance(std::min(next_event(), cap_));
            if (work_ >= target_) break;
            handle();
        }
        run_.finished = work_ >= target_;
        run_.wall = now_;
        run_.done = work_;
        return std::move(run_);
    }

private:
    bool is_hopeless() const { return now_ >= cap_ || events_ > kMostRunEvents; }

    int replicas() const { return job_.elastic ? job_.elastic->replicas : 1; }

    double next_event() const {
        double next = std::min({next_failure_, next_planned_});
        next = std::min(next, slow_until_ < kNever ? slow_until_ : next_slow_);
        for (const auto& [at, count] : returns_) next = std::min(next, at);
        return next;
    }

    void spend(RunTime on, double s) { spend(on, s, on); }

    void spend(RunTime on, double s, RunTime shown) {
        if (s <= 0) return;
        const double begin = now_;
        of(run_.seconds, on) += s;
        now_ += s;
        if (!keep_) return;
        std::vector<RunSpell>& spells = run_.spells;
        if (!spells.empty() && spells.back().spent == shown)
            spells.back() = {shown, spells.back().begin, now_, work_};
        else
            spells.push_back({shown, begin, now_, work_});
    }

    /// Steps for `s` seconds, of which missing replicas and a slow rank take their parts.
    void work_for(double s) {
        const double present = static_cast<double>(active_) / replicas();
        const double useful = s * present / slowdown();
        work_ += useful;
        cycle_ += useful;
        of(run_.seconds, RunTime::Degraded) += s * (1 - present);
        of(run_.seconds, RunTime::SlowRank) += s * present - useful;
        of(run_.seconds, RunTime::Useful) += useful - s;  // spend() adds the whole of it
        const RunTime shown = slow_until_ < kNever   ? RunTime::SlowRank
                              : active_ < replicas() ? RunTime::Degraded
                                                     : RunTime::Useful;
        spend(RunTime::Useful, s, shown);
    }

    double slowdown() const { return slow_until_ < kNever ? job_.slow->factor : 1; }
    double speed() const { return static_cast<double>(active_) / replicas() / slowdown(); }

    /// Steps and saves until an instant, or until the run is done.
    void advance(double until) {
        while (now_ < until && work_ < target_) {
            if (cycle_ == 0 && pause_left_ == 0) pass_whole_cycles(until);
            if (now_ >= until || work_ >= target_) return;
            if (pause_left_ > 0) {
                const double waits = std::min(pause_left_, until - now_);
                spend(RunTime::Checkpoint, waits);
                pause_left_ -= waits;
                if (pause_left_ > 0) return;
                pause_left_ = 0;
                cycle_ = 0;
                saves_.commit(++count_, work_, now_);
                continue;
            }
            const double to_save = (interval_ - cycle_) / speed();
            const double to_end = (target_ - work_) / speed();
            const double works = std::min({to_save, to_end, until - now_});
            work_for(works);
            if (works == to_end) work_ = target_;
            if (works != to_save || work_ >= target_) continue;
            if (pause_ > 0) {
                pause_left_ = pause_;
            } else {
                cycle_ = 0;
                saves_.commit(++count_, work_, now_);
            }
        }
    }

    void pass_whole_cycles(double until) {
        if (keep_ && target_ / interval_ < kMostShown) return;
        const double cycle = interval_ / speed() + pause_;
        const double most =
            std::min(std::floor((until - now_) / cycle), std::floor((target_ - work_) / interval_));
        if (!(most >= 2)) return;
        const auto cycles = static_cast<std::int64_t>(std::min(most, 1e15)) - 1;
        const double start = now_;
        const double from = work_;
        const auto all = static_cast<double>(cycles);
        work_for(all * interval_ / speed());
        work_ = from + all * interval_;
        spend(RunTime::Checkpoint, all * pause_);
        const std::int64_t r = job_.remote_every;
        const auto commit = [&](std::int64_t cycle_number) {
            const auto n = static_cast<double>(cycle_number);
            saves_.commit(count_ + cycle_number, from + n * interval_, start + n * cycle);
        };
        // Of the saves that went to storage only the last two may matter, and the last in memory.
        const std::int64_t last = (count_ + cycles) / r * r - count_;
        for (const std::int64_t n : {last - r, last})
            if (n >= 1) commit(n);
        if (last != cycles) commit(cycles);
        count_ += cycles;
        cycle_ = 0;
    }

    int machines_left() {
        while (!repaired_at_.empty() && repaired_at_.front() <= now_) repaired_at_.pop_front();
        if (!job_.spares) return job_.machines;
        return job_.machines + *job_.spares - static_cast<int>(repaired_at_.size());
    }

    /// Draws what fails now, and the next failure.
    Struck strike() {
        ++events_;
        const FailureRates& rates = job_.failures;
        const double which = bits_.share() * rates.sum();
        const Struck struck = which < rates.job                   ? Struck::Job
                              : which < rates.job + rates.machine ? Struck::Machine
                                                                  : Struck::Switch;
        const int taken = struck == Struck::Job       ? 0
                          : struck == Struck::Machine ? 1
                                                      : rates.machines_per_switch;
        for (int i = 0; i < std::min(taken, job_.machines); ++i)
            repaired_at_.push_back(now_ + job_.repair);
        next_failure_ = now_ + wait(bits_, rates.sum());
        return struck;
    }

    /// Time in which the job is down; false if a failure cuts it short, which is then struck.
    bool pass(double s, RunTime on) {
        if (!job_.fails_while_down) next_failure_ += s;
        const double end = now_ + s;
        if (next_failure_ >= end) {
            spend(on, s);
            return true;
        }
        spend(on, next_failure_ - now_);
        if (strike() == Struck::Switch) lose_memory();
        return false;
    }

    void lose_memory() {
        memory_survives_ = false;
        roll_back();
    }

    void roll_back() {
        const double kept = saves_.survives(memory_survives_, now_);
        const double lost = work_ - kept;
        if (lost > 0) {
            of(run_.seconds, RunTime::Useful) -= lost;
            of(run_.seconds, RunTime::Recompute) += lost;
            work_ = kept;
        }
        cycle_ = 0;
        pause_left_ = 0;
        if (!job_.save.in_memory || !memory_survives_) count_ = 0;
    }

    /// From a failure to the first step of all ranks.
    void recover() {
        while (!is_hopeless()) {
            if (!pass(job_.stop.detect, RunTime::Detection)) continue;
            if (!wait_for_machines()) continue;
            const bool from_memory = job_.save.in_memory && memory_survives_;
            if (pass(from_memory ? job_.stop.restart_from_memory : job_.stop.restart,
                     RunTime::Restart))
                break;
        }
        memory_survives_ = true;
        active_ = replicas();
        returns_.clear();
    }

    bool wait_for_machines() {
        while (machines_left() < job_.machines)
            if (!pass(repaired_at_.front() - now_, RunTime::Spares)) return false;
        return true;
    }

    void fail() {
        const bool lacks = active_ < replicas();
        const Struck struck = strike();
        if (lacks && bits_.share() * replicas() >= active_) return;  // one that is down already
        ++run_.failures;
        if (job_.elastic && lose_replicas(struck)) return;
        if (struck == Struck::Switch) memory_survives_ = false;
        roll_back();
        recover();
    }

    /// The others go on, if there are any: only the step in progress is lost.
    bool lose_replicas(Struck struck) {
        const double of_replica = static_cast<double>(job_.machines) / replicas();
        const int lost =
            struck == Struck::Switch
                ? static_cast<int>(std::ceil(job_.failures.machines_per_switch / of_replica))
                : 1;
        if (lost >= active_) return false;
        const double step = work_ - std::floor(work_ / job_.step) * job_.step;
        const double undone = std::min({step, cycle_, work_});
        work_ -= undone;
        cycle_ -= undone;
        of(run_.seconds, RunTime::Useful) -= undone;
        of(run_.seconds, RunTime::Recompute) += undone;
        const bool has_machines = struck == Struck::Job || machines_left() >= job_.machines;
        const double machines_at = has_machines ? now_ : repaired_at_.back();
        returns_.emplace_back(machines_at + job_.stop.detect + job_.stop.restart_from_memory, lost);
        active_ -= lost;
        if (pass(job_.elastic->stall, RunTime::Restart)) return true;
        ++run_.failures;  // another one struck: all replicas meet again
        roll_back();
        recover();
        return true;
    }

    /// Saves, and stops all ranks for `s` seconds and a restart, as was planned.
    void stop_for(double s, RunTime on) {
        spend(on, pause_);
        saves_.commit_remote(work_, now_);
        if (!pass(job_.save.persist, on) || !pass(s, on) || !pass(job_.stop.restart, on)) {
            roll_back();
            recover();
        } else {
            cycle_ = 0;
            pause_left_ = 0;
            count_ = 0;
        }
    }

    void handle() {
        ++events_;
        for (std::size_t i = 0; i < returns_.size(); ++i) {
            if (returns_[i].first > now_) continue;
            active_ += returns_[i].second;
            returns_.erase(returns_.begin() + static_cast<std::ptrdiff_t>(i));
            return;
        }
        if (next_failure_ <= now_) return fail();
        if (next_planned_ <= now_) {
            ++run_.planned;
            stop_for(job_.planned.takes, RunTime::Maintenance);
            next_planned_ = now_ + job_.planned.every;
            return;
        }
        if (slow_until_ <= now_) {
            slow_until_ = kNever;
            next_slow_ = now_ + wait(bits_, job_.slow->rate);
            if (job_.elastic)
                pass(job_.elastic->stall, RunTime::SlowRank);
            else
                stop_for(0, RunTime::SlowRank);
            return;
        }
        if (slow_until_ == kNever && next_slow_ <= now_) slow_until_ = now_ + job_.slow->detect;
    }

    const RunJob& job_;
    RandomBits bits_;
    Saves saves_;
    bool keep_;
    double target_;
    double cap_;
    double interval_;  ///< work between two saves
    double pause_;     ///< of a save, with its share of what the write in the background costs
    double now_ = 0;
    double work_ = 0;
    double cycle_ = 0;        ///< work since the last save
    double pause_left_ = 0;   ///< of the save in progress
    std::int64_t count_ = 0;  ///< saves since the last restart
    int events_ = 0;
    bool memory_survives_ = true;
    int active_;                                   ///< replicas that run
    std::vector<std::pair<double, int>> returns_;  ///< of replicas: when, and how many
    std::deque<double> repaired_at_;               ///< in the order of time
    double next_failure_ = kNever;
    double next_slow_ = kNever;
    double slow_until_ = kNever;  ///< never: no rank is slow
    double next_planned_ = kNever;
    DrawnRun run_;
};

}  // namespace

std::string_view name_of(RunTime time) {
    constexpr ArrayBy<RunTime, std::string_view, kRunTimes> kNames{
        "useful",   "recompute",  "checkpoint", "detection", "restart", "waiting_for_spares",
        "degraded", "slow_ranks", "maintenance"};
    return kNames[time];
}

std::string_view words_of(RunTime time) {
    constexpr ArrayBy<RunTime, std::string_view, kRunTimes> kWords{
        "useful work",        "work done again",     "checkpoints",      "failures not yet noticed",
        "restarts",           "waiting for repairs", "missing replicas", "slow ranks",
        "planned maintenance"};
    return kWords[time];
}

DrawnRun draw_run(const RunJob& job, std::uint64_t seed, int number, bool keep_spells) {
    return Run(job, RandomBits{seed, static_cast<std::uint64_t>(number)}, keep_spells).play();
}

}  // namespace debubble::sim

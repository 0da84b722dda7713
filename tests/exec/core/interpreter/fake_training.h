#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "exec/core/communicator/rank_grid.h"
#include "exec/core/interpreter/run_step.h"
#include "schedule/validate.h"

/// A model made of whole numbers below a prime, whose results depend on every route that a
/// tensor takes; sums of them in fp64 are exact in any order.
namespace debubble::exec::fake {

inline constexpr std::int64_t kPrime = 1'000'003;

struct Results {
    std::int64_t loss = 0;
    std::vector<std::int64_t> gradients;  ///< by stage
    friend bool operator==(const Results&, const Results&) = default;
};

/// The step on one rank, microbatch by microbatch, stage by stage.
Results sequential(const Program& program, int replica);

/// The state that the stages and actions of a rank share, to catch an interpreter that runs a pass
/// too early.
struct RankState {
    std::map<Stage, double> partial;  ///< gradient that was not reduced yet
    std::map<Stage, double> reduced;  ///< over all replicas and holders
    std::set<Stage> sharded;          ///< may not compute
    std::set<Stage> reducing;         ///< may not add to their gradients
    std::map<Action, int> computes;   ///< how often each ran
    ActionLog log;                    ///< log of the step under way
    bool norm_is_under_way = false;
    int optimizer_steps = 0;
    double norm = 0;
};

class FakeStage final : public StageRunner {
public:
    FakeStage(const Program& program, Stage stage, int replica, Arena& arena, RankState& state)
        : program_(program), stage_(stage), replica_(replica), arena_(arena), state_(state) {}

    ArenaTensor edge(Message::Kind kind) override;
    void begin_step(const StepInputs& inputs) override;
    void end_step() override;
    ArenaTensor forward(const MicroBatch& mb, ArenaTensor input) override;
    ArenaTensor backward(const MicroBatch& mb, ArenaTensor output_gradient) override;
    ArenaTensor backward_input(const MicroBatch& mb, ArenaTensor output_gradient) override;
    void backward_weight(const MicroBatch& mb) override;
    void recompute(const MicroBatch& mb) override;
    void offload(const MicroBatch& mb) override;
    void reload(const MicroBatch& mb) override;
    double loss_total() const override { return static_cast<double>(loss_); }
    double correct_total() const override { return 0; }

private:
    struct Saved {
        ArenaTensor input;
        ArenaTensor gradient;  ///< from I to W
        std::int64_t output = 0;
        std::vector<double> outside;  ///< while offloaded
        bool recomputed = false;
    };
    bool is_last() const { return stage_.index + 1 == program_.stage_count(); }
    void ran(Pass pass, const MicroBatch& mb);
    ArenaTensor tensor(double value, std::string_view name);
    Saved& saved(const MicroBatch& mb);
    std::int64_t gradient_in(const MicroBatch& mb, const ArenaTensor& from_next);
    ArenaTensor hand_back(const MicroBatch& mb, std::int64_t gradient);
    void add_weight_gradient(const MicroBatch& mb, std::int64_t gradient);

    const Program& program_;
    Stage stage_;
    int replica_;
    Arena& arena_;
    RankState& state_;
    std::map<MicroBatch, Saved> saved_;
    std::map<int, std::int64_t> keys_;           ///< results of earlier slices, by microbatch
    std::map<int, std::int64_t> key_gradients_;  ///< results of later slices
    std::int64_t loss_ = 0;
};

/// Gathers nothing, but says when it would have; reduces the gradients really.
class FakeActions final : public StepActions {
public:
    FakeActions(const Program& program, const RankGrid& grid, Communicator& world,
                RankState& state);

    void begin_step(std::int64_t step) override;
    Pending unshard(Stage stage) override;
    void reshard(Stage stage) override;
    Pending reduce_grad(Stage stage) override;
    Pending tied_grad_reduce(Stage stage) override;
    Pending grad_norm() override;
    void optimizer_step() override;
    Bytes moved(const Action&) const override { return {8}; }

private:
    const Program& program_;
    Communicator& world_;
    RankState& state_;
    std::unique_ptr<Communicator> replicas_;  ///< replicas of this pipeline rank
    std::map<Stage, std::unique_ptr<Communicator>> holders_;
    std::unique_ptr<Communicator> tied_;
};

struct RankResult {
    StepRecord record;
    RankState state;
    /// For each step, the difference between what the rank did and the list of Job::program, if
    /// any.
    std::vector<std::optional<std::string>> differences;
    double loss = 0;
    Bytes held_after;
};

/// The settings of a test for the ranks, before they run.
struct Job {
    Program program;
    RankGrid grid;
    Transport transport = Transport::Buffered;
    ReceivePosting posting = ReceivePosting::Early;
    int steps = 1;
    std::chrono::nanoseconds patience = std::chrono::seconds(30);
    /// Around the stage of that pipeline rank: a stage that fails or stalls.
    std::function<std::unique_ptr<StageRunner>(Stage, std::unique_ptr<StageRunner>)> wrap = {};
    std::map<int, Program> instead = {};  ///< the Program that the interpreter gets in these steps
};

/// All ranks as threads; by global rank, of the last step. The trace, if asked for, is
/// what rank 0 gathered.
std::vector<RankResult> run(const Job& job, Trace* trace = nullptr);

}  // namespace debubble::exec::fake

#include <filesystem>

#include <gmock/gmock.h>

#include "base/diagnostic.h"
#include "base/file.h"
#include "scenarios/jobs/job.h"
#include "scenarios/jobs/shell/value.h"
#include "scenarios/read/read_scenario.h"

/// Scripts with arguments, an environment and other scripts beside them.
namespace debubble::jobs {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// The words of a script's last command.
std::vector<std::string> started(const std::string& text, const Started& with = {},
                                 const std::string& file = "train.sh") {
    const ShellScript script =
        follow_script(std::make_shared<text::SourceText>(text::SourceText{file, text, 1}), with);
    std::vector<std::string> words;
    if (script.commands.empty()) return words;
    for (const ShellText& word : script.commands.back().words) words.push_back(word.text);
    return words;
}

constexpr const char* kGpt =
    "torchrun --nnodes 1 --nproc_per_node 8 pretrain_gpt.py --num-layers 8 --hidden-size 1024 "
    "--num-attention-heads 16 --seq-length 2048 --max-position-embeddings 2048 --vocab-size 50304 "
    "--bf16 --global-batch-size 64 ";

Imported imported_run(const std::string& script, const Started& with = {},
                      std::vector<scenarios::Override> given = {}) {
    given.emplace_back("cluster", "hgx-h100");
    return import_text(script, "run.sh", "megatron", given, {}, {.started = with});
}

std::string refused_run(const std::string& script, const Started& with = {}) {
    try {
        imported_run(script, with);
    } catch (const InputError& error) {
        return error.what();
    }
    return {};
}

/// A folder that goes away with its files.
struct Folder {
    fs::path path = fs::path(testing::TempDir()) /
                    testing::UnitTest::GetInstance()->current_test_info()->name();
    Folder() { fs::create_directories(path); }
    ~Folder() { fs::remove_all(path); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
};

TEST(StartedScript, HasTheArgumentsAndTheEnvironmentThatItIsGiven) {
    EXPECT_THAT(started("A=$1\nB=${2:-7}\nC=${10}\nrun $A $B $C $# ${N:-1} ${M:-2} \"$@\"\n",
                        {{{"N", "5"}}, {"x", "y z"}}),
                ElementsAre("run", "x", "y", "z", "2", "5", "2", "x", "y z"));
    EXPECT_THAT(started("A=4\nrun $A\n", {{{"A", "9"}}, {}}), ElementsAre("run", "4"));
}

TEST(StartedScript, ReadsOptionsInALoopOverItsArguments) {
    EXPECT_THAT(started("while [[ $# -gt 0 ]]; do case $1 in --tp) TP=$2; shift 2 ;; "
                        "--big) BIG=1; shift ;; *) break ;; esac; done\nrun $TP ${BIG:-0} $1\n",
                        {{}, {"--tp", "4", "--big", "rest"}}),
                ElementsAre("run", "4", "1", "rest"));
}

TEST(StartedScript, ChangesTextsAsBashDoes) {
    EXPECT_THAT(started("A=llama3-8B\nrun ${A/8B/70B} ${A//l/L} ${A,,} ${A^^} ${A:0:6} ${A: -2} "
                        "${A%-*} ${A##*-}\n"),
                ElementsAre("run", "llama3-70B", "LLama3-8B", "llama3-8b", "LLAMA3-8B", "llama3",
                            "8B", "llama3", "8B"));
}

TEST(StartedScript, KnowsArraysByKeyAndByIndexAndNamesOfNames) {
    EXPECT_THAT(started("declare -A H=([7B]=4096 [70B]=8192)\nL[1]=80\nH[1B]=2048\nS=70B\nV=S\n"
                        "run ${H[$S]} ${L[1]} ${H[1B]} ${!V} ${!H[@]}\n"),
                ElementsAre("run", "8192", "80", "2048", "70B", "7B", "70B", "1B"));
}

TEST(StartedScript, PutsTogetherWhatNeedsNoProgram) {
    EXPECT_THAT(started("printf -v A '%s-%03d' x 7\nB=$(cat <<EOF\n--a $A\nEOF\n)\n"
                        "C=$(basename /m/llama.sh .sh)\nrun $A $B $C $(echo 3 4) "
                        "$(expr 2 + 3)\n"),
                ElementsAre("run", "x-007", "--a", "x-007", "llama", "3", "4", "5"));
    EXPECT_THAT(started("((N = 3 * 4))\n((N++))\nI=0\nwhile [ $I -lt 3 ]; do I=$((I+1)); done\n"
                        "run $N $I\n"),
                ElementsAre("run", "13", "3"));
}

TEST(StartedScript, FollowsTheScriptsThatItSources) {
    const Folder folder;
    write_file(folder.path / "models" / "m.sh",
               "LAYERS=$1\nARGS=(\n  --x $LAYERS\n)\nf() { Y=2; }\n");
    write_file(folder.path / "up.sh", "UP=1\n");
    const std::string file = (folder.path / "models" / "run.sh").string();
    for (const char* line :
         {". ./m.sh 12\n", "source \"$(dirname \"$0\")/m.sh\" 12\n",
          "D=\"$(cd -- \"$(dirname -- \"${BASH_SOURCE[0]}\")\" &>/dev/null && pwd)\"\nsource "
          "\"${D}/m.sh\" 12\n",
          "source ${HERE}/models/m.sh 12\n"})
        EXPECT_THAT(
            started(std::string(line) + "source up.sh\nf\nrun ${ARGS[@]} $Y $UP\n", {}, file),
            ElementsAre("run", "--x", "12", "2", "1"))
            << line;
}

TEST(StartedScript, NamesThePlaceInTheFileThatItSources) {
    const Folder folder;
    write_file(folder.path / "m.sh", "A=(\n  --num-layers 0\n)\n");
    try {
        import_text(". m.sh\n" + std::string(kGpt) + "--micro-batch-size 1 ${A[@]}\n",
                    folder.path / "run.sh", "megatron", {{"cluster", "hgx-h100"}});
        FAIL();
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), HasSubstr("m.sh:2:3: error: --num-layers is 0"));
    }
}

TEST(StartedScript, SaysWhichSourcedFileIsNotThere) {
    EXPECT_THAT(refused_run("source conf/model.sh\ntorchrun --nproc_per_node 8 pretrain_gpt.py "
                            "${MODEL[@]} --micro-batch-size 1 --seq-length 8\n"),
                AllOf(HasSubstr("run.sh:1:8: error: the sourced file 'conf/model.sh'"),
                      HasSubstr("the job does not give num_layers")));
}

TEST(StartedScript, AsksForAllThatItsStartSaysByName) {
    const std::string script = std::string("B=$2\nif [ $1 = big ]; then M=4; else M=1; fi\n") +
                               kGpt +
                               "--micro-batch-size $B --tensor-model-parallel-size $TP "
                               "--context-parallel-size $(lookup cp)\n";
    const std::string message = refused_run(script);
    EXPECT_THAT(message,
                HasSubstr("$1 (a condition in line 2), $2 (--micro-batch-size in line 3)"));
    EXPECT_THAT(message, HasSubstr("as in `debubble import run.sh -- ARG1 ARG2`"));
    EXPECT_THAT(message, HasSubstr("give --env TP=VALUE (or by --set: parallel.tensor)"));
    EXPECT_THAT(message, HasSubstr("$(lookup cp) is known only when a program has run"));
    EXPECT_THAT(message, HasSubstr("or give --set parallel.context=VALUE"));
    const Imported job =
        imported_run(script, {{{"TP", "2"}}, {"big", "4"}}, {{"parallel.context", "2"}});
    EXPECT_THAT(job.text,
                AllOf(HasSubstr("tensor: 2"), HasSubstr("data: 2"), HasSubstr("micro_batch: 4")));
}

TEST(StartedScript, TakesTheEnvironmentForWhatAProgramPrints) {
    const std::string script = std::string("TP=$(nvidia-smi -L | wc -l)\n") + kGpt +
                               "--micro-batch-size 1 --tensor-model-parallel-size $TP\n";
    EXPECT_THAT(refused_run(script), HasSubstr("TP (--tensor-model-parallel-size in line 2)"));
    EXPECT_THAT(imported_run(script, {{{"TP", "4"}}, {}}).text, HasSubstr("tensor: 4"));
}

TEST(StartedScript, SaysWhichGivenValuesItNeverReads) {
    EXPECT_THAT(
        imported_run(std::string(kGpt) + "--micro-batch-size 1\n", {{{"TPP", "4"}}, {"7"}}).notes,
        AllOf(Contains(HasSubstr("--env TPP: the script never reads this variable")),
              Contains(HasSubstr("reads none of the arguments"))));
}

TEST(StartedScript, TakesNoNodeCountThatIsNotKnownForOne) {
    std::string script = std::string(kGpt) + "--micro-batch-size 1\n";
    script.replace(script.find("--nnodes 1"), 10, "--nnodes $NODES");
    EXPECT_THAT(refused_run(script), HasSubstr("give --env NODES=VALUE (or by --set: gpus)"));
    EXPECT_THAT(imported_run(script, {{{"NODES", "4"}}, {}}).text, HasSubstr("gpus: 32"));
}

}  // namespace
}  // namespace debubble::jobs

#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/jobs/read/imported.h"
#include "scenarios/jobs/shell/settings.h"
#include "scenarios/jobs/shell/started.h"
#include "scenarios/read/sweep.h"

/// A job while it is read: what it says, what the command line gave, and the scenario so far.
/// Private to the folder.
namespace debubble::jobs {

/// A limit far beyond any job, within which products do not overflow.
inline constexpr std::int64_t kMost = 100'000'000;
inline constexpr std::int64_t kMostDegree = 4096;

/// How much the plan may differ from the job by what a note says, the most first.
enum class Harm : std::uint8_t {
    Refused,   ///< the framework would not start this job
    Network,   ///< another network is planned, as --allow says
    Unknown,   ///< a setting of which nobody knows what it does
    Plan,      ///< the setting changes times or memory, and the plan does not have it
    Harmless,  ///< the setting costs nothing, or next to nothing
};

class Reading {
public:
    Reading(std::string job, const std::vector<scenarios::Override>& given);

    Settings in;
    Started started;  ///< with what a script is started
    struct WrittenFile {
        std::string text;
        int line = 0;  ///< of the script, in which the text begins
    };
    /// Files that the script writes, by their names as the script has them.
    std::map<std::string, WrittenFile> written_files;
    text::Mistakes& mistakes() { return in.mistakes; }

    /// Writes a key of the scenario as flow YAML, unless the command line gives it. `from` is the
    /// setting that said so; `why` stands for it, or after it.
    void set(const std::string& key, std::string value, const Setting* from = nullptr,
             std::string why = {});
    void set(const std::string& key, std::int64_t value, const Setting* from = nullptr,
             std::string why = {});
    void set(const std::string& key, bool value, const Setting* from = nullptr,
             std::string why = {});
    void set_real(const std::string& key, double value, const Setting* from = nullptr,
                  std::string why = {});

    /// Copies a whole number from 1 to kMost to a key, if the job has it.
    std::optional<std::int64_t> copy(const std::string& key, std::string_view name);

    void note(std::string sentence, Harm harm = Harm::Plan);
    void note(const Setting& setting, const std::string& sentence, Harm harm = Harm::Plan);
    /// The setting cannot be planned: the job is refused, with this sentence at its place.
    void refuse(const Setting& setting, std::string sentence);
    /// The setting makes another network than the one that would be planned: the job is refused,
    /// unless `--allow` names the setting, which is left out then and noted.
    void refuse_network(const Setting& setting, const std::string& sentence);
    /// Rules of a framework, by their place, that the job's settings have answered: what the
    /// scenario alone would say of them is left out.
    void judge(std::string place) { judged_.insert(std::move(place)); }
    bool has_judged(std::string_view place) const { return judged_.contains(place); }
    /// Names of settings, with or without dashes, that are left out instead of refused.
    void allow(const std::vector<std::string>& names);
    /// Something that the job does not know and the command line has to. Where one of the
    /// `settings` is there and only its value is not known, that value is asked for instead.
    void ask(std::string question, std::vector<std::string> settings = {});
    /// A possible reason of a refusal; shown only if the job is refused.
    void suspect(const text::SourcePosition& place, std::string sentence);
    void count_silent() { ++silent_; }
    /// "$1", or a variable's name, decides in which way the script goes at `where`.
    void decides(const std::string& name, std::string where) {
        deciding_[name].push_back(std::move(where));
    }
    /// The script reads arguments up to this one.
    void reads_arguments(int most) { most_arguments_ = std::max(most_arguments_, most); }

    /// The value of a key given by the command line.
    std::optional<std::string> given(const std::string& key) const;
    const std::vector<scenarios::Override>& all_given() const { return given_; }
    std::optional<std::int64_t> given_whole(const std::string& key);
    /// True if the command line gives the model as a whole.
    bool has_model() const;

    /// The places of the user's file that lines' comments name.
    const std::map<std::string, text::SourcePosition>& places() const { return places_; }

    /// The scenario's text, or every mistake and question. `tool` is the framework's name.
    Imported finish(const std::string& format, std::string_view tool);

private:
    struct Line {
        std::string key;
        std::string value;
        std::string origin;
    };
    /// Makes lines of the entries of each map in which the key lies, so that it changes one alone.
    void open_maps_above(const std::string& key);
    static std::string comment_of(const Line& line);
    /// Writes lines of one map, whose keys' names in it begin at `start`.
    static void write_map(std::string& out, std::vector<const Line*> lines, std::size_t start,
                          std::size_t indent);
    std::string text(std::string_view tool) const;
    /// Asks for all that only the start of the job says, by name.
    void ask_for_unknown();
    void take_answers();

    std::string job_;
    std::vector<scenarios::Override> given_;
    std::vector<Line> lines_;
    struct Note {
        Harm harm = Harm::Plan;
        std::string sentence;
    };
    struct Question {
        std::string text;
        std::vector<std::string> settings;
    };
    bool allows(const Setting& setting);
    void note_unmet_allowances();
    /// The sentences of the notes, by harm.
    std::vector<std::string> notes_by_harm() const;

    std::vector<Note> notes_;
    /// Names that --allow gives, as fields; true once a setting of that name was met.
    std::map<std::string, bool> allowed_;
    std::set<std::string, std::less<>> judged_;
    std::vector<Question> questions_;
    std::vector<std::pair<text::SourcePosition, std::string>> suspicions_;
    std::map<std::string, std::vector<std::string>> deciding_;
    int most_arguments_ = 0;
    std::map<std::string, text::SourcePosition> places_;
    int silent_ = 0;
};

/// The GPUs that a job has, and the data-parallel replicas that they make.
struct World {
    std::optional<std::int64_t> of_job;  ///< as the job's launcher says
    std::string launcher;                ///< "1 node of 8 GPUs"
    const Setting* from = nullptr;
    std::string product;                        ///< "tensor 8 x pipeline 16 x context 1"
    std::int64_t per_replica = 1;               ///< GPUs of that product
    std::optional<std::string> otherwise = {};  ///< the question if nobody says, if not the usual
};

/// Settles GPUs and replicas, writes `gpus` and `parallel.data`, and asks where they are not known.
/// Returns the replicas, if they are known.
std::optional<std::int64_t> settle_world(Reading& job, const World& world);

/// The samples of a step: of a microbatch, times replicas, times accumulation steps.
std::int64_t batch_of(std::int64_t micro, std::int64_t data, std::int64_t steps);

/// Writes `cluster`, or asks.
void settle_cluster(Reading& job, const std::string& hint = {});

/// The GPUs of a job that says nothing of its launch, from its degrees.
std::optional<std::int64_t> settle_world(Reading& job, std::string product,
                                         std::int64_t per_replica);

/// A name as YAML in one line.
std::string flow_text(const std::string& text);

}  // namespace debubble::jobs

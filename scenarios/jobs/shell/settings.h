#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "text/document.h"

/// The settings of a job in any format: flags of a command line, keys of a file, arguments of a
/// call. Private to the folder.
namespace debubble::jobs {

struct Setting {
    std::string name;     ///< its field: "tensor_model_parallel_size"
    std::string written;  ///< as the job has it: "--tensor-model-parallel-size"
    /// Null for a flag without a value; a scalar, a list or a map otherwise.
    text::NodePtr value;
    text::SourcePosition place;
    /// A part of the value is known only when the job starts ("$1").
    bool known = true;
    /// The unknown parts of the value: "$1", "SLURM_NNODES", "$(hostname)".
    std::vector<std::string> lacks = {};
    /// A default of the framework's own files, which nobody decided.
    bool is_default = false;
};

/// "job.sh:12 --num-layers", for comments.
std::string origin_of(const Setting& setting);

/// The settings of a job by name. Of two with the same name the later counts, as argparse has it.
class Settings {
public:
    void add(Setting setting);
    /// The setting, which counts as understood from now on; nullptr if absent. The values None,
    /// null and ~ are absence.
    const Setting* find(std::string_view name);
    /// True if the job has it; it does not count as understood by that.
    bool contains(std::string_view name) const { return last_.contains(name); }
    bool has(std::string_view name) { return find(name) != nullptr; }

    /// The value in its type; nothing if it is absent. A value of another type or out of bounds is
    /// added to `mistakes`.
    std::optional<std::int64_t> whole(std::string_view name, std::int64_t least, std::int64_t most);
    std::optional<double> real(std::string_view name);
    /// A bare flag is true; true, True, 1 and yes are.
    std::optional<bool> flag(std::string_view name);
    bool is_on(std::string_view name) { return flag(name).value_or(false); }
    std::optional<std::string> word(std::string_view name);
    std::vector<std::string> words(std::string_view name);

    /// Settings that nobody asked for, in the order written.
    std::vector<const Setting*> left() const;
    const std::vector<Setting>& all() const { return settings_; }

    /// A value of the command line, which stands for the job's.
    void answer(Setting setting) { answers_[setting.name] = std::move(setting); }
    /// The same settings under other names or with other values: `change` may alter each, and
    /// drops it by returning false.
    void transform(const std::function<bool(Setting&)>& change);

    /// Settings that were asked for and that are known only when the job starts.
    std::vector<Setting> unknown;
    /// True while settings of one level are added, of which a second one of a name is a slip.
    bool notes_twice = false;
    /// Settings that are written twice, each with a sentence.
    std::vector<std::pair<Setting, std::string>> twice;
    text::Mistakes mistakes;

private:
    const Setting* scalar(std::string_view name, std::string_view wanted);

    std::vector<Setting> settings_;
    std::map<std::string, std::size_t, std::less<>> last_;
    std::set<std::string, std::less<>> asked_;
    std::map<std::string, Setting, std::less<>> answers_;
};

/// A number as Python and JSON write it, with underscores: "1_000", "5e8".
std::optional<double> number_of(std::string text);

/// Adds every key of a map; maps below it too, whose keys then stand alone or, with `dotted`, have
/// the names of the maps before them: "training.seq_len".
void add_keys(const text::Node& map, bool dotted, Settings& settings,
              const std::string& above = {});

}  // namespace debubble::jobs

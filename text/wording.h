#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/units.h"

/// The wording of figures in reports for people.
namespace debubble::text {

/// One unit for all times of a table: the unit of the longest.
enum class TimeUnit : std::uint8_t { Microseconds, Milliseconds, Seconds };
TimeUnit unit_of(double longest_s);
std::string_view name_of(TimeUnit unit);           ///< "ms"
std::string number_text(double s, TimeUnit unit);  ///< "12.345", for tables that name the unit
std::string time_text(double s, TimeUnit unit);    ///< "12.345 ms"
std::string time_text(double s);                   ///< in the unit that suits it

/// A time in running text or in a picture: "1.234 ms", four digits, ns to s.
std::string time_text(Duration time);

/// The texts of an axis: one unit for all its ticks, with as many decimals as distinguish
/// neighbours.
class TickFormat {
public:
    /// Precondition: ticks are more than 0 ns apart.
    TickFormat(Duration greatest, Duration apart);
    std::string text(Duration tick) const;  ///< "0.5 ms"

private:
    double unit_ns_;
    std::string_view name_;
    int decimals_;
};

std::string percent(double fraction);                       ///< "12.3 %"
std::string gib_text(Bytes bytes);                          ///< "12.34", without the unit
std::string size_text(Bytes bytes);                         ///< "12.34 GiB", "302.1 MiB"
std::string count_text(std::int64_t number);                ///< "1.56 B"
std::string rate_text(double per_s);                        ///< "12,345", "1.25"
std::string flop_rate_text(double flops_per_s);             ///< "148.6 TFLOP/s", "39.2 GFLOP/s"
std::string stages_text(const std::vector<Stage>& stages);  ///< "0,4", "8-15"

inline constexpr std::size_t kReportColumns = 100;
inline constexpr std::size_t kTableRows = 32;  ///< the longest table; --json has all rows

/// The text with at most `columns` letters, the last three of them dots if it was longer.
std::string shortened(std::string_view text, std::size_t columns);

/// Lines broken at spaces; all but the first begin with `indent` spaces.
std::vector<std::string> wrapped(std::string_view text, std::size_t columns, std::size_t indent);

}  // namespace debubble::text

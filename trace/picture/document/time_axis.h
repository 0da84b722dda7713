#pragma once

#include "base/units.h"

namespace debubble::picture {

/// The range from `begin` up to, but not including, `end`.
struct TimeRange {
    Instant begin;
    Instant end;
    friend bool operator==(const TimeRange&, const TimeRange&) = default;

    Duration length() const { return end - begin; }
    bool holds(Instant at) const { return begin <= at && at < end; }
    bool meets(const TimeRange& other) const { return begin < other.end && other.begin < end; }
};

/// A linear map between whole nanoseconds and pixels. The visible range is within `whole`, and a
/// nanosecond is never wider than a pixel, so that rounding is invisible.
class TimeAxis {
public:
    TimeAxis() : TimeAxis({Instant{}, Instant{Duration{1}}}, 1) {}
    /// Shows the whole range. Precondition: width > 0; an empty range counts as 1 ns.
    TimeAxis(TimeRange whole, double width);

    TimeRange whole() const { return whole_; }
    TimeRange shown() const { return shown_; }
    double width() const { return width_; }
    double ns_per_pixel() const { return static_cast<double>(shown_.length().count()) / width_; }

    double x(Instant at) const {
        return static_cast<double>((at - shown_.begin).count()) / ns_per_pixel();
    }
    /// The nearest nanosecond at a pixel.
    Instant at(double x) const {
        const double ns = x * ns_per_pixel();
        return shown_.begin + Duration{static_cast<Duration::rep>(ns + (ns < 0 ? -0.5 : 0.5))};
    }

    void fit() { shown_ = whole_; }
    /// Shows a range, moved and cut or widened as little as the limits require.
    void show(TimeRange range);
    /// Zooms by a factor; one above 1 enlarges. The time at pixel `about` keeps its position,
    /// unless a limit is reached.
    void zoom(double factor, double about);
    /// Moves the view so that pixel `pixels` is at the left edge.
    void pan(double pixels);
    void resize(double width);
    /// Changes the limits. The view stays, but one of everything shows everything again.
    void set_whole(TimeRange whole);

    /// The same view with `factor` device pixels for each pixel.
    TimeAxis scaled(double factor) const;
    /// The same pixels for times of a clock that lags by `by`.
    TimeAxis shifted(Duration by) const;

    friend bool operator==(const TimeAxis&, const TimeAxis&) = default;

private:
    TimeRange whole_;
    TimeRange shown_;
    double width_ = 1;
};

}  // namespace debubble::picture

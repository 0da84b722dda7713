#include "trace/picture/document/time_axis.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace debubble::picture {

TimeAxis::TimeAxis(TimeRange whole, double width) : whole_(whole), width_(width) {
    assert(width > 0 && "the width of an axis is positive");
    whole_.end = std::max(whole.end, whole.begin + Duration{1});
    shown_ = whole_;
}

void TimeAxis::show(TimeRange range) {
    const Duration all = whole_.length();
    const Duration least = std::min(all, Duration{static_cast<Duration::rep>(std::ceil(width_))});
    const Duration length = std::clamp(range.length(), least, all);
    const Instant wanted = range.begin - (length - range.length()) / 2;
    const Instant begin = std::clamp(wanted, whole_.begin, whole_.end - length);
    shown_ = {begin, begin + length};
}

void TimeAxis::zoom(double factor, double about) {
    assert(factor > 0 && "the factor of a zoom is positive");
    const double all = static_cast<double>(whole_.length().count());
    const double least = std::min(all, std::ceil(width_));
    const double length = static_cast<double>(shown_.length().count());
    const double wanted = std::clamp(length / factor, least, all);
    const double share = about / width_;
    const Instant begin = shown_.begin + Duration{std::llround(share * (length - wanted))};
    show({begin, begin + Duration{std::llround(wanted)}});
}

void TimeAxis::pan(double pixels) {
    const Duration by{std::llround(pixels * ns_per_pixel())};
    show({shown_.begin + by, shown_.end + by});
}

void TimeAxis::resize(double width) {
    assert(width > 0 && "the width of an axis is positive");
    width_ = width;
    show(shown_);
}

void TimeAxis::set_whole(TimeRange whole) {
    const bool all = shown_ == whole_;
    whole_ = {whole.begin, std::max(whole.end, whole.begin + Duration{1})};
    if (all)
        fit();
    else
        show(shown_);
}

TimeAxis TimeAxis::scaled(double factor) const {
    TimeAxis axis = *this;
    axis.width_ *= factor;
    return axis;
}

TimeAxis TimeAxis::shifted(Duration by) const {
    TimeAxis axis = *this;
    axis.whole_ = {whole_.begin - by, whole_.end - by};
    axis.shown_ = {shown_.begin - by, shown_.end - by};
    return axis;
}

}  // namespace debubble::picture

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/picture/document/document.h"

/// A self-contained page: timelines that a browser draws, zooms and plays, and figures below them,
/// in one file that needs no network (docs/decisions/0025).
namespace debubble::page {

/// A part of the page below the timelines.
struct Section {
    std::string id;     ///< a word
    std::string title;  ///< as text
    std::string html;
};

/// Lines of colours, 0xffRRGGBB, all as wide as `width`: an element
/// `<canvas data-picture="0">` of a section shows the first picture of the page.
struct SmallPicture {
    int width = 0;
    std::vector<std::vector<std::uint32_t>> light;
    std::vector<std::vector<std::uint32_t>> dark;
};

struct Page {
    std::string title;                    ///< as text; so is the next
    std::vector<std::string> lines = {};  ///< below it, such as the plan in words
    /// The timelines, one above the other on one axis of time, each with a caption.
    std::vector<picture::Document> documents;
    std::vector<Section> sections = {};
    std::vector<SmallPicture> pictures = {};
};

/// The page as HTML, of about 100 kB and four bytes an action. Strings of text are escaped here.
/// The same page gives the same bytes.
std::string page_html(const Page& page);

}  // namespace debubble::page

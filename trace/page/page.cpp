#include "trace/page/page.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "trace/page/assets.h"
#include "trace/page/encode.h"
#include "trace/page/page_json.h"

namespace debubble::page {
namespace {

using Json = nlohmann::ordered_json;

/// Writes the colours of all pictures in one theme.
void write_pictures(const std::vector<SmallPicture>& pictures, bool dark, Columns& columns) {
    constexpr std::uint32_t kColour = 0xffffff;
    Column colours;
    for (const SmallPicture& picture : pictures)
        for (const std::vector<std::uint32_t>& line : dark ? picture.dark : picture.light)
            for (const std::uint32_t colour : line) colours.add(colour & kColour);
    columns.append(colours);
}

/// The data of the script: the length of the JSON in four bytes, the lowest first, the JSON, and
/// the columns.
std::string data_of(const Page& page) {
    Json json{{"look", look_json()}, {"documents", Json::array()}};
    Columns columns;
    for (const picture::Document& document : page.documents) {
        Json one;
        write_document(*document, one, columns);
        json["documents"].push_back(std::move(one));
    }
    json["pictures"] = Json::array();
    for (const SmallPicture& picture : page.pictures)
        json["pictures"].push_back({picture.width, picture.light.size()});
    write_pictures(page.pictures, false, columns);
    write_pictures(page.pictures, true, columns);
    const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
    std::string bytes;
    for (unsigned shift = 0; shift < 32; shift += 8)
        bytes += static_cast<char>(text.size() >> shift & 0xffU);
    return base64(deflated(bytes + text + columns.bytes()));
}

}  // namespace

std::string page_html(const Page& page) {
    std::string out = fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n<header>\n<h1>{}</h1>\n",
        escaped(page.title), kStyle, escaped(page.title));
    for (const std::string& line : page.lines) out += fmt::format("<p>{}</p>\n", escaped(line));
    out += "</header>\n";
    out += kBody;
    for (const Section& section : page.sections)
        out += fmt::format("<section id=\"{0}\">\n<h2>{1}</h2>\n{2}</section>\n", section.id,
                           escaped(section.title), section.html);
    out += "<script type=\"text/plain\" id=\"data\">" + data_of(page) + "</script>\n";
    out += "<script type=\"module\">\n";
    out += kScript;
    return out + "</script>\n</body>\n</html>\n";
}

}  // namespace debubble::page

# Writes OUTPUT, the C++ of trace/page/assets.h, from the folder ASSETS. The modules become one script: they stand in the order
# of MODULES, without the lines that import and the words that export, so that their names must differ.
set(script "")
string(REPLACE "," ";" modules "${MODULES}")
foreach(module ${modules})
    file(READ ${ASSETS}/${module} text)
    string(REGEX REPLACE "(^|\n)import [^\n]*" "\\1" text "${text}")
    string(REGEX REPLACE "(^|\n)export " "\\1" text "${text}")
    string(APPEND script "// ${module}\n${text}")
endforeach()
file(READ ${ASSETS}/page.css style)
file(READ ${ASSETS}/body.html body)

file(WRITE ${OUTPUT} "#include \"trace/page/assets.h\"

namespace debubble::page {

const std::string_view kStyle = R\"page(${style})page\";
const std::string_view kBody = R\"page(${body})page\";
const std::string_view kScript = R\"page(${script})page\";

}  // namespace debubble::page
")

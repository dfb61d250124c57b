# Writes OUT: the pages of FOLDER and the glossary beside it as strings, for check_pages.h.
file(GLOB pages "${FOLDER}/*.md")
list(SORT pages)
list(APPEND pages "${FOLDER}/../glossary.md")
set(rows "")
foreach(page IN LISTS pages)
  get_filename_component(name "${page}" NAME_WE)
  file(READ "${page}" text)
  string(FIND "${text}" ")page\"" found)
  if(NOT found EQUAL -1)
    message(FATAL_ERROR "${page}: can't be a raw string")
  endif()
  string(APPEND rows "    {\"${name}\", R\"page(${text})page\"},\n")
endforeach()
file(WRITE "${OUT}" "#include \"tools/graphkit/check_pages.h\"

#include <utility>

namespace graphkit {

namespace {

constexpr std::pair<std::string_view, std::string_view> kPages[] = {
${rows}};

}  // namespace

std::string_view PageOf(std::string_view check) {
  for (const auto& [name, page] : kPages) {
    if (name == check) return page;
  }
  return {};
}

}  // namespace graphkit
")

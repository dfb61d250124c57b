# cmake -DOUT=report_assets.cpp -DFOLDER=libgraphkit/render/report/page -DSCRIPTS=a.js,b.js -DDIFF_SCRIPTS=… -DATTRIBUTE_SCRIPTS=… -P embed_report.cmake
# Writes the sources of the pages as C++ string literals.
set(delimiter "graphkit_asset")

# A literal of the contents; in pieces, since compilers limit the length of one.
function(literal out text)
  if(text MATCHES "\\)${delimiter}\"")
    message(FATAL_ERROR "the text holds the end of its literal")
  endif()
  set(pieces "")
  string(LENGTH "${text}" length)
  set(at 0)
  while(at LESS length)
    string(SUBSTRING "${text}" ${at} 8000 piece)
    string(APPEND pieces "R\"${delimiter}(${piece})${delimiter}\"\n")
    math(EXPR at "${at} + 8000")
  endwhile()
  set(${out} "${pieces}" PARENT_SCOPE)
endfunction()

file(READ "${FOLDER}/head.html" head)
file(READ "${FOLDER}/page.html" page)
file(READ "${FOLDER}/style.css" style)
file(READ "${FOLDER}/single.html" single_page)
string(REPLACE "{{head}}" "${head}" page "${page}")
string(REPLACE "{{head}}" "${head}" single_page "${single_page}")
function(scripts out list)
  set(all "")
  string(REPLACE "," ";" names "${list}")
  foreach(name ${names})
    file(READ "${FOLDER}/${name}" text)
    string(APPEND all "${text}")
  endforeach()
  set(${out} "${all}" PARENT_SCOPE)
endfunction()
scripts(script "${SCRIPTS}")
scripts(diff_script "${DIFF_SCRIPTS}")
scripts(attribute_script "${ATTRIBUTE_SCRIPTS}")
foreach(asset page style script single_page diff_script attribute_script)
  literal(${asset} "${${asset}}")
endforeach()
file(WRITE "${OUT}" "#include \"libgraphkit/render/report/page_sources.h\"

namespace graphkit {

constinit const std::string_view kReportPage =
${page};
constinit const std::string_view kReportStyle =
${style};
constinit const std::string_view kReportScript =
${script};
constinit const std::string_view kSinglePage =
${single_page};
constinit const std::string_view kDiffScript =
${diff_script};
constinit const std::string_view kAttributeScript =
${attribute_script};

}  // namespace graphkit
")

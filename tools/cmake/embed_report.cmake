# cmake -DOUT=report_assets.cpp -DFOLDER=libgraphkit/render/report -DSCRIPTS=a.js,b.js -P embed_report.cmake
# Writes the sources of the report's page as C++ string literals.
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

file(READ "${FOLDER}/page.html" page)
file(READ "${FOLDER}/style.css" style)
set(script "")
string(REPLACE "," ";" names "${SCRIPTS}")
foreach(name ${names})
  file(READ "${FOLDER}/${name}" text)
  string(APPEND script "${text}")
endforeach()
literal(page "${page}")
literal(style "${style}")
literal(script "${script}")
file(WRITE "${OUT}" "#include \"libgraphkit/render/report_assets.h\"

namespace graphkit {

constinit const std::string_view kReportPage =
${page};
constinit const std::string_view kReportStyle =
${style};
constinit const std::string_view kReportScript =
${script};

}  // namespace graphkit
")

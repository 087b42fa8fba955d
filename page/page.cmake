# SPDX-License-Identifier: BSL-1.0
# Writes the header that carries the program and the style of the page of write_html(): the scripts of this folder, one
# after the other in one function, and page.css, each without its opening comment.
#   cmake -P page/page.cmake                  after each change of them
#   cmake -DCHECK=ON -P page/page.cmake       only says whether the header is what they make: that is a test
cmake_minimum_required(VERSION 3.25)

set(scripts text models reasons view picture zoom pointer keys search waits tables begin)
set(header ${CMAKE_CURRENT_LIST_DIR}/../include/sublet/reporting/detail/html_script.hpp)
set(literal_limit 16000) # bytes that every compiler takes in one literal

function(carry file delimiter)
  file(READ ${CMAKE_CURRENT_LIST_DIR}/${file} text)
  if(delimiter STREQUAL "js")
    string(REGEX REPLACE "^(//[^\n]*\n)+\n" "" text "${text}")
  else()
    string(REGEX REPLACE "^/[*][^/]*[*]/\n\n" "" text "${text}")
  endif()
  string(LENGTH "${text}" length)
  if(length GREATER literal_limit OR text MATCHES "[)]${delimiter}\"")
    message(FATAL_ERROR "${file} does not fit one literal: it has ${length} bytes, or its end in it")
  endif()
  set(carried "R\"${delimiter}(${text})${delimiter}\"" PARENT_SCOPE)
endfunction()

set(made "// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REPORTING_DETAIL_HTML_SCRIPT_HPP
#define SUBLET_REPORTING_DETAIL_HTML_SCRIPT_HPP

/// The program of the page, in JavaScript, and its style: made by page/page.cmake of the files in page/. Edit these.
///
///     data ─► models: buffers, live bytes, rows by time ─► panels ─► picture ─────► canvas
///                                                     focus, hover ─► outlines ──┘

namespace sublet::detail {

/// In order; compilers limit the length of one literal.
inline constexpr char const* html_script[] = {
")
foreach(script IN LISTS scripts)
  carry(${script}.js js)
  string(APPEND made "    ${carried},\n")
endforeach()
carry(page.css css)
string(APPEND made "};

inline constexpr char const* html_style = ${carried};

} // namespace sublet::detail

#endif
")
if(CHECK)
  file(READ ${header} present)
  if(NOT present STREQUAL made)
    message(FATAL_ERROR "html_script.hpp is not what these files make: cmake -P page/page.cmake")
  endif()
else()
  file(WRITE ${header} "${made}")
endif()

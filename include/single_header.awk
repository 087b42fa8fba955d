# SPDX-License-Identifier: BSL-1.0
# Joins headers of the library, with all that they include, into one header:
#     awk -f include/single_header.awk sublet.hpp >sublet-single.hpp
# Operands are headers in include/sublet, for instance also execution.hpp or adapt/boost_graph.hpp. Each file
# stands where it is included first.
function copy(name, file, line, status)
{
    if (name in copied) return
    copied[name] = 1
    file = folder name
    while ((status = (getline line <file)) > 0) {
        if (line ~ /^\/\/ SPDX-License-Identifier/) continue
        if (line !~ /^#include <sublet\//) print line
        else copy(substr(line, 18, index(line, ">") - 18))
    }
    close(file)
    if (status < 0) {
        print file ": cannot be read" >"/dev/stderr"
        failed = 1
        exit 2
    }
}
BEGIN {
    if (folder == "") folder = "include/sublet/"
    print "// SPDX-License-Identifier: BSL-1.0"
    print "// Made from the headers of sublet" (version ? " " version : "") " by include/single_header.awk: change those."
    print "#ifdef SUBLET_SEPARATE_COMPILATION"
    print "#error \"sublet: the single header is header-only: do not define SUBLET_SEPARATE_COMPILATION\""
    print "#endif"
    for (i = 1; i < ARGC; ++i) copy(ARGV[i])
    exit failed ? 2 : 0
}

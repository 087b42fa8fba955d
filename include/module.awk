# SPDX-License-Identifier: BSL-1.0
# Writes a module interface unit that exports the public names of the library, an experiment: clang 19 compiles it.
#     awk -f test/public_names.awk HEADER ... | awk -f include/module.awk >sublet.cppm
# Operands are public headers, without testing/, adapt/ and CUDA's.
BEGIN {
    print "// SPDX-License-Identifier: BSL-1.0"
    print "// Made from the headers of sublet by include/module.awk: change those."
    print "module;"
    print "#include <sublet/execution.hpp>"
    print "#include <sublet/sublet.hpp>"
    print "export module sublet;"
    print "export namespace sublet {"
    print "using sublet::operator<<;"
    print "using sublet::operator|;"
}
!($1 in seen) { print "using sublet::" $1 ";"; seen[$1] = 1 }
END { print "} // namespace sublet" }

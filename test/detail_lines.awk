# SPDX-License-Identifier: BSL-1.0
# Of the code lines of headers (neither blank, comment nor directive), how many lie in a namespace detail: one line a
# header, and "all".  awk -f detail_lines.awk FILE ...
FNR == 1 { inside = 0 }
/^[ \t]*(\/\/|$)/ || /^#/ { next }
/^namespace .*detail [{]/ { inside = 1 }
{ lines[FILENAME]++; lines["all"]++ }
inside { detail[FILENAME]++; detail["all"]++ }
/^[}] \/\/ namespace .*detail/ { inside = 0 }
END { for (file in lines) print detail[file] + 0, lines[file], file }

; Reads a value before its definition: it parses, but is not valid.

define i32 @early(i32 %a) {
  %sum = add i32 %a, %later
  %later = mul i32 %a, %a
  ret i32 %sum
}

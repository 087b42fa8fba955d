; Reads a value before it is defined: it parses, and is not valid.

define i32 @early(i32 %a) {
  %sum = add i32 %a, %later
  %later = mul i32 %a, %a
  ret i32 %sum
}

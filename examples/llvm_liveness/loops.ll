; A loop inside a branch, phis, a value that is never read, and an unreachable block. No pointers, so versions of
; LLVM with typed and with opaque pointers read the same.

define i32 @gcd(i32 %a, i32 %b) {
entry:
  %trivial = icmp eq i32 %b, 0
  br i1 %trivial, label %done, label %loop
loop:                                     ; both phis at once: %x gets %y while %y gets %rest
  %x = phi i32 [ %a, %entry ], [ %y, %loop ]
  %y = phi i32 [ %b, %entry ], [ %rest, %loop ]
  %rest = urem i32 %x, %y
  %stop = icmp eq i32 %rest, 0
  br i1 %stop, label %done, label %loop
done:
  %result = phi i32 [ %a, %entry ], [ %y, %loop ]
  ret i32 %result
}

define i32 @sum_of_powers(i32 %n, i32 %k) {
  br label %outer
outer:
  %i = phi i32 [ 0, %0 ], [ %i.next, %outer.end ]
  %sum = phi i32 [ 0, %0 ], [ %sum.next, %outer.end ]
  %twice = shl i32 %i, 1                  ; never read
  %more = icmp ult i32 %i, %n
  br i1 %more, label %inner, label %done
inner:                                    ; %n, %k, %i and %sum are needed after it or in it
  %j = phi i32 [ 0, %outer ], [ %j.next, %inner ]
  %power = phi i32 [ 1, %outer ], [ %power.next, %inner ]
  %power.next = mul i32 %power, %i
  %j.next = add i32 %j, 1
  %again = icmp ult i32 %j.next, %k
  br i1 %again, label %inner, label %outer.end
outer.end:
  %sum.next = add i32 %sum, %power.next
  %i.next = add i32 %i, 1
  br label %outer
forgotten:                                ; unreachable
  %lost = mul i32 %n, %k
  br label %done
done:
  %result = phi i32 [ %sum, %outer ], [ %lost, %forgotten ]
  ret i32 %result
}

define void @nothing() {
  ret void
}

declare i32 @elsewhere(i32)

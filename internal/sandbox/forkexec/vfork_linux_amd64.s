#include "textflag.h"

// func vfork(flags, first, end, failed uintptr) (pid uintptr)
//
// The child shares the caller's memory and stack and so must touch neither:
// it has its state in registers that system calls keep.
TEXT ·vfork(SB),NOSPLIT,$0-40
	MOVQ	flags+0(FP), DI
	MOVQ	first+8(FP), BX
	MOVQ	end+16(FP), R12
	MOVQ	failed+24(FP), R13
	XORL	SI, SI
	XORL	DX, DX
	XORL	R10, R10
	XORL	R8, R8
	MOVL	$56, AX	// clone
	SYSCALL
	TESTQ	AX, AX
	JEQ	next
	MOVQ	AX, pid+32(FP)
	RET
next:
	CMPQ	BX, R12
	JEQ	exit
	MOVQ	0(BX), AX
	MOVQ	8(BX), DI
	MOVQ	16(BX), SI
	MOVQ	24(BX), DX
	MOVQ	32(BX), R10
	MOVQ	40(BX), R8
	XORL	R9, R9
	SYSCALL
	MOVQ	48(BX), CX
	CMPQ	CX, $1
	JEQ	done
	CMPQ	CX, $2
	JEQ	equal
	CMPQ	AX, $0xfffffffffffff001
	JCC	fail
done:
	ADDQ	$64, BX
	JMP	next
equal:
	CMPQ	AX, 56(BX)
	JEQ	done
fail:
	MOVQ	BX, 0(R13)
	MOVQ	AX, 8(R13)
exit:
	MOVL	$127, DI
	MOVL	$231, AX	// exit_group
	SYSCALL
	JMP	exit

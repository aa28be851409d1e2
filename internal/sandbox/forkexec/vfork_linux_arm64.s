#include "textflag.h"

// func vfork(flags, first, end, failed uintptr) (pid uintptr)
//
// The child shares the caller's memory and stack and so must touch neither:
// it has its state in registers that system calls keep.
TEXT ·vfork(SB),NOSPLIT,$0-40
	MOVD	flags+0(FP), R0
	MOVD	first+8(FP), R19
	MOVD	end+16(FP), R20
	MOVD	failed+24(FP), R21
	MOVD	$0, R1
	MOVD	$0, R2
	MOVD	$0, R3
	MOVD	$0, R4
	MOVD	$220, R8	// clone
	SVC
	CBZ	R0, next
	MOVD	R0, pid+32(FP)
	RET
next:
	CMP	R20, R19
	BEQ	exit
	MOVD	0(R19), R8
	MOVD	8(R19), R0
	MOVD	16(R19), R1
	MOVD	24(R19), R2
	MOVD	32(R19), R3
	MOVD	40(R19), R4
	MOVD	$0, R5
	SVC
	MOVD	48(R19), R9
	CMP	$1, R9
	BEQ	done
	CMP	$2, R9
	BEQ	equal
	CMN	$4095, R0
	BCS	fail
done:
	ADD	$64, R19
	B	next
equal:
	MOVD	56(R19), R9
	CMP	R9, R0
	BEQ	done
fail:
	MOVD	R19, 0(R21)
	MOVD	R0, 8(R21)
exit:
	MOVD	$127, R0
	MOVD	$94, R8	// exit_group
	SVC
	B	exit

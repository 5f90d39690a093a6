"""Labs on the exact clock: machines emulated by QEMU, whose clock counts instructions."""

stockade-profile 1
# Experience data: docs/tuning.md. Written by 'stockade tune'.
# operation, bits of the key, length from which on, choice | score | runner-up | machine | date | commit
machine Intel(R) Xeon(R) Processor, 16 cores
needs aesni clmul avx2 vaes vpclmul avx512
cores 16
ctr 128 64 engine=serial | 2.76 GB/s | - | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
ctr 128 16384 engine=serial stores=ordinary | 22.0 GB/s | - | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
ctr 128 92672 engine=threads workers=2 stores=ordinary | 22.6 GB/s | engine=threads workers=4 stores=ordinary 23.0 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
ctr 128 100864 engine=threads workers=4 stores=ordinary | 23.7 GB/s | engine=serial stores=ordinary 21.4 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
ctr 128 262144 engine=threads workers=8 stores=ordinary | 44.9 GB/s | engine=threads workers=4 stores=ordinary 42.5 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
ctr 128 1143296 engine=threads workers=all stores=ordinary | 87.7 GB/s | engine=threads workers=all stores=streaming 78.6 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
ctr 128 56431360 engine=threads workers=all stores=streaming | 173 GB/s | engine=threads workers=all stores=ordinary 156 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
ctr 256 64 engine=serial | 2.60 GB/s | - | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
ctr 256 16384 engine=serial stores=ordinary | 14.7 GB/s | - | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
ctr 256 59904 engine=threads workers=2 stores=ordinary | 14.1 GB/s | engine=threads workers=4 stores=ordinary 13.7 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
ctr 256 65536 engine=threads workers=4 stores=ordinary | 17.9 GB/s | engine=serial stores=ordinary 16.5 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
ctr 256 201984 engine=threads workers=8 stores=ordinary | 30.7 GB/s | engine=threads workers=4 stores=ordinary 29.5 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
ctr 256 1143296 engine=threads workers=all stores=ordinary | 66.9 GB/s | engine=threads workers=all stores=streaming 68.8 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
ctr 256 1246720 engine=threads workers=all stores=streaming | 73.5 GB/s | engine=threads workers=all stores=ordinary 70.5 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
ctr 256 1922816 engine=threads workers=all stores=ordinary | 82.9 GB/s | engine=threads workers=all stores=streaming 80.5 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
ctr 256 67108864 engine=threads workers=all stores=streaming | 167 GB/s | engine=threads workers=all stores=ordinary 164 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
xts 128 64 engine=serial | 1.64 GB/s | - | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
xts 128 16384 engine=serial stores=ordinary | 18.8 GB/s | - | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
xts 128 71168 engine=threads workers=2 stores=ordinary | 19.4 GB/s | engine=threads workers=4 stores=ordinary 18.6 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
xts 128 100864 engine=threads workers=4 stores=ordinary | 24.0 GB/s | engine=threads workers=2 stores=ordinary 21.0 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
xts 128 262144 engine=threads workers=8 stores=ordinary | 45.0 GB/s | engine=threads workers=4 stores=ordinary 42.6 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
xts 128 1246720 engine=threads workers=all stores=ordinary | 85.9 GB/s | engine=threads workers=all stores=streaming 61.9 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
xts 256 64 engine=serial | 1.39 GB/s | - | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
xts 256 16384 engine=serial stores=ordinary | 11.8 GB/s | - | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
xts 256 50432 engine=threads workers=2 stores=ordinary | 13.8 GB/s | engine=serial stores=ordinary 12.6 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
xts 256 65536 engine=threads workers=4 stores=ordinary | 16.0 GB/s | engine=serial stores=ordinary 13.7 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
xts 256 131072 engine=threads workers=8 stores=ordinary | 23.4 GB/s | engine=threads workers=4 stores=ordinary 22.3 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
xts 256 679680 engine=threads workers=all stores=ordinary | 55.2 GB/s | engine=threads workers=8 stores=ordinary 41.5 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
gcm 128 64 engine=serial | 0.6542 GB/s | - | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
gcm 128 16384 engine=serial stores=ordinary | 10.4 GB/s | - | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
gcm 128 65536 engine=threads workers=4 stores=ordinary | 14.1 GB/s | engine=serial stores=ordinary 11.0 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
gcm 128 240128 engine=threads workers=8 stores=ordinary | 31.8 GB/s | engine=threads workers=4 stores=ordinary 28.0 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
gcm 128 1048576 engine=threads workers=all stores=ordinary | 73.4 GB/s | engine=threads workers=8 stores=ordinary 62.6 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
gcm 128 33554432 engine=threads workers=all stores=streaming | 122 GB/s | engine=threads workers=all stores=ordinary 111 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
gcm 256 64 engine=serial | 0.9779 GB/s | - | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
gcm 256 16384 engine=serial stores=ordinary | 13.2 GB/s | - | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
gcm 256 65536 engine=threads workers=4 stores=ordinary | 16.1 GB/s | engine=serial stores=ordinary 15.0 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
gcm 256 201984 engine=threads workers=8 stores=ordinary | 26.8 GB/s | engine=threads workers=4 stores=ordinary 24.3 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
gcm 256 1482752 engine=threads workers=all stores=ordinary | 84.5 GB/s | engine=threads workers=all stores=streaming 81.5 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
chunks 256 16384 engine=serial stores=ordinary | 12.9 GB/s | - | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
chunks 256 77824 engine=threads workers=2 stores=ordinary | 7.77 GB/s | engine=threads workers=all stores=ordinary 7.50 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
chunks 256 155648 engine=threads workers=4 stores=ordinary | 11.3 GB/s | engine=threads workers=8 stores=ordinary 11.2 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
chunks 256 285696 engine=threads workers=8 stores=ordinary | 21.0 GB/s | engine=threads workers=all stores=ordinary 18.1 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
chunks 256 571648 engine=threads workers=all stores=ordinary | 36.5 GB/s | engine=threads workers=8 stores=ordinary 30.9 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
messages 256 16384 engine=serial | 6.71 GB/s | - | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
messages 256 84736 engine=threads workers=2 | 7.30 GB/s | engine=serial 6.82 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
messages 256 155648 engine=threads workers=8 | 10.1 GB/s | engine=threads workers=4 9.57 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
messages 256 201984 engine=threads workers=4 | 12.9 GB/s | engine=threads workers=8 11.5 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
messages 256 311552 engine=threads workers=8 | 15.8 GB/s | engine=threads workers=4 13.8 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
messages 256 623360 engine=threads workers=all | 24.2 GB/s | engine=threads workers=8 20.1 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
files 256 16384 engine=serial batch=1 | 0.4058 GB/s | engine=threads workers=2 batch=1 0.4094 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
files 256 1048576 engine=threads workers=2 batch=1 | 2.92 GB/s | engine=threads workers=all batch=1 2.92 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
files 256 4194304 engine=threads workers=2 batch=2 | 2.82 GB/s | engine=threads workers=2 batch=1 2.72 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
rsa-private 2048 1 engine=threads workers=all row=ifma layers=halves | 4131 /s | engine=threads workers=all row=avx2 layers=halves 3474 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
rsa-private 2048 2 engine=threads workers=2 row=ifma layers=together | 8272 /s | engine=threads workers=4 row=ifma layers=together 8361 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
rsa-private 2048 3 engine=threads workers=4 row=ifma layers=together | 10199 /s | engine=threads workers=8 row=ifma layers=together 10258 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
rsa-private 2048 5 engine=threads workers=8 row=ifma layers=together | 12423 /s | engine=threads workers=all row=ifma layers=together 11734 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
rsa-private 2048 6 engine=threads workers=all row=ifma layers=together | 17892 /s | engine=threads workers=all row=ifma layers=halves 13555 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
rsa-private 2048 8 engine=threads workers=8 row=ifma layers=together | 16788 /s | engine=threads workers=2 row=ifma layers=together 15870 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
rsa-private 2048 9 engine=threads workers=all row=ifma layers=together | 19482 /s | engine=threads workers=4 row=ifma layers=together 17320 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
rsa-private 2048 17 engine=threads workers=4 row=ifma layers=together | 21456 /s | engine=threads workers=8 row=ifma layers=together 20912 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
rsa-private 2048 19 engine=threads workers=8 row=ifma layers=together | 23635 /s | engine=threads workers=all row=ifma layers=together 23365 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
rsa-private 4096 1 engine=threads workers=all row=ifma layers=halves | 469 /s | engine=threads workers=all row=avx2 layers=halves 466 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
rsa-private 4096 5 engine=threads workers=all row=avx2 layers=halves | 2175 /s | engine=threads workers=all row=adx layers=halves 2135 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
rsa-private 4096 6 engine=threads workers=2 row=ifma layers=together | 2084 /s | engine=threads workers=all row=avx2 layers=halves 1912 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
rsa-private 4096 9 engine=threads workers=4 row=ifma layers=together | 3414 /s | engine=threads workers=8 row=ifma layers=together 2988 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
rsa-public 2048 1 engine=threads workers=2 | 73470 /s | engine=threads workers=all 74690 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
rsa-public 2048 3 engine=threads workers=4 | 171724 /s | engine=threads workers=8 172925 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
rsa-public 2048 5 engine=threads workers=8 | 261765 /s | engine=threads workers=all 246074 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
rsa-public 2048 6 engine=threads workers=all | 315033 /s | engine=threads workers=2 279836 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
rsa-public 2048 9 engine=threads workers=2 | 376612 /s | engine=threads workers=all 361141 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
rsa-public 2048 10 engine=threads workers=all | 352532 /s | engine=threads workers=4 275021 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
rsa-public 2048 13 engine=threads workers=2 | 488091 /s | engine=threads workers=4 466392 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
rsa-public 2048 17 engine=threads workers=4 | 588170 /s | engine=threads workers=8 520478 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
rsa-public 2048 33 engine=threads workers=8 | 834866 /s | engine=threads workers=4 746568 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
rsa-public 4096 1 engine=serial | 18922 /s | engine=threads workers=all 19156 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
rsa-public 4096 2 engine=threads workers=2 | 36234 /s | engine=threads workers=all 36218 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
rsa-public 4096 3 engine=threads workers=4 | 51633 /s | engine=threads workers=all 52482 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
rsa-public 4096 4 engine=serial | 57367 /s | engine=threads workers=2 56054 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
rsa-public 4096 5 engine=threads workers=8 | 68291 /s | engine=threads workers=all 69278 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
rsa-public 4096 6 engine=serial | 76171 /s | engine=threads workers=all 76387 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
rsa-public 4096 9 engine=threads workers=2 | 115078 /s | engine=threads workers=4 115220 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
end 82

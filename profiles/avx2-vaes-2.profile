stockade-profile 1
# Experience data: docs/tuning.md. Written by 'stockade tune'.
# operation, bits of the key, length from which on, choice | score | runner-up | machine | date | commit
machine AMD EPYC, 2 cores
needs aesni clmul avx2 vaes vpclmul
lacks avx512
cores 2
ctr 128 64 engine=serial | 3.73 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
ctr 128 16384 engine=serial stores=ordinary | 24.0 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
ctr 128 46336 engine=threads workers=all stores=ordinary | 27.4 GB/s | engine=serial stores=ordinary 25.7 GB/s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
ctr 128 21756928 engine=threads workers=all stores=streaming | 41.2 GB/s | engine=threads workers=all stores=ordinary 39.7 GB/s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
ctr 256 64 engine=serial | 3.37 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
ctr 256 16384 engine=serial stores=ordinary | 18.0 GB/s | engine=threads workers=all stores=ordinary 13.3 GB/s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
ctr 256 32768 engine=threads workers=all stores=ordinary | 19.7 GB/s | engine=serial stores=ordinary 18.6 GB/s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
ctr 256 19951360 engine=threads workers=all stores=streaming | 34.4 GB/s | engine=threads workers=all stores=ordinary 33.0 GB/s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
xts 128 64 engine=serial | 2.86 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
xts 128 16384 engine=serial stores=ordinary | 16.4 GB/s | engine=threads workers=all stores=ordinary 13.3 GB/s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
xts 128 27392 engine=threads workers=all stores=ordinary | 19.6 GB/s | engine=serial stores=ordinary 17.5 GB/s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
xts 256 64 engine=serial | 2.37 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
xts 256 16384 engine=serial stores=ordinary | 13.4 GB/s | engine=threads workers=all stores=ordinary 12.3 GB/s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
xts 256 19200 engine=threads workers=all stores=ordinary | 14.5 GB/s | engine=serial stores=ordinary 13.5 GB/s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
gcm 128 64 engine=serial | 1.17 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
gcm 128 16384 engine=serial stores=ordinary | 14.6 GB/s | engine=threads workers=all stores=ordinary 10.5 GB/s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
gcm 128 32768 engine=threads workers=all stores=ordinary | 15.4 GB/s | engine=serial stores=ordinary 14.9 GB/s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
gcm 128 1048576 engine=threads workers=all stores=streaming | 30.0 GB/s | engine=threads workers=all stores=ordinary 28.8 GB/s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
gcm 256 64 engine=serial | 1.08 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
gcm 256 16384 engine=serial stores=ordinary | 13.4 GB/s | engine=threads workers=all stores=ordinary 10.1 GB/s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
gcm 256 32768 engine=threads workers=all stores=ordinary | 14.8 GB/s | engine=serial stores=ordinary 13.7 GB/s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
gcm 256 43514368 engine=threads workers=all stores=streaming | 26.2 GB/s | engine=threads workers=all stores=ordinary 24.9 GB/s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
chunks 256 16384 engine=serial stores=ordinary | 12.4 GB/s | engine=threads workers=all stores=ordinary 9.06 GB/s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
chunks 256 77824 engine=threads workers=all stores=ordinary | 13.8 GB/s | engine=serial stores=ordinary 13.3 GB/s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
messages 256 16384 engine=serial | 8.33 GB/s | engine=threads workers=all 6.26 GB/s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
messages 256 77824 engine=threads workers=all | 8.99 GB/s | engine=serial 8.52 GB/s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
files 256 16384 engine=serial batch=1 | 0.5034 GB/s | engine=threads workers=all batch=1 0.5021 GB/s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
files 256 2097152 engine=threads workers=all batch=2 | 1.88 GB/s | engine=threads workers=all batch=1 1.80 GB/s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
files 256 21756928 engine=threads workers=all batch=4 | 2.08 GB/s | engine=threads workers=all batch=2 2.01 GB/s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
rsa-private 2048 1 engine=threads workers=all row=avx2 layers=halves | 5138 /s | engine=threads workers=all row=adx layers=halves 5132 /s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
rsa-private 2048 2 engine=serial row=avx2 layers=together | 5102 /s | engine=threads workers=all row=adx layers=together 5135 /s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
rsa-private 2048 3 engine=threads workers=all row=avx2 layers=together | 7074 /s | - | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
rsa-private 4096 1 engine=threads workers=all row=avx2 layers=halves | 774 /s | engine=threads workers=all row=adx layers=halves 772 /s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
rsa-private 4096 2 engine=serial row=avx2 layers=together | 763 /s | engine=threads workers=all row=adx layers=together 782 /s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
rsa-private 4096 3 engine=threads workers=all row=avx2 layers=together | 1119 /s | - | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
rsa-public 2048 1 engine=serial | 109433 /s | engine=threads workers=all 109461 /s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
rsa-public 2048 2 engine=threads workers=all | 198598 /s | - | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
rsa-public 2048 3 engine=serial | 134500 /s | engine=threads workers=all 131211 /s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
rsa-public 2048 5 engine=threads workers=all | 213020 /s | engine=serial 158045 /s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
rsa-public 4096 1 engine=serial | 30574 /s | engine=threads workers=all 30528 /s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
rsa-public 4096 2 engine=threads workers=all | 58330 /s | - | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
end 41

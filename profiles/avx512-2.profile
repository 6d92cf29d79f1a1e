stockade-profile 1
# Experience data: docs/tuning.md. Written by 'stockade tune'.
# operation, bits of the key, length from which on, choice | score | runner-up | machine | date | commit
machine AMD EPYC, 2 cores
needs aesni clmul avx2 vaes vpclmul avx512
cores 2
ctr 128 64 engine=serial | 3.94 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
ctr 128 16384 engine=serial stores=ordinary | 30.5 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
ctr 128 84736 engine=threads workers=all stores=ordinary | 51.0 GB/s | engine=serial stores=ordinary 48.4 GB/s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
ctr 128 23726336 engine=threads workers=all stores=streaming | 40.9 GB/s | engine=threads workers=all stores=ordinary 38.7 GB/s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
ctr 256 64 engine=serial | 3.50 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
ctr 256 16384 engine=serial stores=ordinary | 31.5 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
ctr 256 59904 engine=threads workers=all stores=ordinary | 36.3 GB/s | engine=serial stores=ordinary 34.2 GB/s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
ctr 256 23726336 engine=threads workers=all stores=streaming | 47.8 GB/s | engine=threads workers=all stores=ordinary 43.7 GB/s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
xts 128 64 engine=serial | 1.70 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
xts 128 16384 engine=serial stores=ordinary | 27.5 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
xts 128 50432 engine=threads workers=all stores=ordinary | 33.8 GB/s | engine=serial stores=ordinary 32.0 GB/s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
xts 128 23726336 engine=threads workers=all stores=streaming | 30.3 GB/s | engine=threads workers=all stores=ordinary 27.9 GB/s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
xts 256 64 engine=serial | 1.43 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
xts 256 16384 engine=serial stores=ordinary | 23.0 GB/s | engine=threads workers=all stores=ordinary 15.6 GB/s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
xts 256 42240 engine=threads workers=all stores=ordinary | 27.6 GB/s | engine=serial stores=ordinary 25.7 GB/s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
xts 256 19951360 engine=threads workers=all stores=streaming | 29.0 GB/s | engine=threads workers=all stores=ordinary 27.8 GB/s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
gcm 128 64 engine=serial | 1.16 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
gcm 128 16384 engine=serial stores=ordinary | 25.2 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
gcm 128 65536 engine=threads workers=all stores=ordinary | 29.0 GB/s | engine=serial stores=ordinary 27.1 GB/s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
gcm 128 23726336 engine=threads workers=all stores=streaming | 40.0 GB/s | engine=threads workers=all stores=ordinary 37.9 GB/s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
gcm 256 64 engine=serial | 1.07 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
gcm 256 16384 engine=serial stores=ordinary | 23.9 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
gcm 256 65536 engine=threads workers=all stores=ordinary | 28.0 GB/s | engine=serial stores=ordinary 26.1 GB/s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
gcm 256 23726336 engine=threads workers=all stores=streaming | 40.2 GB/s | engine=threads workers=all stores=ordinary 38.0 GB/s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
chunks 256 16384 engine=serial stores=ordinary | 20.6 GB/s | engine=threads workers=all stores=ordinary 13.2 GB/s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
chunks 256 84736 engine=threads workers=all stores=ordinary | 24.9 GB/s | engine=serial stores=ordinary 23.6 GB/s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
messages 256 16384 engine=serial | 10.9 GB/s | engine=threads workers=all 7.94 GB/s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
messages 256 77824 engine=threads workers=all | 11.7 GB/s | engine=serial 11.3 GB/s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
files 256 16384 engine=serial batch=1 | 0.5166 GB/s | engine=threads workers=all batch=1 0.5138 GB/s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
files 256 4194304 engine=threads workers=all batch=2 | 1.96 GB/s | engine=threads workers=all batch=4 1.97 GB/s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
files 256 14107648 engine=threads workers=all batch=4 | 2.10 GB/s | engine=threads workers=all batch=2 2.03 GB/s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
rsa-private 2048 1 engine=serial row=ifma layers=together | 6945 /s | engine=threads workers=all row=ifma layers=halves 6871 /s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
rsa-private 2048 2 engine=threads workers=all row=ifma layers=together | 12177 /s | - | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
rsa-private 2048 3 engine=serial row=ifma layers=together | 11338 /s | engine=threads workers=all row=ifma layers=together 10903 /s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
rsa-private 2048 5 engine=threads workers=all row=ifma layers=together | 17247 /s | engine=serial row=ifma layers=together 12222 /s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
rsa-private 4096 1 engine=threads workers=all row=ifma layers=halves | 780 /s | engine=threads workers=all row=adx layers=halves 781 /s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
rsa-private 4096 2 engine=serial row=ifma layers=together | 1076 /s | engine=threads workers=all row=ifma layers=together 1076 /s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
rsa-private 4096 5 engine=threads workers=all row=ifma layers=together | 2574 /s | - | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
rsa-public 2048 1 engine=serial | 109054 /s | engine=threads workers=all 109856 /s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
rsa-public 2048 2 engine=threads workers=all | 202778 /s | engine=serial 144191 /s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
rsa-public 2048 3 engine=serial | 211451 /s | engine=threads workers=all 203745 /s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
rsa-public 2048 9 engine=threads workers=all | 572109 /s | engine=serial 364693 /s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
rsa-public 4096 1 engine=serial | 30433 /s | engine=threads workers=all 30303 /s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
rsa-public 4096 2 engine=threads workers=all | 59218 /s | engine=serial 42157 /s | AMD EPYC, 2 cores | 2026-11-22 | ff86d58b2f14
end 44

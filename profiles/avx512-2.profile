stockade-profile 1
# Experience data: docs/tuning.md. Written by 'stockade tune'.
# operation, bits of the key, length from which on, choice | score | runner-up | machine | date | commit
machine AMD EPYC, 2 cores
needs aesni clmul avx2 vaes vpclmul avx512
cores 2
ctr 128 64 engine=serial | 3.93 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
ctr 128 16384 engine=serial stores=ordinary | 42.5 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
ctr 128 131072 engine=threads workers=all stores=ordinary | 57.7 GB/s | engine=serial stores=ordinary 48.6 GB/s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
ctr 128 23726336 engine=threads workers=all stores=streaming | 40.3 GB/s | engine=serial stores=streaming 34.4 GB/s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
ctr 256 64 engine=serial | 3.59 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
ctr 256 16384 engine=serial stores=ordinary | 31.6 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
ctr 256 65536 engine=threads workers=all stores=ordinary | 36.0 GB/s | engine=serial stores=ordinary 34.3 GB/s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
ctr 256 23726336 engine=threads workers=all stores=streaming | 44.2 GB/s | engine=threads workers=all stores=ordinary 35.6 GB/s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
xts 128 64 engine=serial | 1.72 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
xts 128 16384 engine=serial stores=ordinary | 27.5 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
xts 128 65536 engine=threads workers=all stores=ordinary | 35.9 GB/s | engine=serial stores=ordinary 32.6 GB/s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
xts 128 23726336 engine=threads workers=all stores=streaming | 29.6 GB/s | engine=threads workers=all stores=ordinary 27.1 GB/s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
xts 256 64 engine=serial | 1.44 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
xts 256 16384 engine=serial stores=ordinary | 22.9 GB/s | engine=threads workers=all stores=ordinary 14.3 GB/s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
xts 256 55040 engine=threads workers=all stores=ordinary | 28.7 GB/s | engine=serial stores=ordinary 26.1 GB/s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
xts 256 23726336 engine=threads workers=all stores=streaming | 28.5 GB/s | engine=threads workers=all stores=ordinary 27.2 GB/s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
gcm 128 64 engine=serial | 1.17 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
gcm 128 16384 engine=serial stores=ordinary | 25.3 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
gcm 128 65536 engine=threads workers=all stores=ordinary | 27.9 GB/s | engine=serial stores=ordinary 26.9 GB/s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
gcm 128 28215552 engine=threads workers=all stores=streaming | 41.5 GB/s | engine=threads workers=all stores=ordinary 37.3 GB/s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
gcm 256 64 engine=serial | 1.10 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
gcm 256 16384 engine=serial stores=ordinary | 23.7 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
gcm 256 65536 engine=threads workers=all stores=ordinary | 27.2 GB/s | engine=serial stores=ordinary 25.8 GB/s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
gcm 256 33554432 engine=threads workers=all stores=streaming | 36.8 GB/s | engine=threads workers=all stores=ordinary 31.6 GB/s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
chunks 256 16384 engine=serial stores=ordinary | 21.1 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
chunks 256 92672 engine=threads workers=all stores=ordinary | 26.4 GB/s | engine=serial stores=ordinary 23.9 GB/s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
messages 256 16384 engine=serial | 11.1 GB/s | engine=threads workers=all 7.71 GB/s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
messages 256 92672 engine=threads workers=all | 13.8 GB/s | engine=serial 11.4 GB/s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
files 256 16384 engine=serial batch=1 | 0.5151 GB/s | engine=threads workers=all batch=1 0.5122 GB/s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
files 256 4987648 engine=threads workers=all batch=4 | 2.03 GB/s | engine=threads workers=all batch=2 1.97 GB/s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
rsa-private 2048 1 engine=serial row=ifma layers=together | 6903 /s | engine=threads workers=all row=ifma layers=halves 6760 /s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
rsa-private 2048 2 engine=threads workers=all row=ifma layers=together | 11924 /s | - | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
rsa-private 2048 4 engine=serial row=ifma layers=together | 14537 /s | engine=threads workers=all row=ifma layers=together 13688 /s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
rsa-private 2048 5 engine=threads workers=all row=ifma layers=together | 16706 /s | engine=serial row=ifma layers=together 11981 /s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
rsa-private 4096 1 engine=threads workers=all row=ifma layers=halves | 768 /s | engine=threads workers=all row=avx2 layers=halves 779 /s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
rsa-private 4096 2 engine=serial row=ifma layers=together | 1079 /s | engine=threads workers=all row=ifma layers=together 1081 /s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
rsa-private 4096 5 engine=threads workers=all row=ifma layers=together | 2224 /s | - | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
rsa-public 2048 1 engine=serial | 108965 /s | engine=threads workers=all 108496 /s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
rsa-public 2048 2 engine=threads workers=all | 197525 /s | engine=serial 141771 /s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
rsa-public 2048 3 engine=serial | 213378 /s | engine=threads workers=all 206230 /s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
rsa-public 2048 12 engine=threads workers=all | 715464 /s | - | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
rsa-public 4096 1 engine=serial | 30067 /s | engine=threads workers=all 30316 /s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
rsa-public 4096 2 engine=threads workers=all | 58126 /s | engine=serial 41670 /s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
rsa-public 4096 5 engine=serial | 100480 /s | engine=threads workers=all 96586 /s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
rsa-public 4096 12 engine=threads workers=all | 233640 /s | - | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
end 45

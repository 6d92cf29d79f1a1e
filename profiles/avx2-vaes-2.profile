stockade-profile 1
# Experience data: docs/tuning.md. Written by 'stockade tune'.
# operation, bits of the key, length from which on, choice | score | runner-up | machine | date | commit
machine AMD EPYC, 2 cores
needs aesni clmul avx2 vaes vpclmul
lacks avx512
cores 2
ctr 128 64 engine=serial | 3.50 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
ctr 128 16384 engine=serial stores=ordinary | 23.6 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
ctr 128 46336 engine=threads workers=all stores=ordinary | 25.5 GB/s | engine=serial stores=ordinary 24.0 GB/s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
ctr 128 33554432 engine=threads workers=all stores=streaming | 35.9 GB/s | engine=threads workers=all stores=ordinary 29.9 GB/s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
ctr 256 64 engine=serial | 3.09 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
ctr 256 16384 engine=serial stores=ordinary | 17.3 GB/s | engine=threads workers=all stores=ordinary 12.7 GB/s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
ctr 256 32768 engine=threads workers=all stores=ordinary | 18.7 GB/s | engine=serial stores=ordinary 17.6 GB/s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
ctr 256 23726336 engine=threads workers=all stores=streaming | 35.5 GB/s | engine=threads workers=all stores=ordinary 34.4 GB/s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
xts 128 64 engine=serial | 2.81 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
xts 128 16384 engine=serial stores=ordinary | 16.0 GB/s | engine=threads workers=all stores=ordinary 12.4 GB/s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
xts 128 27392 engine=threads workers=all stores=ordinary | 19.1 GB/s | engine=serial stores=ordinary 16.6 GB/s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
xts 256 64 engine=serial | 2.24 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
xts 256 16384 engine=serial stores=ordinary | 12.9 GB/s | engine=threads workers=all stores=ordinary 11.8 GB/s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
xts 256 19200 engine=threads workers=all stores=ordinary | 14.3 GB/s | engine=serial stores=ordinary 13.2 GB/s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
gcm 128 64 engine=serial | 1.15 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
gcm 128 16384 engine=serial stores=ordinary | 14.1 GB/s | engine=threads workers=all stores=ordinary 10.1 GB/s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
gcm 128 32768 engine=threads workers=all stores=ordinary | 14.7 GB/s | engine=serial stores=ordinary 14.2 GB/s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
gcm 128 1048576 engine=threads workers=all stores=streaming | 28.8 GB/s | engine=threads workers=all stores=ordinary 27.4 GB/s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
gcm 256 64 engine=serial | 1.05 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
gcm 256 16384 engine=serial stores=ordinary | 12.9 GB/s | engine=threads workers=all stores=ordinary 9.74 GB/s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
gcm 256 32768 engine=threads workers=all stores=ordinary | 14.2 GB/s | engine=serial stores=ordinary 13.3 GB/s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
gcm 256 1048576 engine=threads workers=all stores=streaming | 25.7 GB/s | engine=threads workers=all stores=ordinary 24.3 GB/s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
chunks 256 16384 engine=serial stores=ordinary | 12.0 GB/s | engine=threads workers=all stores=ordinary 8.87 GB/s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
chunks 256 77824 engine=threads workers=all stores=ordinary | 13.3 GB/s | engine=serial stores=ordinary 12.7 GB/s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
messages 256 16384 engine=serial | 7.94 GB/s | engine=threads workers=all 6.04 GB/s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
messages 256 92672 engine=threads workers=all | 10.1 GB/s | engine=serial 8.14 GB/s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
files 256 16384 engine=serial batch=1 | 0.4873 GB/s | engine=threads workers=all batch=1 0.4796 GB/s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
files 256 2097152 engine=threads workers=all batch=2 | 1.91 GB/s | engine=threads workers=all batch=1 1.82 GB/s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
files 256 16777216 engine=threads workers=all batch=4 | 1.97 GB/s | engine=threads workers=all batch=2 1.89 GB/s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
rsa-private 2048 1 engine=threads workers=all row=avx2 layers=halves | 4998 /s | engine=threads workers=all row=adx layers=halves 5009 /s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
rsa-private 2048 2 engine=serial row=avx2 layers=together | 4915 /s | engine=threads workers=all row=adx layers=together 4965 /s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
rsa-private 2048 3 engine=threads workers=all row=avx2 layers=together | 7066 /s | - | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
rsa-private 4096 1 engine=threads workers=all row=avx2 layers=halves | 751 /s | engine=threads workers=all row=adx layers=halves 751 /s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
rsa-private 4096 2 engine=threads workers=all row=adx layers=together | 739 /s | engine=serial row=avx2 layers=together 713 /s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
rsa-private 4096 3 engine=threads workers=all row=avx2 layers=together | 1097 /s | - | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
rsa-public 2048 1 engine=serial | 106311 /s | engine=threads workers=all 105397 /s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
rsa-public 2048 2 engine=threads workers=all | 191320 /s | - | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
rsa-public 2048 3 engine=serial | 130466 /s | engine=threads workers=all 126131 /s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
rsa-public 2048 5 engine=threads workers=all | 207457 /s | engine=serial 152808 /s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
rsa-public 4096 1 engine=serial | 29614 /s | engine=threads workers=all 29516 /s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
rsa-public 4096 2 engine=threads workers=all | 56410 /s | - | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
end 41

stockade-profile 1
# Experience data: docs/tuning.md. Written by 'stockade tune'.
# operation, bits of the key, length from which on, choice | score | runner-up | machine | date | commit
machine AMD EPYC, 2 cores
needs aesni clmul avx2 vaes vpclmul
lacks avx512
cores 2
ctr 128 64 engine=serial | 3.49 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
ctr 128 16384 engine=serial stores=ordinary | 24.1 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
ctr 128 46336 engine=threads workers=all stores=ordinary | 27.3 GB/s | engine=serial stores=ordinary 25.4 GB/s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
ctr 128 28215552 engine=threads workers=all stores=streaming | 36.6 GB/s | engine=threads workers=all stores=ordinary 34.4 GB/s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
ctr 256 64 engine=serial | 3.45 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
ctr 256 16384 engine=serial stores=ordinary | 17.9 GB/s | engine=threads workers=all stores=ordinary 13.1 GB/s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
ctr 256 32768 engine=threads workers=all stores=ordinary | 19.3 GB/s | engine=serial stores=ordinary 18.1 GB/s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
ctr 256 33554432 engine=threads workers=all stores=streaming | 35.5 GB/s | engine=threads workers=all stores=ordinary 31.9 GB/s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
xts 128 64 engine=serial | 2.77 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
xts 128 16384 engine=serial stores=ordinary | 16.3 GB/s | engine=threads workers=all stores=ordinary 12.9 GB/s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
xts 128 27392 engine=threads workers=all stores=ordinary | 19.7 GB/s | engine=serial stores=ordinary 17.1 GB/s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
xts 256 64 engine=serial | 2.34 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
xts 256 16384 engine=serial stores=ordinary | 13.3 GB/s | engine=threads workers=all stores=ordinary 9.85 GB/s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
xts 256 23040 engine=threads workers=all stores=ordinary | 14.0 GB/s | engine=serial stores=ordinary 13.4 GB/s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
gcm 128 64 engine=serial | 1.17 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
gcm 128 16384 engine=serial stores=ordinary | 14.5 GB/s | engine=threads workers=all stores=ordinary 10.1 GB/s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
gcm 128 32768 engine=threads workers=all stores=ordinary | 14.9 GB/s | engine=serial stores=ordinary 14.4 GB/s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
gcm 128 5931520 engine=threads workers=all stores=streaming | 24.8 GB/s | engine=threads workers=all stores=ordinary 23.0 GB/s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
gcm 256 64 engine=serial | 1.06 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
gcm 256 16384 engine=serial stores=ordinary | 13.4 GB/s | engine=threads workers=all stores=ordinary 9.73 GB/s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
gcm 256 32768 engine=threads workers=all stores=ordinary | 14.4 GB/s | engine=serial stores=ordinary 13.5 GB/s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
chunks 256 16384 engine=serial stores=ordinary | 12.2 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
chunks 256 92672 engine=threads workers=all stores=ordinary | 15.9 GB/s | engine=serial stores=ordinary 13.0 GB/s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
messages 256 16384 engine=serial | 8.24 GB/s | engine=threads workers=all 6.27 GB/s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
messages 256 77824 engine=threads workers=all | 8.79 GB/s | engine=serial 8.36 GB/s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
files 256 16384 engine=serial batch=1 | 0.5054 GB/s | engine=threads workers=all batch=1 0.5032 GB/s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
files 256 2965760 engine=threads workers=all batch=2 | 1.99 GB/s | engine=serial batch=2 1.91 GB/s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
files 256 47452928 engine=threads workers=all batch=4 | 2.00 GB/s | engine=threads workers=all batch=2 1.91 GB/s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
rsa-private 2048 1 engine=threads workers=all row=avx2 layers=halves | 5136 /s | engine=threads workers=all row=adx layers=halves 5097 /s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
rsa-private 2048 2 engine=threads workers=all row=avx2 layers=together | 5155 /s | engine=threads workers=all row=adx layers=together 5192 /s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
rsa-private 4096 1 engine=threads workers=all row=avx2 layers=halves | 777 /s | engine=threads workers=all row=adx layers=halves 777 /s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
rsa-private 4096 2 engine=serial row=avx2 layers=together | 765 /s | engine=threads workers=all row=adx layers=together 777 /s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
rsa-private 4096 3 engine=threads workers=all row=avx2 layers=together | 1106 /s | - | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
rsa-public 2048 1 engine=serial | 107956 /s | engine=threads workers=all 108221 /s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
rsa-public 2048 2 engine=threads workers=all | 170196 /s | - | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
rsa-public 2048 3 engine=serial | 134217 /s | engine=threads workers=all 129827 /s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
rsa-public 2048 5 engine=threads workers=all | 207597 /s | engine=serial 157059 /s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
rsa-public 4096 1 engine=serial | 30116 /s | engine=threads workers=all 30136 /s | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
rsa-public 4096 2 engine=threads workers=all | 56147 /s | - | AMD EPYC, 2 cores | 2026-11-22 | c7731a7f0253
end 39

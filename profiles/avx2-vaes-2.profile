stockade-profile 1
# Experience data: docs/tuning.md. Written by 'stockade tune'.
# operation, bits of the key, length from which on, choice | score | runner-up | machine | date | commit
machine AMD EPYC, 2 cores
needs aesni clmul avx2 vaes vpclmul
lacks avx512
cores 2
ctr 128 64 engine=serial | 3.63 GB/s | - | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
ctr 128 16384 engine=serial stores=ordinary | 23.5 GB/s | - | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
ctr 128 25088 engine=threads workers=all stores=ordinary | 25.8 GB/s | engine=serial stores=ordinary 25.0 GB/s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
ctr 128 23726336 engine=threads workers=all stores=streaming | 39.1 GB/s | engine=threads workers=all stores=ordinary 36.6 GB/s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
ctr 256 64 engine=serial | 3.31 GB/s | - | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
ctr 256 16384 engine=serial stores=ordinary | 18.2 GB/s | engine=threads workers=all stores=ordinary 18.1 GB/s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
ctr 256 19200 engine=threads workers=all stores=ordinary | 19.9 GB/s | engine=serial stores=ordinary 19.0 GB/s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
ctr 256 23726336 engine=threads workers=all stores=streaming | 33.8 GB/s | engine=threads workers=all stores=ordinary 32.3 GB/s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
xts 128 64 engine=serial | 2.61 GB/s | - | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
xts 128 14848 engine=threads workers=all | 17.2 GB/s | engine=serial 16.6 GB/s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
xts 128 16384 engine=threads workers=all stores=ordinary | 17.8 GB/s | engine=serial stores=ordinary 16.5 GB/s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
xts 256 64 engine=serial | 2.30 GB/s | - | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
xts 256 13568 engine=threads workers=all | 14.3 GB/s | engine=serial 13.2 GB/s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
xts 256 16384 engine=threads workers=all stores=ordinary | 15.7 GB/s | engine=serial stores=ordinary 13.3 GB/s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
gcm 128 64 engine=serial | 1.16 GB/s | - | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
gcm 128 16384 engine=serial stores=ordinary | 14.6 GB/s | engine=threads workers=all stores=ordinary 13.6 GB/s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
gcm 128 20992 engine=threads workers=all stores=ordinary | 15.6 GB/s | engine=serial stores=ordinary 14.7 GB/s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
gcm 128 19951360 engine=threads workers=all stores=streaming | 24.9 GB/s | engine=threads workers=all stores=ordinary 24.2 GB/s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
gcm 256 64 engine=serial | 1.06 GB/s | - | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
gcm 256 16384 engine=serial stores=ordinary | 13.5 GB/s | engine=threads workers=all stores=ordinary 13.3 GB/s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
gcm 256 17664 engine=threads workers=all stores=ordinary | 14.1 GB/s | engine=serial stores=ordinary 13.6 GB/s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
chunks 256 16384 engine=serial stores=ordinary | 12.3 GB/s | engine=threads workers=all stores=ordinary 10.5 GB/s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
chunks 256 77824 engine=threads workers=all stores=ordinary | 14.9 GB/s | engine=serial stores=ordinary 13.2 GB/s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
messages 256 16384 engine=serial | 8.31 GB/s | engine=threads workers=all 7.21 GB/s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
messages 256 71168 engine=threads workers=all | 8.73 GB/s | engine=serial 8.44 GB/s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
files 256 16384 engine=serial batch=1 | 0.5051 GB/s | engine=threads workers=all batch=1 0.5002 GB/s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
files 256 3526912 engine=threads workers=all batch=2 | 1.83 GB/s | engine=serial batch=2 1.76 GB/s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
rsa-private 2048 1 engine=threads workers=all row=avx2 layers=halves | 5158 /s | engine=threads workers=all row=adx layers=halves 5140 /s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
rsa-private 2048 2 engine=serial row=avx2 layers=together | 5022 /s | engine=threads workers=all row=adx layers=together 5129 /s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
rsa-private 2048 3 engine=threads workers=all row=avx2 layers=together | 5369 /s | - | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
rsa-private 4096 1 engine=threads workers=all row=avx2 layers=halves | 788 /s | engine=threads workers=all row=adx layers=halves 786 /s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
rsa-private 4096 2 engine=serial row=avx2 layers=together | 767 /s | engine=threads workers=all row=adx layers=together 787 /s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
rsa-private 4096 3 engine=threads workers=all row=avx2 layers=together | 1145 /s | - | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
rsa-public 2048 1 engine=serial | 110360 /s | engine=threads workers=all 109873 /s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
rsa-public 2048 2 engine=threads workers=all | 210736 /s | engine=serial 91861 /s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
rsa-public 4096 1 engine=serial | 30388 /s | engine=threads workers=all 30384 /s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
rsa-public 4096 2 engine=threads workers=all | 59803 /s | engine=serial 24991 /s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
end 37

stockade-profile 1
# Experience data: docs/tuning.md. Written by 'stockade tune'.
# operation, bits of the key, length from which on, choice | score | runner-up | machine | date | commit
machine AMD EPYC, 2 cores
needs aesni clmul avx2 vaes vpclmul avx512
cores 2
ctr 128 64 engine=serial | 3.75 GB/s | - | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
ctr 128 16384 engine=serial stores=ordinary | 45.7 GB/s | engine=threads workers=all stores=ordinary 26.1 GB/s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
ctr 128 50432 engine=threads workers=all stores=ordinary | 52.4 GB/s | engine=serial stores=ordinary 50.0 GB/s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
ctr 128 23726336 engine=threads workers=all stores=streaming | 47.0 GB/s | engine=threads workers=all stores=ordinary 43.1 GB/s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
ctr 256 64 engine=serial | 3.39 GB/s | - | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
ctr 256 16384 engine=serial stores=ordinary | 33.1 GB/s | engine=threads workers=all stores=ordinary 24.5 GB/s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
ctr 256 35584 engine=threads workers=all stores=ordinary | 38.4 GB/s | engine=serial stores=ordinary 35.6 GB/s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
ctr 256 23726336 engine=threads workers=all stores=streaming | 43.6 GB/s | engine=threads workers=all stores=ordinary 41.2 GB/s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
xts 128 64 engine=serial | 1.75 GB/s | - | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
xts 128 16384 engine=serial stores=ordinary | 28.4 GB/s | engine=threads workers=all stores=ordinary 23.9 GB/s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
xts 128 29952 engine=threads workers=all stores=ordinary | 32.7 GB/s | engine=serial stores=ordinary 30.9 GB/s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
xts 128 19951360 engine=threads workers=all stores=streaming | 29.5 GB/s | engine=threads workers=all stores=ordinary 28.8 GB/s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
xts 256 64 engine=serial | 1.50 GB/s | - | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
xts 256 16384 engine=serial stores=ordinary | 24.2 GB/s | engine=threads workers=all stores=ordinary 22.6 GB/s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
xts 256 20992 engine=threads workers=all stores=ordinary | 26.4 GB/s | engine=serial stores=ordinary 24.9 GB/s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
xts 256 19951360 engine=threads workers=all stores=streaming | 28.5 GB/s | engine=threads workers=all stores=ordinary 27.7 GB/s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
gcm 128 64 engine=serial | 1.17 GB/s | - | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
gcm 128 16384 engine=serial stores=ordinary | 26.9 GB/s | engine=threads workers=all stores=ordinary 18.5 GB/s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
gcm 128 35584 engine=threads workers=all stores=ordinary | 29.0 GB/s | engine=serial stores=ordinary 27.5 GB/s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
gcm 128 25873664 engine=threads workers=all stores=streaming | 41.1 GB/s | engine=threads workers=all stores=ordinary 37.8 GB/s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
gcm 256 64 engine=serial | 1.12 GB/s | - | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
gcm 256 16384 engine=serial stores=ordinary | 25.4 GB/s | engine=threads workers=all stores=ordinary 18.0 GB/s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
gcm 256 35584 engine=threads workers=all stores=ordinary | 27.5 GB/s | engine=serial stores=ordinary 25.9 GB/s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
gcm 256 23726336 engine=threads workers=all stores=streaming | 42.6 GB/s | engine=threads workers=all stores=ordinary 41.1 GB/s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
chunks 256 16384 engine=serial stores=ordinary | 21.2 GB/s | engine=threads workers=all stores=ordinary 16.6 GB/s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
chunks 256 77824 engine=threads workers=all stores=ordinary | 26.1 GB/s | engine=serial stores=ordinary 24.0 GB/s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
messages 256 16384 engine=serial | 11.2 GB/s | engine=threads workers=all 9.23 GB/s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
messages 256 77824 engine=threads workers=all | 12.8 GB/s | engine=serial 12.1 GB/s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
files 256 16384 engine=serial batch=1 | 0.5158 GB/s | engine=threads workers=all batch=1 0.5165 GB/s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
files 256 5931520 engine=threads workers=all batch=4 | 1.90 GB/s | engine=threads workers=all batch=2 1.83 GB/s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
rsa-private 2048 1 engine=serial row=ifma layers=together | 7130 /s | engine=threads workers=all row=ifma layers=halves 7063 /s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
rsa-private 2048 2 engine=threads workers=all row=ifma layers=together | 13209 /s | engine=serial row=ifma layers=together 7981 /s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
rsa-private 2048 4 engine=serial row=ifma layers=together | 15136 /s | engine=threads workers=all row=ifma layers=together 14581 /s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
rsa-private 2048 5 engine=threads workers=all row=ifma layers=together | 17824 /s | engine=serial row=ifma layers=together 12769 /s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
rsa-private 4096 1 engine=threads workers=all row=ifma layers=halves | 802 /s | engine=threads workers=all row=adx layers=halves 805 /s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
rsa-private 4096 2 engine=serial row=ifma layers=together | 1140 /s | engine=threads workers=all row=ifma layers=together 1121 /s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
rsa-private 4096 5 engine=threads workers=all row=ifma layers=together | 2656 /s | - | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
rsa-public 2048 1 engine=serial | 115297 /s | engine=threads workers=all 115130 /s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
rsa-public 2048 2 engine=threads workers=all | 219813 /s | engine=serial 149854 /s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
rsa-public 4096 1 engine=serial | 31943 /s | engine=threads workers=all 31615 /s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
rsa-public 4096 2 engine=threads workers=all | 62198 /s | engine=serial 44011 /s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
rsa-public 4096 4 engine=serial | 86230 /s | engine=threads workers=all 84537 /s | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
rsa-public 4096 9 engine=threads workers=all | 180416 /s | - | AMD EPYC, 2 cores | 2026-11-23 | f81b9c3789fa
end 43

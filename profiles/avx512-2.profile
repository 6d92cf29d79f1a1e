stockade-profile 1
# Experience data: docs/tuning.md. Written by 'stockade tune'.
# operation, bits of the key, length from which on, choice | score | runner-up | machine | date | commit
machine AMD EPYC, 2 cores
needs aesni clmul avx2 vaes vpclmul avx512
cores 2
ctr 128 64 engine=serial | 3.93 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
ctr 128 16384 engine=serial stores=ordinary | 42.1 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
ctr 128 92672 engine=threads workers=all stores=ordinary | 49.4 GB/s | engine=serial stores=ordinary 47.3 GB/s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
ctr 128 33554432 engine=threads workers=all stores=streaming | 37.5 GB/s | engine=serial stores=streaming 31.1 GB/s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
ctr 256 64 engine=serial | 1.80 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
ctr 256 16384 engine=serial stores=ordinary | 22.2 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
ctr 256 77824 engine=threads workers=all stores=ordinary | 37.3 GB/s | engine=serial stores=ordinary 32.6 GB/s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
ctr 256 23726336 engine=threads workers=all stores=streaming | 39.3 GB/s | engine=threads workers=all stores=ordinary 37.0 GB/s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
ctr 256 67108864 engine=serial stores=streaming | 29.4 GB/s | engine=threads workers=all stores=streaming 28.5 GB/s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
xts 128 64 engine=serial | 1.59 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
xts 128 16384 engine=serial stores=ordinary | 25.0 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
xts 128 65536 engine=threads workers=all stores=ordinary | 34.0 GB/s | engine=serial stores=ordinary 31.1 GB/s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
xts 128 19951360 engine=threads workers=all stores=streaming | 28.2 GB/s | engine=threads workers=all stores=ordinary 24.7 GB/s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
xts 256 64 engine=serial | 1.41 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
xts 256 16384 engine=serial stores=ordinary | 21.7 GB/s | engine=threads workers=all stores=ordinary 13.5 GB/s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
xts 256 46336 engine=threads workers=all stores=ordinary | 25.8 GB/s | engine=serial stores=ordinary 24.9 GB/s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
xts 256 19951360 engine=threads workers=all stores=streaming | 28.6 GB/s | engine=threads workers=all stores=ordinary 27.1 GB/s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
gcm 128 64 engine=serial | 1.15 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
gcm 128 16384 engine=serial stores=ordinary | 25.3 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
gcm 128 65536 engine=threads workers=all stores=ordinary | 27.4 GB/s | engine=serial stores=ordinary 26.3 GB/s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
gcm 128 23726336 engine=threads workers=all stores=streaming | 40.2 GB/s | engine=threads workers=all stores=ordinary 36.2 GB/s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
gcm 256 64 engine=serial | 1.04 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
gcm 256 16384 engine=serial stores=ordinary | 23.9 GB/s | - | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
gcm 256 65536 engine=threads workers=all stores=ordinary | 21.9 GB/s | engine=serial stores=ordinary 20.3 GB/s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
gcm 256 23726336 engine=threads workers=all stores=streaming | 39.9 GB/s | engine=threads workers=all stores=ordinary 38.0 GB/s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
chunks 256 16384 engine=serial stores=ordinary | 19.8 GB/s | engine=threads workers=all stores=ordinary 12.2 GB/s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
chunks 256 92672 engine=threads workers=all stores=ordinary | 25.1 GB/s | engine=serial stores=ordinary 22.7 GB/s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
chunks 256 67108864 engine=threads workers=all stores=streaming | 21.0 GB/s | engine=threads workers=all stores=ordinary 20.3 GB/s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
messages 256 16384 engine=serial | 10.4 GB/s | engine=threads workers=all 6.71 GB/s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
messages 256 92672 engine=threads workers=all | 13.0 GB/s | engine=serial 11.0 GB/s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
files 256 16384 engine=serial batch=1 | 0.5017 GB/s | engine=threads workers=all batch=1 0.4965 GB/s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
files 256 262144 engine=threads workers=all batch=1 | 1.67 GB/s | engine=serial batch=1 1.60 GB/s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
files 256 311552 engine=serial batch=1 | 1.77 GB/s | engine=threads workers=all batch=1 1.55 GB/s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
files 256 4987648 engine=serial batch=4 | 1.95 GB/s | engine=threads workers=all batch=4 1.97 GB/s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
files 256 5931520 engine=threads workers=all batch=4 | 2.00 GB/s | engine=threads workers=all batch=2 1.92 GB/s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
rsa-private 2048 1 engine=serial row=ifma layers=together | 6722 /s | engine=threads workers=all row=ifma layers=halves 6478 /s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
rsa-private 2048 2 engine=threads workers=all row=ifma layers=together | 11104 /s | engine=serial row=ifma layers=together 7357 /s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
rsa-private 2048 3 engine=serial row=ifma layers=together | 10643 /s | engine=threads workers=all row=ifma layers=together 10018 /s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
rsa-private 2048 5 engine=threads workers=all row=ifma layers=together | 15499 /s | engine=serial row=ifma layers=together 11492 /s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
rsa-private 4096 1 engine=threads workers=all row=ifma layers=halves | 619 /s | engine=threads workers=all row=adx layers=halves 533 /s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
rsa-private 4096 2 engine=serial row=ifma layers=together | 1033 /s | engine=threads workers=all row=ifma layers=together 1037 /s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
rsa-private 4096 5 engine=threads workers=all row=ifma layers=together | 2485 /s | - | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
rsa-public 2048 1 engine=serial | 103065 /s | engine=threads workers=all 104943 /s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
rsa-public 2048 2 engine=threads workers=all | 156924 /s | engine=serial 138718 /s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
rsa-public 2048 3 engine=serial | 206345 /s | engine=threads workers=all 178358 /s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
rsa-public 2048 12 engine=threads workers=all | 677303 /s | engine=serial 392182 /s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
rsa-public 4096 1 engine=serial | 29215 /s | engine=threads workers=all 29391 /s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
rsa-public 4096 2 engine=threads workers=all | 48881 /s | engine=serial 40010 /s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
rsa-public 4096 5 engine=serial | 97678 /s | engine=threads workers=all 93742 /s | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
rsa-public 4096 12 engine=threads workers=all | 220948 /s | - | AMD EPYC, 2 cores | 2026-11-22 | 58c563a947ab
end 50

stockade-profile 1
# Experience data: docs/tuning.md. Written by 'stockade tune'.
# operation, bits of the key, length from which on, choice | score | runner-up | machine | date | commit
machine Intel(R) Xeon(R) Processor, 16 cores
needs aesni clmul avx2 vaes vpclmul avx512
cores 16
ctr 128 64 engine=serial | 2.53 GB/s | - | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
ctr 128 16384 engine=serial stores=ordinary | 20.2 GB/s | - | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
ctr 128 84736 engine=threads workers=2 stores=ordinary | 20.7 GB/s | engine=threads workers=4 stores=ordinary 19.9 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
ctr 128 92672 engine=threads workers=4 stores=ordinary | 22.8 GB/s | engine=threads workers=2 stores=ordinary 21.0 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
ctr 128 1048576 engine=threads workers=8 stores=ordinary | 83.0 GB/s | engine=threads workers=all stores=ordinary 80.9 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
ctr 128 4194304 engine=threads workers=all stores=ordinary | 131 GB/s | engine=threads workers=8 stores=ordinary 115 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
ctr 128 67108864 engine=threads workers=all stores=streaming | 167 GB/s | engine=threads workers=all stores=ordinary 147 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
ctr 256 64 engine=serial | 2.23 GB/s | - | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
ctr 256 16384 engine=serial stores=ordinary | 12.5 GB/s | - | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
ctr 256 262144 engine=threads workers=4 stores=ordinary | 31.5 GB/s | engine=threads workers=8 stores=ordinary 29.0 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
ctr 256 285696 engine=threads workers=8 stores=ordinary | 35.4 GB/s | engine=threads workers=4 stores=ordinary 32.7 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
ctr 256 741376 engine=threads workers=all stores=ordinary | 54.5 GB/s | engine=threads workers=8 stores=ordinary 49.4 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
xts 128 64 engine=serial | 1.59 GB/s | - | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
xts 128 16384 engine=serial stores=ordinary | 15.4 GB/s | - | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
xts 128 77824 engine=threads workers=4 stores=ordinary | 18.3 GB/s | engine=threads workers=2 stores=ordinary 17.2 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
xts 128 262144 engine=threads workers=8 stores=ordinary | 36.2 GB/s | engine=threads workers=4 stores=ordinary 33.9 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
xts 128 741376 engine=threads workers=all stores=ordinary | 61.4 GB/s | engine=threads workers=8 stores=ordinary 59.3 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
xts 256 64 engine=serial | 1.35 GB/s | - | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
xts 256 16384 engine=serial stores=ordinary | 13.5 GB/s | - | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
xts 256 59904 engine=threads workers=4 stores=ordinary | 13.5 GB/s | engine=threads workers=2 stores=ordinary 13.0 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
xts 256 1048576 engine=threads workers=all stores=ordinary | 71.7 GB/s | engine=threads workers=8 stores=ordinary 67.1 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gcm 128 64 engine=serial | 1.18 GB/s | - | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gcm 128 16384 engine=serial stores=ordinary | 17.9 GB/s | - | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gcm 128 131072 engine=threads workers=4 stores=ordinary | 22.3 GB/s | engine=threads workers=2 stores=ordinary 20.0 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gcm 128 339712 engine=threads workers=8 stores=ordinary | 40.6 GB/s | engine=threads workers=4 stores=ordinary 38.1 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gcm 128 741376 engine=threads workers=all stores=ordinary | 57.7 GB/s | engine=threads workers=8 stores=ordinary 55.0 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gcm 128 67108864 engine=threads workers=all stores=streaming | 155 GB/s | engine=threads workers=all stores=ordinary 140 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gcm 256 64 engine=serial | 0.8803 GB/s | - | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gcm 256 16384 engine=serial stores=ordinary | 12.3 GB/s | - | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gcm 256 77824 engine=threads workers=2 stores=ordinary | 15.2 GB/s | engine=threads workers=4 stores=ordinary 15.1 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gcm 256 100864 engine=threads workers=4 stores=ordinary | 18.1 GB/s | engine=threads workers=2 stores=ordinary 16.4 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gcm 256 370688 engine=threads workers=8 stores=ordinary | 36.5 GB/s | engine=threads workers=4 stores=ordinary 34.2 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gcm 256 1616896 engine=threads workers=all stores=ordinary | 79.4 GB/s | engine=threads workers=all stores=streaming 74.6 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gcm 256 67108864 engine=threads workers=all stores=streaming | 141 GB/s | engine=threads workers=all stores=ordinary 131 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
chunks 256 16384 engine=serial stores=ordinary | 14.8 GB/s | - | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
chunks 256 77824 engine=threads workers=2 stores=ordinary | 7.25 GB/s | engine=serial stores=ordinary 6.92 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
chunks 256 155648 engine=threads workers=4 stores=ordinary | 11.2 GB/s | engine=threads workers=8 stores=ordinary 10.4 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
chunks 256 285696 engine=threads workers=8 stores=ordinary | 17.4 GB/s | engine=threads workers=4 stores=ordinary 16.4 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
chunks 256 1048576 engine=threads workers=all stores=ordinary | 66.1 GB/s | engine=threads workers=all stores=streaming 66.8 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
messages 256 16384 engine=serial | 8.05 GB/s | - | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
messages 256 84736 engine=threads workers=2 | 7.65 GB/s | engine=serial 7.28 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
messages 256 185344 engine=threads workers=4 | 11.0 GB/s | engine=threads workers=8 10.7 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
messages 256 311552 engine=threads workers=8 | 15.7 GB/s | engine=threads workers=all 14.8 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
messages 256 741376 engine=threads workers=all | 24.7 GB/s | engine=threads workers=8 22.7 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
files 256 16384 engine=serial batch=1 | 0.5937 GB/s | engine=threads workers=all batch=1 0.5919 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
files 256 1246720 engine=threads workers=2 batch=1 | 3.01 GB/s | engine=serial batch=1 2.91 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
files 256 6468352 engine=threads workers=2 batch=2 | 4.08 GB/s | engine=threads workers=2 batch=1 3.84 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
files 256 11863040 engine=threads workers=2 batch=4 | 3.42 GB/s | engine=threads workers=2 batch=2 3.22 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
files 256 16777216 engine=threads workers=2 batch=2 | 3.87 GB/s | engine=threads workers=2 batch=4 3.73 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
files 256 47452928 engine=threads workers=2 batch=4 | 3.27 GB/s | engine=threads workers=2 batch=2 2.97 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
files 256 51747584 engine=threads workers=2 batch=2 | 3.05 GB/s | engine=threads workers=2 batch=4 2.87 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
rsa-private 2048 1 engine=serial row=ifma layers=together | 3028 /s | engine=threads workers=all row=ifma layers=halves 2941 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
rsa-private 2048 2 engine=threads workers=2 row=ifma layers=together | 5996 /s | engine=threads workers=8 row=ifma layers=together 5871 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
rsa-private 2048 3 engine=threads workers=4 row=ifma layers=together | 8515 /s | engine=threads workers=all row=ifma layers=together 8418 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
rsa-private 2048 4 engine=threads workers=8 row=ifma layers=together | 10751 /s | engine=threads workers=all row=ifma layers=together 10811 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
rsa-private 2048 8 engine=threads workers=all row=ifma layers=together | 14947 /s | engine=threads workers=8 row=ifma layers=together 14043 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
rsa-private 2048 24 engine=threads workers=8 row=ifma layers=together | 27851 /s | engine=threads workers=4 row=ifma layers=together 24229 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
rsa-private 2048 64 engine=threads workers=all row=ifma layers=together | 39431 /s | engine=threads workers=8 row=ifma layers=together 35082 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
rsa-private 4096 1 engine=threads workers=all row=ifma layers=halves | 390 /s | engine=threads workers=all row=avx2 layers=halves 391 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
rsa-private 4096 4 engine=serial row=ifma layers=together | 1209 /s | engine=threads workers=2 row=ifma layers=together 1119 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
rsa-private 4096 5 engine=threads workers=2 row=ifma layers=together | 1550 /s | engine=threads workers=4 row=ifma layers=together 1450 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
rsa-private 4096 12 engine=threads workers=4 row=ifma layers=together | 3677 /s | engine=threads workers=8 row=ifma layers=together 2630 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
rsa-public 2048 1 engine=threads workers=4 | 64932 /s | engine=serial 63004 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
rsa-public 2048 2 engine=threads workers=8 | 112025 /s | engine=threads workers=all 114443 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
rsa-public 2048 3 engine=serial | 126827 /s | engine=threads workers=4 129553 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
rsa-public 2048 8 engine=threads workers=8 | 274992 /s | engine=threads workers=all 280477 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
rsa-public 2048 12 engine=threads workers=all | 397150 /s | engine=threads workers=2 377670 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
rsa-public 2048 24 engine=threads workers=4 | 589193 /s | engine=threads workers=8 561640 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
rsa-public 2048 48 engine=threads workers=8 | 1090184 /s | engine=threads workers=all 982291 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
rsa-public 4096 1 engine=threads workers=4 | 15675 /s | engine=threads workers=8 15470 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
rsa-public 4096 2 engine=threads workers=2 | 31401 /s | engine=threads workers=all 31565 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
rsa-public 4096 3 engine=threads workers=8 | 36757 /s | engine=threads workers=all 37655 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
rsa-public 4096 4 engine=serial | 48654 /s | engine=threads workers=4 47102 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
rsa-public 4096 12 engine=threads workers=2 | 140299 /s | engine=threads workers=4 127670 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
end 74

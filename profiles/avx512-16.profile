stockade-profile 1
# Experience data: docs/tuning.md. Written by 'stockade tune'.
# operation, bits of the key, length from which on, choice | score | runner-up | machine | date | commit
machine Intel(R) Xeon(R) Processor, 16 cores
needs aesni clmul avx2 vaes vpclmul avx512
cores 16
ctr 128 64 engine=serial | 1.26 GB/s | - | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
ctr 128 16384 engine=serial stores=ordinary | 13.7 GB/s | engine=threads workers=4 stores=ordinary 2.73 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
ctr 128 65536 engine=threads workers=4 stores=ordinary | 19.6 GB/s | engine=serial stores=ordinary 17.6 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
ctr 128 185344 engine=threads workers=8 stores=ordinary | 28.8 GB/s | engine=threads workers=4 stores=ordinary 25.8 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
ctr 128 1048576 engine=threads workers=all stores=ordinary | 82.8 GB/s | engine=threads workers=8 stores=streaming 75.1 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
ctr 128 47452928 engine=threads workers=all stores=streaming | 156 GB/s | engine=threads workers=all stores=ordinary 147 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
ctr 256 64 engine=serial | 1.26 GB/s | - | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
ctr 256 16384 engine=serial stores=ordinary | 11.9 GB/s | engine=threads workers=2 stores=ordinary 8.63 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
ctr 256 38912 engine=threads workers=2 stores=ordinary | 11.2 GB/s | engine=threads workers=4 stores=ordinary 11.0 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
ctr 256 55040 engine=threads workers=4 stores=ordinary | 13.9 GB/s | engine=threads workers=2 stores=ordinary 13.2 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
ctr 256 142592 engine=threads workers=8 stores=ordinary | 17.7 GB/s | engine=threads workers=4 stores=ordinary 16.9 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
ctr 256 370688 engine=threads workers=all stores=ordinary | 38.1 GB/s | engine=threads workers=8 stores=ordinary 36.4 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
xts 128 64 engine=serial | 0.9591 GB/s | - | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
xts 128 16384 engine=serial stores=ordinary | 13.5 GB/s | engine=threads workers=2 stores=ordinary 6.78 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
xts 128 55040 engine=threads workers=2 stores=ordinary | 15.5 GB/s | engine=threads workers=4 stores=ordinary 15.1 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
xts 128 71168 engine=threads workers=4 stores=ordinary | 17.6 GB/s | engine=threads workers=2 stores=ordinary 16.6 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
xts 128 185344 engine=threads workers=8 stores=ordinary | 34.8 GB/s | engine=threads workers=4 stores=ordinary 31.2 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
xts 128 623360 engine=threads workers=all stores=ordinary | 57.6 GB/s | engine=threads workers=8 stores=ordinary 52.9 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
xts 256 64 engine=serial | 1.04 GB/s | - | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
xts 256 16384 engine=serial stores=ordinary | 10.2 GB/s | engine=threads workers=4 stores=ordinary 5.33 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
xts 256 38912 engine=threads workers=2 stores=ordinary | 11.8 GB/s | engine=threads workers=4 stores=ordinary 11.7 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
xts 256 46336 engine=threads workers=4 stores=ordinary | 12.6 GB/s | engine=threads workers=2 stores=ordinary 12.0 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
xts 256 142592 engine=threads workers=8 stores=ordinary | 24.9 GB/s | engine=threads workers=4 stores=ordinary 21.9 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
xts 256 480512 engine=threads workers=all stores=ordinary | 46.1 GB/s | engine=threads workers=8 stores=ordinary 38.0 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
gcm 128 64 engine=serial | 0.5966 GB/s | - | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
gcm 128 16384 engine=serial stores=ordinary | 14.4 GB/s | engine=threads workers=4 stores=ordinary 4.54 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
gcm 128 65536 engine=threads workers=4 stores=ordinary | 15.8 GB/s | engine=serial stores=ordinary 15.0 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
gcm 128 185344 engine=threads workers=8 stores=ordinary | 28.5 GB/s | engine=threads workers=4 stores=ordinary 23.0 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
gcm 128 741376 engine=threads workers=all stores=ordinary | 56.5 GB/s | engine=threads workers=8 stores=ordinary 50.7 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
gcm 128 11863040 engine=threads workers=all stores=streaming | 102 GB/s | engine=threads workers=all stores=ordinary 89.9 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
gcm 256 64 engine=serial | 0.8012 GB/s | - | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
gcm 256 16384 engine=serial stores=ordinary | 11.1 GB/s | - | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
gcm 256 77824 engine=threads workers=4 stores=ordinary | 13.3 GB/s | engine=threads workers=2 stores=ordinary 12.1 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
gcm 256 110080 engine=threads workers=8 stores=ordinary | 17.8 GB/s | engine=threads workers=4 stores=ordinary 16.9 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
gcm 256 524288 engine=threads workers=all stores=ordinary | 48.2 GB/s | engine=threads workers=8 stores=ordinary 46.1 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
gcm 256 23726336 engine=threads workers=all stores=streaming | 100 GB/s | engine=threads workers=all stores=ordinary 82.2 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
chunks 256 16384 engine=serial stores=ordinary | 6.84 GB/s | engine=threads workers=2 stores=ordinary 4.81 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
chunks 256 65536 engine=threads workers=2 stores=ordinary | 5.81 GB/s | engine=threads workers=4 stores=ordinary 5.64 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
chunks 256 142592 engine=threads workers=4 stores=ordinary | 10.6 GB/s | engine=threads workers=8 stores=ordinary 10.2 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
chunks 256 285696 engine=threads workers=8 stores=ordinary | 19.8 GB/s | engine=threads workers=all stores=ordinary 18.9 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
chunks 256 571648 engine=threads workers=all stores=ordinary | 34.5 GB/s | engine=threads workers=8 stores=ordinary 25.1 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
messages 256 16384 engine=serial | 5.19 GB/s | - | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
messages 256 77824 engine=threads workers=2 | 6.29 GB/s | engine=serial 6.09 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
messages 256 155648 engine=threads workers=4 | 9.01 GB/s | engine=threads workers=2 8.04 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
messages 256 285696 engine=threads workers=8 | 13.1 GB/s | engine=threads workers=all 12.1 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
messages 256 679680 engine=threads workers=all | 22.3 GB/s | engine=threads workers=8 20.9 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
files 256 16384 engine=serial batch=1 | 0.4058 GB/s | engine=threads workers=2 batch=1 0.4094 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
files 256 1048576 engine=threads workers=2 batch=1 | 2.92 GB/s | engine=threads workers=all batch=1 2.92 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
files 256 4194304 engine=threads workers=2 batch=2 | 2.82 GB/s | engine=threads workers=2 batch=1 2.72 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
rsa-private 2048 1 engine=threads workers=all row=ifma layers=halves | 2474 /s | engine=threads workers=all row=avx2 layers=halves 1813 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
rsa-private 2048 2 engine=threads workers=2 row=ifma layers=together | 4666 /s | engine=threads workers=all row=ifma layers=together 4604 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
rsa-private 2048 3 engine=threads workers=4 row=ifma layers=together | 6930 /s | engine=threads workers=8 row=ifma layers=together 6882 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
rsa-private 2048 4 engine=threads workers=8 row=ifma layers=together | 6843 /s | engine=threads workers=all row=ifma layers=together 6982 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
rsa-private 2048 9 engine=threads workers=all row=ifma layers=together | 15292 /s | engine=threads workers=4 row=ifma layers=together 10826 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
rsa-private 2048 32 engine=threads workers=8 row=ifma layers=together | 25704 /s | engine=threads workers=all row=ifma layers=together 24991 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
rsa-private 2048 39 engine=threads workers=all row=ifma layers=together | 31125 /s | engine=threads workers=8 row=ifma layers=together 29987 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
rsa-private 4096 1 engine=threads workers=all row=ifma layers=halves | 413 /s | engine=threads workers=all row=avx2 layers=halves 412 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
rsa-private 4096 2 engine=threads workers=all row=avx2 layers=halves | 555 /s | engine=threads workers=all row=adx layers=halves 553 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
rsa-private 4096 3 engine=serial row=ifma layers=together | 948 /s | engine=threads workers=2 row=ifma layers=together 932 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
rsa-private 4096 4 engine=threads workers=2 row=ifma layers=together | 1310 /s | engine=threads workers=all row=ifma layers=halves 1267 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
rsa-private 4096 6 engine=threads workers=all row=ifma layers=halves | 1336 /s | engine=threads workers=all row=avx2 layers=halves 1336 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
rsa-private 4096 7 engine=threads workers=2 row=ifma layers=together | 2074 /s | engine=threads workers=4 row=ifma layers=together 1736 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
rsa-private 4096 9 engine=threads workers=4 row=ifma layers=together | 3414 /s | engine=threads workers=8 row=ifma layers=together 2988 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 58bfbe095505+
rsa-private 4096 16 engine=threads workers=8 row=ifma layers=together | 2558 /s | engine=threads workers=all row=ifma layers=together 2482 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
rsa-public 2048 1 engine=serial | 59059 /s | engine=threads workers=all 59130 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
rsa-public 2048 2 engine=threads workers=8 | 102260 /s | engine=threads workers=4 99140 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
rsa-public 2048 4 engine=serial | 165441 /s | engine=threads workers=8 147840 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
rsa-public 2048 9 engine=threads workers=2 | 344269 /s | engine=threads workers=4 315091 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
rsa-public 2048 17 engine=threads workers=4 | 430386 /s | engine=threads workers=8 413216 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
rsa-public 2048 19 engine=threads workers=8 | 492173 /s | engine=threads workers=4 475586 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
rsa-public 2048 22 engine=threads workers=4 | 544892 /s | engine=threads workers=8 516092 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
rsa-public 2048 33 engine=threads workers=8 | 752182 /s | engine=threads workers=all 655335 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
rsa-public 2048 59 engine=threads workers=all | 1162604 /s | engine=threads workers=8 1125294 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
rsa-public 4096 1 engine=serial | 16007 /s | engine=threads workers=4 16207 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
rsa-public 4096 2 engine=threads workers=2 | 19878 /s | engine=threads workers=8 19969 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
rsa-public 4096 3 engine=threads workers=4 | 28722 /s | engine=threads workers=all 28952 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
rsa-public 4096 5 engine=serial | 64003 /s | engine=threads workers=2 63862 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
rsa-public 4096 9 engine=threads workers=2 | 99021 /s | engine=threads workers=all 100470 /s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-23 | f81b9c3789fa
end 78

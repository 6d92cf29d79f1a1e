stockade-profile 1
# Experience data: docs/tuning.md. Written by 'stockade tune'.
# operation, bits of the key, length from which on, choice | score | runner-up | machine | date | commit
machine Intel(R) Xeon(R) Processor, 16 cores
cores 16
gpu NVIDIA H200
gpu-ecb 128 64 threads=768 blocks=1 per_sm=1 | 0.0150 GB/s | threads=768 blocks=2 per_sm=1 0.0151 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-ecb 128 256 threads=1024 blocks=2 per_sm=1 | 0.0590 GB/s | threads=768 blocks=2 per_sm=1 0.0599 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-ecb 128 4096 threads=768 blocks=1 per_sm=1 | 1.20 GB/s | threads=832 blocks=2 per_sm=2 1.21 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-ecb 128 16384 threads=1024 blocks=2 per_sm=1 | 4.63 GB/s | threads=768 blocks=2 per_sm=1 4.70 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-ecb 128 1048576 threads=640 blocks=1 per_sm=1 | 222 GB/s | threads=768 blocks=2 per_sm=1 225 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-ecb 128 4194304 threads=1024 blocks=2 per_sm=1 | 448 GB/s | threads=1024 blocks=1 per_sm=1 445 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-ecb 128 16777216 threads=768 blocks=1 per_sm=1 | 617 GB/s | threads=896 blocks=4 per_sm=1 627 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-ecb 128 67108864 threads=1024 blocks=2 per_sm=1 | 697 GB/s | threads=768 blocks=2 per_sm=1 699 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-ecb 256 64 threads=768 blocks=1 per_sm=1 | 0.0139 GB/s | threads=832 blocks=2 per_sm=2 0.0140 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-ecb 256 256 threads=1024 blocks=2 per_sm=1 | 0.0545 GB/s | threads=768 blocks=2 per_sm=1 0.0552 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-ecb 256 4096 threads=768 blocks=1 per_sm=1 | 1.11 GB/s | threads=832 blocks=1 per_sm=2 1.09 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-ecb 256 16384 threads=640 blocks=1 per_sm=1 | 4.14 GB/s | threads=768 blocks=2 per_sm=1 4.13 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-ecb 256 65536 threads=768 blocks=1 per_sm=1 | 16.5 GB/s | threads=896 blocks=1 per_sm=1 16.4 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-ecb 256 262144 threads=1024 blocks=2 per_sm=1 | 64.3 GB/s | threads=896 blocks=1 per_sm=1 65.0 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-ecb 256 1048576 threads=1024 blocks=1 per_sm=1 | 196 GB/s | threads=768 blocks=2 per_sm=1 196 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-ecb 256 4194304 threads=1024 blocks=2 per_sm=1 | 361 GB/s | threads=768 blocks=4 per_sm=1 359 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-ecb 256 16777216 threads=1024 blocks=1 per_sm=1 | 481 GB/s | threads=768 blocks=2 per_sm=1 477 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-ecb 256 67108864 threads=1024 blocks=2 per_sm=1 | 519 GB/s | threads=768 blocks=2 per_sm=1 525 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-ctr 128 64 threads=1024 blocks=1 per_sm=1 | 0.0139 GB/s | threads=768 blocks=2 per_sm=1 0.0141 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-ctr 128 1024 threads=768 blocks=2 per_sm=1 | 0.2248 GB/s | threads=832 blocks=2 per_sm=2 0.2251 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-ctr 128 4096 threads=1024 blocks=1 per_sm=1 | 0.8574 GB/s | threads=832 blocks=1 per_sm=2 0.8742 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-ctr 128 16384 threads=768 blocks=1 per_sm=1 | 3.43 GB/s | threads=832 blocks=2 per_sm=2 3.47 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-ctr 128 65536 threads=896 blocks=1 per_sm=1 | 13.7 GB/s | threads=896 blocks=2 per_sm=1 13.5 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-ctr 128 262144 threads=1024 blocks=1 per_sm=1 | 53.3 GB/s | threads=640 blocks=2 per_sm=1 53.7 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-ctr 128 1048576 threads=640 blocks=1 per_sm=1 | 187 GB/s | threads=768 blocks=2 per_sm=1 189 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-ctr 128 4194304 threads=512 blocks=1 per_sm=1 | 423 GB/s | - | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-ctr 128 67108864 threads=768 blocks=2 per_sm=1 | 799 GB/s | threads=896 blocks=4 per_sm=1 810 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-ctr 256 64 threads=640 blocks=1 per_sm=1 | 0.0134 GB/s | threads=768 blocks=2 per_sm=1 0.0135 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-ctr 256 256 threads=1024 blocks=1 per_sm=1 | 0.0542 GB/s | threads=768 blocks=1 per_sm=1 0.0541 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-ctr 256 1024 threads=896 blocks=1 per_sm=1 | 0.2123 GB/s | threads=832 blocks=2 per_sm=2 0.2146 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-ctr 256 4096 threads=768 blocks=1 per_sm=1 | 0.8311 GB/s | threads=832 blocks=1 per_sm=2 0.8333 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-ctr 256 65536 threads=1024 blocks=1 per_sm=1 | 12.8 GB/s | threads=896 blocks=2 per_sm=1 13.0 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-ctr 256 1048576 threads=640 blocks=2 per_sm=1 | 177 GB/s | threads=768 blocks=2 per_sm=1 178 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-ctr 256 4194304 threads=512 blocks=1 per_sm=1 | 352 GB/s | threads=768 blocks=4 per_sm=1 339 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-ctr 256 67108864 threads=384 blocks=1 per_sm=1 | 566 GB/s | threads=640 blocks=4 per_sm=1 574 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-ctr 256 268435456 threads=768 blocks=2 per_sm=1 | 609 GB/s | threads=1024 blocks=4 per_sm=1 611 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-xts 128 64 threads=1024 blocks=2 per_sm=1 | 0.0080 GB/s | threads=768 blocks=1 per_sm=1 0.0081 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-xts 128 16384 threads=1024 blocks=1 per_sm=1 | 1.41 GB/s | threads=576 blocks=1 per_sm=2 1.39 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-xts 128 65536 threads=1024 blocks=2 per_sm=1 | 5.48 GB/s | threads=832 blocks=1 per_sm=2 5.56 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-xts 128 4194304 threads=640 blocks=2 per_sm=1 | 206 GB/s | threads=512 blocks=4 per_sm=1 205 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-xts 128 16777216 threads=384 blocks=2 per_sm=1 | 473 GB/s | threads=384 blocks=4 per_sm=1 468 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-xts 128 67108864 threads=1024 blocks=1 per_sm=1 | 650 GB/s | threads=768 blocks=2 per_sm=1 636 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-xts 128 268435456 threads=1024 blocks=2 per_sm=1 | 696 GB/s | threads=832 blocks=4 per_sm=2 696 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-xts 256 64 threads=640 blocks=1 per_sm=1 | 0.0075 GB/s | threads=576 blocks=1 per_sm=2 0.0076 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-xts 256 1024 threads=1024 blocks=2 per_sm=1 | 0.0858 GB/s | threads=832 blocks=2 per_sm=2 0.0870 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-xts 256 262144 threads=640 blocks=1 per_sm=1 | 17.6 GB/s | threads=1024 blocks=1 per_sm=1 17.8 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-xts 256 1048576 threads=1024 blocks=2 per_sm=1 | 64.8 GB/s | threads=640 blocks=2 per_sm=1 64.5 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-xts 256 4194304 threads=512 blocks=2 per_sm=1 | 178 GB/s | threads=1024 blocks=4 per_sm=1 181 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-xts 256 16777216 threads=384 blocks=2 per_sm=1 | 371 GB/s | threads=384 blocks=4 per_sm=1 372 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-xts 256 67108864 threads=1024 blocks=2 per_sm=1 | 474 GB/s | threads=768 blocks=2 per_sm=1 473 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-gcm 128 64 threads=1024 blocks=1 per_sm=1 | 0.0047 GB/s | threads=768 blocks=1 per_sm=1 0.0047 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-gcm 128 1024 threads=512 blocks=1 per_sm=1 | 0.0742 GB/s | threads=640 blocks=1 per_sm=1 0.0746 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-gcm 128 4096 threads=1024 blocks=1 per_sm=1 | 0.2937 GB/s | threads=768 blocks=4 per_sm=1 0.2990 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-gcm 128 65536 threads=384 blocks=1 per_sm=1 | 4.57 GB/s | threads=768 blocks=1 per_sm=1 4.59 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-gcm 128 262144 threads=1024 blocks=1 per_sm=1 | 14.0 GB/s | threads=1024 blocks=2 per_sm=1 14.1 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-gcm 128 4194304 threads=384 blocks=1 per_sm=1 | 167 GB/s | threads=768 blocks=2 per_sm=1 168 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-gcm 128 16777216 threads=512 blocks=1 per_sm=1 | 381 GB/s | threads=1024 blocks=4 per_sm=1 378 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-gcm 128 268435456 threads=768 blocks=2 per_sm=1 | 668 GB/s | threads=512 blocks=2 per_sm=1 679 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-gcm 256 64 threads=768 blocks=1 per_sm=1 | 0.0046 GB/s | threads=832 blocks=1 per_sm=2 0.0046 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-gcm 256 256 threads=1024 blocks=1 per_sm=1 | 0.0171 GB/s | threads=512 blocks=1 per_sm=1 0.0177 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-gcm 256 1024 threads=384 blocks=1 per_sm=1 | 0.0730 GB/s | threads=832 blocks=1 per_sm=2 0.0741 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-gcm 256 4096 threads=1024 blocks=1 per_sm=1 | 0.2915 GB/s | threads=640 blocks=1 per_sm=1 0.2949 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-gcm 256 262144 threads=768 blocks=1 per_sm=1 | 14.1 GB/s | threads=896 blocks=1 per_sm=1 14.1 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-gcm 256 1048576 threads=1024 blocks=1 per_sm=1 | 51.6 GB/s | threads=896 blocks=2 per_sm=1 52.2 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-gcm 256 4194304 threads=512 blocks=1 per_sm=1 | 158 GB/s | threads=1024 blocks=2 per_sm=1 156 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
gpu-gcm 256 67108864 threads=768 blocks=2 per_sm=1 | 417 GB/s | threads=384 blocks=2 per_sm=1 422 GB/s | Intel(R) Xeon(R) Processor, 16 cores | 2026-11-22 | 1ee73cbbaac2
end 66

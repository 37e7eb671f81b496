#!/usr/bin/env python3
"""Prints the multiset checksum of the lines of files, as pileshuf's summary shows it.

Written from docs/ORDER.md alone, to check pileshuf with a program that shares no code with it:

    checksum.py shuffled.jsonl
"""
import struct
import sys

MASK = 2**64 - 1
P1, P2, P3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9


def record_hash(record: bytes) -> int:
    key0, key1 = 0xBE4BA423396CFEB8, 0x1CAD21F72C81017C
    sum0 = sum1 = 0
    padded = record + bytes(-len(record) % 16)
    for word0, word1 in struct.iter_unpack('<QQ', padded):
        x0, x1 = word0 ^ key0, word1 ^ key1
        sum0 += (x0 & 0xFFFFFFFF) * (x1 & 0xFFFFFFFF) + word1
        sum1 += (x0 >> 32) * (x1 >> 32) + word0
        key0, key1 = key0 + 0x9E3779B97F4A7C15 & MASK, key1 + 0xD1B54A32D192ED03 & MASK
    sum1 &= MASK
    h = (sum0 * P1 & MASK) ^ (((sum1 << 29 | sum1 >> 35) & MASK) * P2 & MASK)
    h = h + len(record) * P3 & MASK
    h = (h ^ h >> 32) * P2 & MASK
    h = (h ^ h >> 29) * P3 & MASK
    return h ^ h >> 32


total = 0
for path in sys.argv[1:]:
    before = b'\n'
    with open(path, 'rb') as lines:
        for line in lines:
            if not line.endswith(b'\n'):
                line += b'\r\n' if before.endswith(b'\r\n') and not line.endswith(b'\r') else b'\n'
            total += record_hash(line)
            before = line
print(f'{total & MASK:016x}')

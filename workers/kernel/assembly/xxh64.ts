// XXH64 with seed 0 (Yann Collet, xxHash specification 0.2): the hash of one record.
// The multiset checksum of a set of records is the sum of their hashes modulo 2^64, which does not
// depend on their order. XXH64 is taken, and not XXH3, because it needs no 64 x 64 -> 128 bit
// product, which WebAssembly lacks.

const PRIME_1: u64 = 0x9e3779b185ebca87;
const PRIME_2: u64 = 0xc2b2ae3d27d4eb4f;
const PRIME_3: u64 = 0x165667b19e3779f9;
const PRIME_4: u64 = 0x85ebca77c2b2ae63;
const PRIME_5: u64 = 0x27d4eb2f165667c5;

// @ts-ignore: decorator
@inline
function lane(accumulator: u64, input: u64): u64 {
  return rotl<u64>(accumulator + input * PRIME_2, 31) * PRIME_1;
}

// @ts-ignore: decorator
@inline
function mergeLane(hash: u64, accumulator: u64): u64 {
  return (hash ^ lane(0, accumulator)) * PRIME_1 + PRIME_4;
}

// @ts-ignore: decorator
@inline
function wordStep(hash: u64, word: u64): u64 {
  return rotl<u64>(hash ^ lane(0, word), 27) * PRIME_1 + PRIME_4;
}

// @ts-ignore: decorator
@inline
function byteStep(hash: u64, byte: u8): u64 {
  return rotl<u64>(hash ^ ((byte as u64) * PRIME_5), 11) * PRIME_1;
}

/** XXH64, seed 0, of the `byteLength` bytes at `start`. */
export function xxh64(start: usize, byteLength: u32): u64 {
  let p = start;
  const end = start + byteLength;
  let hash: u64;
  if (byteLength >= 32) {
    let lane1: u64 = PRIME_1 + PRIME_2;
    let lane2: u64 = PRIME_2;
    let lane3: u64 = 0;
    let lane4: u64 = 0 - PRIME_1;
    const lastStripe = end - 32;
    do {
      lane1 = lane(lane1, load<u64>(p, 0));
      lane2 = lane(lane2, load<u64>(p, 8));
      lane3 = lane(lane3, load<u64>(p, 16));
      lane4 = lane(lane4, load<u64>(p, 24));
      p += 32;
    } while (p <= lastStripe);
    hash = rotl<u64>(lane1, 1) + rotl<u64>(lane2, 7) + rotl<u64>(lane3, 12) + rotl<u64>(lane4, 18);
    hash = mergeLane(hash, lane1);
    hash = mergeLane(hash, lane2);
    hash = mergeLane(hash, lane3);
    hash = mergeLane(hash, lane4);
  } else {
    hash = PRIME_5;
  }
  hash += byteLength as u64;
  // The tail, up to 31 bytes: every step is computed and kept or not, since lengths are random and
  // a branch taken wrongly costs more than all steps together. Reads up to 24 bytes past the end.
  const words = (byteLength >> 3) & 3;
  hash = select<u64>(wordStep(hash, load<u64>(p, 0)), hash, words > 0);
  hash = select<u64>(wordStep(hash, load<u64>(p, 8)), hash, words > 1);
  hash = select<u64>(wordStep(hash, load<u64>(p, 16)), hash, words > 2);
  p += (words << 3) as usize;
  const half = byteLength & 4;
  hash = select<u64>(
    rotl<u64>(hash ^ ((load<u32>(p) as u64) * PRIME_1), 23) * PRIME_2 + PRIME_3,
    hash,
    half != 0,
  );
  p += half as usize;
  const bytes = byteLength & 3;
  hash = select<u64>(byteStep(hash, load<u8>(p, 0)), hash, bytes > 0);
  hash = select<u64>(byteStep(hash, load<u8>(p, 1)), hash, bytes > 1);
  hash = select<u64>(byteStep(hash, load<u8>(p, 2)), hash, bytes > 2);
  hash ^= hash >> 33;
  hash *= PRIME_2;
  hash ^= hash >> 29;
  hash *= PRIME_3;
  hash ^= hash >> 32;
  return hash;
}

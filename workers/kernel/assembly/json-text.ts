import { DECODED_PLACE, scratchAt } from './scratch';

const BACKSLASH: u32 = 0x5c;

/** Returns where `decodeEscape` puts a decoded character. */
// @ts-ignore: decorator
@inline
export function decodedAddress(): usize {
  return scratchAt(DECODED_PLACE);
}

export let endOfEscape: usize = 0;

/** Decodes the escape at `p` to `decodedAddress`. Returns its bytes in UTF-8; `endOfEscape` is the address after it. */
export function decodeEscape(p: usize, end: usize): usize {
  const letter: u32 = p + 1 < end ? load<u8>(p, 1) : 0;
  endOfEscape = p + 2;
  if (letter == 0x75) {
    let code = hexAt(p + 2, end);
    endOfEscape = p + 6;
    // A surrogate pair: two halves of one character.
    if (code >= 0xd800 && code < 0xdc00 && p + 8 <= end && load<u16>(p, 6) == 0x755c) {
      const low = hexAt(p + 8, end);
      if (low >= 0xdc00 && low < 0xe000) {
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        endOfEscape = p + 12;
      }
    }
    return storeCharacter(code);
  }
  let byte = letter;
  if (letter == 0x62) byte = 0x08;
  else if (letter == 0x66) byte = 0x0c;
  else if (letter == 0x6e) byte = 0x0a;
  else if (letter == 0x72) byte = 0x0d;
  else if (letter == 0x74) byte = 0x09;
  store<u8>(decodedAddress(), byte as u8);
  return 1;
}

function hexAt(p: usize, end: usize): u32 {
  let code: u32 = 0;
  for (let i: usize = 0; i < 4 && p + i < end; i++) {
    const digit: u32 = load<u8>(p + i);
    code = (code << 4) | (digit <= 0x39 ? digit & 0xf : (digit & 0xf) + 9);
  }
  return code;
}

/** Stores a character in UTF-8 at `decodedAddress`. Returns its bytes. */
function storeCharacter(code: u32): usize {
  const place = decodedAddress();
  if (code < 0x80) {
    store<u8>(place, code as u8);
    return 1;
  }
  if (code < 0x800) {
    store<u8>(place, (0xc0 | (code >> 6)) as u8, 0);
    store<u8>(place, (0x80 | (code & 0x3f)) as u8, 1);
    return 2;
  }
  if (code < 0x10000) {
    store<u8>(place, (0xe0 | (code >> 12)) as u8, 0);
    store<u8>(place, (0x80 | ((code >> 6) & 0x3f)) as u8, 1);
    store<u8>(place, (0x80 | (code & 0x3f)) as u8, 2);
    return 3;
  }
  store<u8>(place, (0xf0 | (code >> 18)) as u8, 0);
  store<u8>(place, (0x80 | ((code >> 12) & 0x3f)) as u8, 1);
  store<u8>(place, (0x80 | ((code >> 6) & 0x3f)) as u8, 2);
  store<u8>(place, (0x80 | (code & 0x3f)) as u8, 3);
  return 4;
}

/** The bytes of one character, the first one lowest. */
let character: u32 = 0;
let characterEnd: usize = 0;

/** Takes a byte, or the character of an escape. Returns its bytes; `characterEnd` is the address after it. */
function takeCharacter(p: usize, end: usize, mayEscape: bool): u32 {
  if (!mayEscape || load<u8>(p) != BACKSLASH) {
    character = load<u8>(p);
    characterEnd = p + 1;
    return 1;
  }
  const byteLength = decodeEscape(p, end) as u32;
  character = load<u32>(decodedAddress());
  characterEnd = min<usize>(endOfEscape, end);
  return byteLength;
}

/** Compares by the bytes in UTF-8. Below 0, above 0, or 0 if they are the same; a prefix comes first. */
export function compareDecoded(a: usize, endA: usize, escapesA: bool, b: usize, endB: usize, escapesB: bool): i32 {
  let bytesA: u32 = 0;
  let bytesB: u32 = 0;
  let leftA: u32 = 0;
  let leftB: u32 = 0;
  let difference: i32 = 0;
  while (difference == 0) {
    if (leftA == 0 && a < endA) {
      leftA = takeCharacter(a, endA, escapesA);
      bytesA = character;
      a = characterEnd;
    }
    if (leftB == 0 && b < endB) {
      leftB = takeCharacter(b, endB, escapesB);
      bytesB = character;
      b = characterEnd;
    }
    if (leftA == 0 || leftB == 0) return (leftA != 0 ? 1 : 0) - (leftB != 0 ? 1 : 0);
    difference = ((bytesA & 0xff) as i32) - ((bytesB & 0xff) as i32);
    bytesA >>= 8;
    bytesB >>= 8;
    leftA -= 1;
    leftB -= 1;
  }
  return difference;
}

/**
 * Sees that a member says that it holds as many bytes as were compressed, before it is written: nobody reads a
 * compressed output back, and what became of its bytes would not be seen elsewhere.
 */
import { VerificationError } from '../errors.js';
import type { MemberEncoder } from './member-encoder.js';

/**
 * @param contentBytesOf what a member of the codec says that it holds; undefined: it is not one member.
 * @returns an encoder that throws VerificationError in place of a member that holds something else.
 */
export function checkedEncoder(
  encoder: MemberEncoder,
  name: string,
  contentBytesOf: (member: Uint8Array) => number | undefined,
): MemberEncoder {
  const checked = (member: Uint8Array, { byteLength }: Uint8Array) => {
    if (contentBytesOf(member) === byteLength) return member;
    throw new VerificationError(
      `${name} made ${member.byteLength} bytes of ${byteLength} that do not say that they hold these; use another codec, or another version of Node`,
    );
  };
  return {
    encode: (bytes) => checked(encoder.encode(bytes), bytes),
    store: (bytes) => checked(encoder.store(bytes), bytes),
  };
}

import type { KernelFunctions } from '../../src/formats/framing.js';
import { NO_SUMS, type ReadSums } from '../../src/keep/sum.js';
import { PARTS_OF_ONE } from '../../src/keep/weights.js';
import type { Kernel } from '../kernel/kernel.js';

/** Adds up what the kernel has weighed. */
export class WeighedSum {
  readonly made = { records: 0, bytes: 0, readBytes: 0 };
  /** The weighed records, and the sums of a number in them. Its user adds these up. */
  records = 0;
  sums = NO_SUMS;
  readonly #expected = { records: 0n, bytes: 0n };

  /** Adds the records since `setCopies`. */
  add(wasm: KernelFunctions): void {
    this.made.records += Number(wasm.madeRecords.value);
    this.made.bytes += Number(wasm.madeBytes.value);
    this.made.readBytes += Number(wasm.weighedBytes.value);
    this.#expected.records += sumInParts(wasm.expectedRecords.value, wasm.expectedRecordParts.value);
    this.#expected.bytes += sumInParts(wasm.expectedBytes.value, wasm.expectedByteParts.value);
  }

  /** The weights, and those times the bytes of the records, in parts of 2^64. */
  get expected(): { readonly records: string; readonly bytes: string } {
    return { records: `${this.#expected.records}`, bytes: `${this.#expected.bytes}` };
  }
}

/** Returns a sum in parts of 2^64, from its whole part and the parts. */
function sumInParts(whole: bigint, parts: bigint): bigint {
  return (BigInt.asUintN(64, whole) << 64n) + BigInt.asUintN(64, parts);
}

/**
 * Returns the sums of the kernel since `clearSums`, in parts of 10^-15. After `weighRecords`, those made are of whole copies, and
 * `chances` are of numbers times the chances of one more, parts of 2^64.
 */
export function readSums({ wasm, view }: Kernel): ReadSums & { readonly chances: bigint } {
  const whole = (at: number) => view.getBigUint64(at, true) + (view.getBigUint64(at + 8, true) << 64n);
  const sumAt = (at: number) => whole(at) * PARTS_OF_ONE + whole(at + 16);
  const at = wasm.sumsAddress() >>> 0;
  return { read: sumAt(at), made: sumAt(at + 32), chances: sumAt(at + 64) };
}

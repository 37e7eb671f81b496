export interface SampledInput {
  /** An estimate if the input is compressed. */
  readonly decodedBytes: number;
  readonly canSeek: boolean;
}

export interface WindowsOfInput {
  readonly inputOrdinal: number;
  /** Counted from the end of the header. */
  readonly startBytes: number;
  /** Records from the beginning of one window to that of the next. An infinite `windowCount` means up to the end. */
  readonly stride: number;
  readonly windowCount: number;
}

/** Below this, all of the data is read. */
const READ_WHOLE_BYTES = 64 * 2 ** 20;
/** Compressed inputs that cannot be cut are read whole up to here, all together. */
const DECODE_WHOLE_BYTES = 4 * 2 ** 30;
/** Else this many windows at the beginning of each of them. */
const HEAD_WINDOWS = 4;

/** Spreads about `windowCount` windows of neighbouring records evenly over the data. */
export function planWindows(
  inputs: readonly SampledInput[],
  meanRecordBytes: number,
  windowCount: number,
  windowRecords: number,
): readonly WindowsOfInput[] {
  const totalBytes = inputs.reduce((sum, { decodedBytes }) => sum + decodedBytes, 0);
  const expectedRecords = totalBytes / Math.max(1, meanRecordBytes);
  const stride = Math.max(windowRecords, Math.floor(expectedRecords / windowCount));
  const isSmall = totalBytes <= READ_WHOLE_BYTES || stride < 4 * windowRecords;
  const uncut = inputs.filter(({ canSeek }) => !canSeek).reduce((sum, { decodedBytes }) => sum + decodedBytes, 0);
  const planned: WindowsOfInput[] = [];
  let before = 0;
  for (const [inputOrdinal, { decodedBytes, canSeek }] of inputs.entries()) {
    const whole = { inputOrdinal, startBytes: 0, stride };
    if (isSmall || (!canSeek && uncut <= DECODE_WHOLE_BYTES))
      planned.push({ ...whole, windowCount: Number.POSITIVE_INFINITY });
    else if (!canSeek) planned.push({ ...whole, stride: windowRecords, windowCount: HEAD_WINDOWS });
    else planned.push(...windowsIn({ inputOrdinal, before, decodedBytes }, totalBytes / windowCount, windowRecords));
    before += decodedBytes;
  }
  return planned;
}

/** A window in the middle of each stretch of `spacingBytes`, as far as the middle lies in the input. */
function windowsIn(
  { inputOrdinal, before, decodedBytes }: { inputOrdinal: number; before: number; decodedBytes: number },
  spacingBytes: number,
  windowRecords: number,
): WindowsOfInput[] {
  const first = Math.ceil(before / spacingBytes - 0.5);
  const windows: WindowsOfInput[] = [];
  for (let i = first; (i + 0.5) * spacingBytes < before + decodedBytes; i++) {
    const startBytes = Math.max(0, Math.floor((i + 0.5) * spacingBytes - before));
    windows.push({ inputOrdinal, startBytes, stride: windowRecords, windowCount: 1 });
  }
  return windows;
}

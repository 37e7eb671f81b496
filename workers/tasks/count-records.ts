/**
 * A task before the scatter pass: reads a slice and counts its records, or adds up a field of theirs. Nothing is put on piles.
 * Some groups of inputs have a share of the output, and their weights follow from how much there is.
 */
import { InputError } from '../../src/errors.js';
import { framingOf } from '../../src/formats/framing-table.js';
import type { Coverage, InputPart } from '../../src/inputs/input-part.js';
import { inputName } from '../../src/io/input-source.js';
import { BOUNDARY_TABLE_BYTES } from '../../src/plan/arena-sizes.js';
import { type Arena, ArenaLayout } from '../arena.js';
import type { Kernel } from '../kernel/kernel.js';
import { readPart } from '../read/read-part.js';
import { ReadWindow } from '../read/read-window.js';
import type { RecordTaker } from '../read/record-reader.js';
import type { ReadSettings } from '../settings.js';
import { readStateOf } from '../thread-state.js';

/** A field of JSON records that holds a number. */
export interface NumberField {
  readonly name: string;
  /** The path in the form that the kernel takes. */
  readonly path: Uint8Array;
}

export interface CountRecordsTask {
  readonly job: ReadSettings;
  /** With weights: only then their reader counts records. */
  readonly parts: readonly InputPart[];
  readonly field: NumberField | undefined;
}

/** What a part of an input holds. */
export interface CountedPart {
  readonly coverage: Coverage;
  /** Of the field; 0 without one. */
  readonly sum: bigint;
}

/**
 * @returns what each part holds.
 * @throws InputError ERR_FIELD_MISSING for a record without a whole number in the field.
 */
export async function countRecords({ job, parts, field }: CountRecordsTask): Promise<readonly CountedPart[]> {
  const thread = readStateOf(job);
  const framing = job.framing === undefined ? undefined : framingOf(job.framing);
  const counted: CountedPart[] = [];
  for (const part of parts) {
    const sum = new FieldSum(thread.arena, job, part.path, field);
    const { coverage } = await readPart(part, framing, sum, thread, job);
    counted.push({ coverage, sum: sum.sum });
  }
  return counted;
}

/** Takes records, and does nothing with them but add up a field. */
class FieldSum implements RecordTaker {
  readonly window: ReadWindow;
  readonly table: number;
  sum = 0n;
  readonly #arena: Arena;
  readonly #inputPath: string;
  readonly #field: NumberField | undefined;
  readonly #fieldPath: number;

  constructor(
    arena: Arena,
    { readBytes, maxRecordBytes }: ReadSettings,
    inputPath: string,
    field: NumberField | undefined,
  ) {
    this.#arena = arena;
    this.#inputPath = inputPath;
    this.#field = field;
    const layout = new ArenaLayout();
    this.table = layout.take(BOUNDARY_TABLE_BYTES);
    this.#fieldPath = layout.take(field?.path.byteLength ?? 0);
    this.window = new ReadWindow(arena, layout.take(0, 4096), readBytes, maxRecordBytes);
  }

  get kernel(): Kernel {
    return this.#arena.kernel;
  }

  /** Pass 1 refuses records that are too long. */
  take(count: number, base: number, basePosition: number): number {
    if (this.#field === undefined) return 0;
    const { wasm, bytes } = this.kernel;
    bytes.set(this.#field.path, this.#fieldPath);
    wasm.seekField(this.#fieldPath);
    this.sum += BigInt.asUintN(64, wasm.sumOfField(this.table, count));
    const without = wasm.recordWithoutNumber() >>> 0;
    if (without === 0) return 0;
    throw new InputError(
      'ERR_FIELD_MISSING',
      `${inputName(this.#inputPath)}: the record at byte ${basePosition + without - base} has no whole number of 1 to 15 digits in the field ${this.#field.name}; expected a JSON object that has one`,
    );
  }
}

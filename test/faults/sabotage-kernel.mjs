/**
 * Faults of the kernel and of memory: a missed boundary, a lost or doubled record, bytes that change in memory. It wraps
 * the exports of the WebAssembly instance.
 *
 * @typedef {import('#src/formats/framing.js').KernelFunctions} KernelFunctions
 * @typedef {import('./sabotage.js').Sabotage} Sabotage
 */

const STORED_HEADER_BYTES = 12;
/** That a slice of lines has before it. */
const CONTEXT_BYTES = 1;
const MISDIRECTED_BYTES = 48;
const TABLE_ENTRY_BYTES = 8;

/** Where a stored record changes, and which bits. */
const PLACES = {
  highKey: { offset: 7, mask: 0x80 },
  lowKey: { offset: 0, mask: 1 },
  length: { offset: 8, mask: 1 },
  record: { offset: STORED_HEADER_BYTES, mask: 1 },
};

/**
 * @param {Sabotage} sabotage
 * @param {() => boolean} isTheOne
 */
export function sabotageKernel(sabotage, isTheOne) {
  const { Instance } = WebAssembly;
  /**
   * @param {WebAssembly.Module} module
   * @param {{ env: { memory: WebAssembly.Memory } }} imports
   */
  function SabotagedInstance(module, imports) {
    const exports = /** @type {KernelFunctions} */ (
      /** @type {unknown} */ ({ ...new Instance(module, imports).exports })
    );
    damage(exports, sabotage, imports.env.memory, isTheOne);
    return { exports };
  }
  Object.assign(WebAssembly, { Instance: SabotagedInstance });
}

/**
 * @param {KernelFunctions} run
 * @param {Sabotage} sabotage
 * @param {WebAssembly.Memory} memory
 * @param {() => boolean} isTheOne
 */
function damage(run, sabotage, memory, isTheOne) {
  const { scanDelimiter, scatterRecords, orderDistinct, gather, gatheredByteLength } = run;
  switch (sabotage.act) {
    // The framing overlooks the boundary at which a slice begins or ends, and takes the next one.
    case 'skip-boundary':
      run.scanDelimiter = (from, to, recordStart, delimiter, table, maxCount) => {
        const count = scanDelimiter(from, to, recordStart, delimiter, table, maxCount);
        if (maxCount !== 1 || count !== 1 || !isTheOne()) return count;
        const end = new DataView(memory.buffer).getUint32(table + 4, true);
        return scanDelimiter(end, to, end, delimiter, table, 1);
      };
      return;

    // The framing sees a boundary, where a slice begins, that is none: the record is taken by two.
    case 'invent-boundary':
      run.scanDelimiter = (from, to, recordStart, delimiter, table, maxCount) => {
        const count = scanDelimiter(from, to, recordStart, delimiter, table, maxCount);
        const view = new DataView(memory.buffer);
        // Before the slice the scanner sees a byte of context; where a slice ends, the record before it.
        if (maxCount !== 1 || count !== 1 || from > recordStart + CONTEXT_BYTES) return count;
        if (view.getUint32(table + 4, true) === from + 1 || !isTheOne()) return count;
        view.setUint32(table + 4, from + 1, true);
        return 1;
      };
      return;

    // One record in the middle of the boundary table is not scattered.
    case 'drop-scattered':
      run.scatterRecords = (table, count, base, basePosition, inputKey) => {
        if (count < 3 || !isTheOne()) return scatterRecords(table, count, base, basePosition, inputKey);
        const entries = new Uint8Array(memory.buffer, table, count * TABLE_ENTRY_BYTES);
        const before = entries.slice();
        entries.copyWithin(TABLE_ENTRY_BYTES, 2 * TABLE_ENTRY_BYTES);
        scatterRecords(table, count - 1, base, basePosition, inputKey);
        entries.set(before);
      };
      return;

    // One record is scattered twice.
    case 'repeat-scattered':
      run.scatterRecords = (table, count, base, basePosition, inputKey) => {
        if (isTheOne()) scatterRecords(table, 1, base, basePosition, inputKey);
        scatterRecords(table, count, base, basePosition, inputKey);
      };
      return;

    // A record is written twice.
    case 'repeat-gathered':
      run.gather = (index, ...rest) => {
        const copied = gather(index, ...rest) >>> 0;
        return copied > 1 && isTheOne() ? copied - 1 : copied;
      };
      return;

    // A record is not written.
    case 'skip-gathered':
      run.gather = (index, step, count, ...rest) =>
        count > 1 && isTheOne()
          ? 1 + gather(index + step, step, count - 1, ...rest)
          : gather(index, step, count, ...rest);
      return;

    // A record is written twice and the one behind it, of the same length, not at all.
    case 'replace-gathered': {
      /** @type {number | undefined} */
      let byteLength;
      run.gather = (index, step, count, out, capacity, ...rest) => {
        byteLength = undefined;
        if (count < 2 || !isTheOne()) return gather(index, step, count, out, capacity, ...rest);
        gather(index, step, 1, out, capacity, ...rest);
        const first = gatheredByteLength.value;
        gather(index, step, 1, out + first, capacity - first, ...rest);
        byteLength = first + gatheredByteLength.value;
        return 2;
      };
      Object.defineProperty(run, 'gatheredByteLength', {
        value: {
          get value() {
            return byteLength ?? gatheredByteLength.value;
          },
        },
      });
      return;
    }

    // Bytes of a pile are not what they were when they were put there.
    case 'alter-loaded': {
      const { offset, mask } = PLACES[sabotage.part];
      beforeWalk(run, (from, to) => {
        if (to - from <= STORED_HEADER_BYTES || !isTheOne()) return;
        const bytes = new Uint8Array(memory.buffer, from + offset, 1);
        bytes[0] = (bytes[0] ?? 0) ^ mask;
      });
      return;
    }

    // Of the records that differ, one is lost.
    case 'lose-distinct':
      run.orderDistinct = () => {
        const count = orderDistinct() >>> 0;
        return count > 1 && isTheOne() ? count - 1 : count;
      };
      return;

    // Bytes come from another place than they were put.
    case 'misdirect-loaded': {
      /** @type {Uint8Array | undefined} */
      let elsewhere;
      beforeWalk(run, (from, to) => {
        if (to - from < MISDIRECTED_BYTES) return;
        const here = new Uint8Array(memory.buffer, to - MISDIRECTED_BYTES, MISDIRECTED_BYTES);
        const before = here.slice();
        if (elsewhere !== undefined && isTheOne()) here.set(elsewhere);
        elsewhere = before;
      });
      return;
    }
  }
}

/**
 * Stored records in [from, to) were just loaded.
 *
 * @param {KernelFunctions} run
 * @param {(from: number, to: number) => void} harm
 */
function beforeWalk(run, harm) {
  for (const name of /** @type {const} */ (['walkStored', 'rescatterStored'])) {
    const walk = run[name];
    run[name] = (from, to) => {
      harm(from, to);
      return walk(from, to);
    };
  }
}

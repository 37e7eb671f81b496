// @ts-check
// A disk of given speed, simulated by waiting. The disk serves its pending calls in turn, a slice of each. A slice that
// does not continue the last served slice of its file costs a seek. All threads of a process share the state.
//
// No thread has to wake up in time: a call requests its next slice at the simulated time when the last one ended, not
// when its thread noticed that.

/**
 * @typedef {object} DiskModel
 * @property {string} directory everything below it is on the disk
 * @property {number} bytesPerSecond
 * @property {number} seekSeconds
 * @property {boolean} rotates whether writes stay in the page cache until they are synced
 * @property {number} writeBackBytes written bytes that the disk may still have to write before a write waits for it
 */

/** @typedef {{ busySeconds: number, seeks: number, bytes: number }} DiskUse */

/** The read-ahead of Linux: the most that a file gets at once from a disk that others wait for. */
const sliceBytes = 128 * 1024;

const lockOffset = 0;
const stateOffset = 8;
/** Times are milliseconds of the clock that all threads share. */
const fields = /** @type {const} */ (['freeAt', 'file', 'position', 'busy', 'seeks', 'bytes']);

export class SimulatedDisk {
  /** @param {DiskModel} model @param {SharedArrayBuffer} shared of `makeShared` */
  constructor(model, shared) {
    this.model = model;
    this.lock = new Int32Array(shared, lockOffset, 1);
    this.state = new Float64Array(shared, stateOffset, fields.length);
  }

  static makeShared() {
    return new SharedArrayBuffer(stateOffset + 8 * fields.length);
  }

  /** Waits as long as the disk takes. @param {number} file @param {number} position @param {number} byteLength */
  move(file, position, byteLength) {
    for (const doneAt of this.slices(file, position, byteLength)) sleepUntil(doneAt);
  }

  /** The same without blocking the thread. @param {number} file @param {number} position @param {number} byteLength */
  async moveAsync(file, position, byteLength) {
    for (const doneAt of this.slices(file, position, byteLength)) {
      await new Promise((resolve) => setTimeout(resolve, doneAt - now()));
    }
  }

  /**
   * The disk serves the call as soon as it can, as one slice.
   *
   * @param {number} file
   * @param {number} position
   * @param {number} byteLength
   * @returns {number} the time when it is done
   */
  moveLater(file, position, byteLength) {
    return this.serve(file, position, byteLength, now());
  }

  /** Waits only while the disk has too much left to write. @param {number} file @param {number} position @param {number} byteLength */
  writeBack(file, position, byteLength) {
    const { writeBackBytes, bytesPerSecond } = this.model;
    const doneAt = this.moveLater(file, position, byteLength);
    sleepUntil(doneAt - (1000 * writeBackBytes) / bytesPerSecond);
  }

  /** @returns {DiskUse} */
  get use() {
    const [, , , busy = 0, seeks = 0, bytes = 0] = this.state;
    return { busySeconds: busy / 1000, seeks, bytes };
  }

  /**
   * The time when each slice is done. The next slice is requested when the caller resumes.
   *
   * @param {number} file
   * @param {number} position
   * @param {number} byteLength
   * @returns {Generator<number, void>}
   */
  *slices(file, position, byteLength) {
    let doneAt = now();
    for (let done = 0; done < byteLength; done += sliceBytes) {
      doneAt = this.serve(file, position + done, Math.min(sliceBytes, byteLength - done), doneAt);
      yield doneAt;
    }
  }

  /**
   * @param {number} file
   * @param {number} position
   * @param {number} byteLength
   * @param {number} wantedAt
   * @returns {number} the time when it is done
   */
  serve(file, position, byteLength, wantedAt) {
    const { bytesPerSecond, seekSeconds } = this.model;
    return this.locked(() => {
      const [freeAt = 0, lastFile, lastPosition, busy = 0, seeks = 0, bytes = 0] = this.state;
      const isNext = lastFile === file && lastPosition === position;
      const takes = 1000 * (byteLength / bytesPerSecond + (isNext ? 0 : seekSeconds));
      const doneAt = Math.max(freeAt, wantedAt) + takes;
      this.state.set([doneAt, file, position + byteLength, busy + takes, seeks + (isNext ? 0 : 1), bytes + byteLength]);
      return doneAt;
    });
  }

  /** @template T @param {() => T} change @returns {T} */
  locked(change) {
    while (Atomics.compareExchange(this.lock, 0, 0, 1) !== 0) Atomics.wait(this.lock, 0, 1);
    try {
      return change();
    } finally {
      Atomics.store(this.lock, 0, 0);
      Atomics.notify(this.lock, 0, 1);
    }
  }
}

const never = new Int32Array(new SharedArrayBuffer(4));

/** @param {number} time */
function sleepUntil(time) {
  for (let left = time - now(); left > 0; left = time - now()) Atomics.wait(never, 0, 0, left);
}

/** Milliseconds, the same on all threads. */
function now() {
  return Number(process.hrtime.bigint()) / 1e6;
}

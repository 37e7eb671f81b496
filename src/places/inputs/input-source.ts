/**
 * The stored bytes of one input: a regular file (read at positions, through the gate of its device) or a stream (pipe,
 * terminal, device), which only goes forward.
 *
 * A regular file is compared with its planned version when it is opened, and again when it was read: a file
 * that changes during the job is an error, never a guess. Streams are read through the event loop, so that a worker
 * waiting for a silent pipe can still be stopped.
 */

import { Socket } from 'node:net';
import { isatty, ReadStream as TerminalStream } from 'node:tty';
import { counted, InputError, PileshufError } from '../../errors.js';
import { afterFailure } from '../../floor/cleanup.js';
import type { GateNumber, JobControl } from '../../floor/job-control.js';
import { inPhase } from '../../floor/phase-clock.js';
import { fileCalls } from '../../io/file-calls.js';
import {
  closeFile,
  type FileVersion,
  type OpenFile,
  openStreamForRead,
  readAt,
  readBytes,
  sameVersion,
  versionOf,
} from '../../io/files.js';
import { ioError, reasonOf } from '../../io/io-error.js';
import { openInput, STANDARD_INPUT } from './input-kinds.js';

export const STANDARD_INPUT_FILE: OpenFile = { fd: 0, path: 'standard input', role: 'input' };

export function inputName(path: string): string {
  return path === STANDARD_INPUT ? STANDARD_INPUT_FILE.path : path;
}

const STREAM_PIECE_BYTES = 256 * 1024;

export class RegularInput {
  readonly path: string;
  readonly #file: OpenFile;
  readonly #version: FileVersion;
  readonly #control: JobControl;
  readonly #gate: GateNumber;

  /** @param end where its reader stops, if it reads all bytes one after the other. */
  constructor(path: string, version: FileVersion, control: JobControl, gate: GateNumber, end?: number) {
    this.path = path;
    this.#version = version;
    this.#control = control;
    this.#gate = gate;
    this.#file = openInput(path, { version, check: () => control.throwIfAborted(), end });
    try {
      this.requireUnchanged();
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** @param end how far the caller will read from there on, for remote inputs. */
  readAt(bytes: Uint8Array, offset: number, byteLength: number, position: number, end?: number): number {
    const read = () => readAt(this.#file, bytes, offset, byteLength, position, end);
    const count = this.#control.during(this.#gate, () => inPhase('read', read));
    this.#control.countMoved(this.#gate, 'read', count);
    return count;
  }

  /** @throws InputError ERR_INPUT_CHANGED when size, time or identity differ from the plan's. */
  requireUnchanged(): void {
    const now = versionOf(this.#file);
    if (sameVersion(now, this.#version)) return;
    const sizes =
      now.byteLength === this.#version.byteLength
        ? 'it was written to or replaced'
        : `its size was ${counted(this.#version.byteLength, 'byte')} and is ${now.byteLength}`;
    throw new InputError(
      'ERR_INPUT_CHANGED',
      `${this.path}: the input changed during the job (${sizes}); start again when nothing writes to it`,
    );
  }

  close(): void {
    closeFile(this.#file);
  }
}

/** An empty piece is the end. */
export interface StreamInput {
  readonly path: string;
  next(): Promise<Uint8Array>;
  /** Wakes a caller that waits for the next piece. Safe to call twice. */
  close(): void;
}

export function openStreamInput(path: string): StreamInput {
  const file = path === STANDARD_INPUT ? STANDARD_INPUT_FILE : openStreamForRead(path);
  try {
    return streamInputOf(file);
  } catch (error) {
    const failure = error instanceof PileshufError ? error : ioError('examine', 'input', file.path, error);
    throw afterFailure(failure, () => {
      if (file !== STANDARD_INPUT_FILE) closeFile(file);
    });
  }
}

/** Takes over the file, unless it throws. */
function streamInputOf(file: OpenFile): StreamInput {
  const stat = fileCalls.statOpen(file.fd);
  if (stat.isFIFO() || stat.isSocket()) return readableInput(file.path, new Socket({ fd: file.fd, writable: false }));
  if (isatty(file.fd)) return readableInput(file.path, new TerminalStream(file.fd));
  let isOpen = true;
  return {
    path: file.path,
    next: async () => (isOpen ? readBytes(file, null, STREAM_PIECE_BYTES) : new Uint8Array()),
    close: () => {
      if (isOpen && file.fd !== 0) closeFile(file);
      isOpen = false;
    },
  };
}

function readableInput(path: string, stream: Socket): StreamInput {
  const pieces = stream[Symbol.asyncIterator]();
  return {
    path,
    next: async () => {
      try {
        const { done, value } = await pieces.next();
        return done === true ? new Uint8Array() : value;
      } catch (error) {
        throw new InputError('ERR_INPUT_UNREADABLE', `cannot read ${path}: ${reasonOf(error)}`, { cause: error });
      }
    },
    close: () => stream.destroy(),
  };
}

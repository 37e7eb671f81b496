/** The compressed bytes of one input, or of consecutive members of it. */
export interface CompressedSource {
  readonly path: string;
  /** The position of the first byte in the input, for messages. */
  readonly start: number;
  /**
   * The next bytes; empty at the end.
   * @param room at least 1 byte, for a codec that uses one buffer over and over. A source that can read to it does so.
   *   Otherwise the codec may free the bytes, with everything in the same buffer.
   */
  next(room?: Uint8Array): Promise<Uint8Array> | Uint8Array;
  /** Throws when the job should stop, as `next` does. For codecs that wait for something else. */
  throwIfAborted?(): void;
  /** The name of what decodes, before its first byte; a second name if another takes over. */
  onDecoder?(name: string): void;
  /** Present if the source can be read a second time, from `start` on: a codec may then try a faster decoder first. */
  readonly again?: RereadableBytes;
}

/** Bytes that can be read again from their beginning. */
export interface RereadableBytes {
  readonly byteLength: number;
  open(): CompressedSource;
}

/** Memory for decoders beyond the share that every thread has. */
export interface DecoderMemory {
  /**
   * Reserves this much of the job's budget for the decoder of this thread, to the end of the job, because decoders do not
   * free their memory before. False: nothing is reserved, too little is left.
   */
  reserve(byteLength: number): boolean;
  /**
   * A budget that would allow this, written as --memory takes it, for messages.
   * @param recordBytes the longest record that may come. Absent: none is longer than the window.
   */
  budgetFor(byteLength: number, recordBytes?: number): string;
  /** Returns whether the present budget may allow it when no other thread takes any. Absent: no. */
  mayFitAlone?(byteLength: number): boolean;
}

/** A compressed file whose reader looks at a few bytes here and there, always further on. */
export interface StoredBytes {
  readonly path: string;
  readonly byteLength: number;
  /** Bytes [position, position + byteLength), fewer at the end of the file; good until the next call. */
  read(position: number, byteLength: number): Uint8Array;
}

/** A part of a compressed file that can be decoded on its own. */
export interface StoredMember {
  readonly storedStart: number;
  readonly decodedStart: number;
  readonly decodedBytes: number;
}

export interface DecodedHead {
  /** The first of the decoded bytes. */
  readonly bytes: Uint8Array;
  /** The number of all decoded bytes. */
  readonly decodedBytes: number;
}

export interface Codec {
  readonly name: string;
  /** Endings of file names that stand for the codec alone. Names of shards omit them. */
  readonly suffixes: readonly string[];
  /** The last bytes of every whole file, for codecs that decode a file cut short without an error. */
  readonly endMark?: { readonly bytes: Uint8Array; readonly name: string };
  /** Text bytes for each compressed byte, usually; only for estimates. */
  readonly usualExpansion: number;
  matches(head: Uint8Array): boolean;
  /** Returns whether a file that begins so may decode to nothing. Absent: it may. */
  mayHoldNothing?(head: Uint8Array): boolean;
  /**
   * Looks for a decoder, and prepares `decodeHead` in this thread.
   * @param path of an input, for messages.
   * @throws PileshufError when nothing on this machine decodes the codec.
   */
  load?(path: string): Promise<void>;
  /**
   * Decodes the first bytes of an input, as far as they go, for estimates; empty when they are corrupt. Bytes beyond
   * `mostReturnedBytes` are only counted.
   */
  decodeHead(compressed: Uint8Array, mostReturnedBytes: number): DecodedHead;
  /** How many bytes of `head` `decodeHead` needed for `decodedBytes`. Absent: nearly all. */
  wholeBytes?(head: Uint8Array, decodedBytes: number): number;
  /**
   * The decoded length that a file of one member declares in its first and last bytes. Only for estimates, because the
   * file may have several members.
   * @param guess decides where a length is known modulo a power of 2.
   */
  claimedBytes?(first: Uint8Array, last: Uint8Array, guess: number): number | undefined;
  /** The most decoded bytes for one stored byte: a member that claims more is damaged. */
  readonly mostExpansion: number;
  /** Returns where a member may begin, for codecs whose members can be found from anywhere; below 0: nowhere. */
  findMember?(bytes: Uint8Array): number;
  /**
   * The decoded bytes; a piece is valid until the next one. Truncated and corrupt inputs are errors, and so are bytes
   * after the last member.
   * @throws InputError ERR_INPUT_CORRUPT, with the position in the compressed input.
   * @throws UsageError ERR_MEMORY_BUDGET when the decoder needs more memory than is left.
   */
  decode(source: CompressedSource, memory: DecoderMemory): AsyncIterable<Uint8Array>;
  /**
   * Finds the members of a file without decoding them, for codecs whose members may declare their length. Yields a
   * member as soon as its declaration is read, which for zstd is before its end is found. A caller that relies on a
   * declared length compares it with the decoded bytes.
   * @returns decoded bytes of all members; undefined when a member declares no length, or does not begin where the one
   *   before it ends.
   * @throws InputError ERR_INPUT_CORRUPT where it is clear that the file cannot be decoded.
   */
  listMembers?(bytes: StoredBytes): Generator<StoredMember, number | undefined, void>;
}

/**
 * Compresses bytes to one gzip member or one zstd frame, both called members here. Members one after the other are a
 * valid file.
 */
export interface MemberEncoder {
  /** Encodes into a buffer of its own that is no larger. */
  encode(bytes: Uint8Array): Uint8Array;
  /** A member without compression, whose length depends only on the number of bytes. */
  store(bytes: Uint8Array): Uint8Array;
}

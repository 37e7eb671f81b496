/**
 * The contracts of codecs: what decodes inputs (`codec-table.ts` lists them), and what compresses outputs
 * (`encoder-table.ts`).
 */

/** The compressed bytes of one input, or of members of it that follow each other, from the first to the last. */
export interface CompressedSource {
  /** For messages. */
  readonly path: string;
  /** Where in the input the first byte lies, for messages. */
  readonly start: number;
  /**
   * The next bytes; empty at the end.
   * @param room at least 1 byte, for a codec that uses a buffer again and again. A source that can read to it does so.
   *   Otherwise the codec may free the bytes, with everything in the same buffer.
   */
  next(room?: Uint8Array): Promise<Uint8Array> | Uint8Array;
  /** Throws when the job should stop, as `next` does; for codecs that wait for something else. */
  throwIfAborted?(): void;
  /** Called with the name of the library or program that decodes it, before its first byte; again if another one does. */
  onDecoder?(name: string): void;
  /** Present when it may be read a second time, from `start` on: a codec may then try a faster decoder first. */
  readonly again?: Rereading;
}

export interface Rereading {
  /** Bytes from `start` to the end. */
  readonly byteLength: number;
  open(): CompressedSource;
}

/** Where a decoder gets memory beyond the share that every thread has. */
export interface DecoderMemory {
  /**
   * Reserves this much of the job's budget for the decoder of this thread, to the end of the job, because decoders keep
   * their memory.
   * @returns false, without a reservation, when too little is left.
   */
  reserve(byteLength: number): boolean;
  /** A budget that is large enough to reserve this, as --memory takes it; for messages. */
  budgetFor(byteLength: number): string;
  /** Whether the present budget may be, if no other thread takes any. Absent: no. */
  mayFitAlone?(byteLength: number): boolean;
}

/** A compressed file; a reader looks at a few bytes here and there, always further on. */
export interface StoredBytes {
  /** For messages. */
  readonly path: string;
  readonly byteLength: number;
  /** Bytes [position, position + byteLength), fewer at the end of the file; good until the next call. */
  read(position: number, byteLength: number): Uint8Array;
}

/** A part of a compressed file that can be decoded on its own, as it and the members before it declare. */
export interface Member {
  readonly storedStart: number;
  /** Decoded bytes before it. */
  readonly decodedStart: number;
  /** Bytes that it decodes to. */
  readonly decodedBytes: number;
}

/** What the first bytes of an input decode to. */
export interface DecodedHead {
  /** The first of them. */
  readonly kept: Uint8Array;
  readonly byteLength: number;
}

export interface Codec {
  /** Different for each codec. */
  readonly name: string;
  /** Endings of file names that stand for the codec alone; names of shards omit them. */
  readonly suffixes: readonly string[];
  /** The end of every whole file, for codecs that also decode a file that was cut. */
  readonly endMark?: { readonly bytes: Uint8Array; readonly name: string };
  /** How many times larger text usually is when decoded; only for estimates. */
  readonly usualExpansion: number;
  /** Whether an input that begins with these bytes is of this codec. */
  matches(head: Uint8Array): boolean;
  /**
   * Prepares `decodeHead` in this thread, if that takes time, and looks for a decoder.
   * @param path of an input, for messages.
   * @throws PileshufError when nothing on this machine decodes it.
   */
  load?(path: string): Promise<void>;
  /**
   * Decodes the first bytes of an input, as far as they go, for estimates; empty when they are corrupt.
   * @param mostKeptBytes of the decoded bytes; the others are counted.
   */
  decodeHead(compressed: Uint8Array, mostKeptBytes: number): DecodedHead;
  /** Of the first bytes of an input, those that `decodeHead` decoded to so many bytes. Absent: nearly all. */
  wholeBytes?(head: Uint8Array, decodedBytes: number): number;
  /**
   * What a file that is one member says that it decodes to, by its first and last bytes; only for estimates, because it
   * may be several members.
   * @param guess decides where a length is known modulo a power of 2.
   */
  claimedBytes?(first: Uint8Array, last: Uint8Array, guess: number): number | undefined;
  /** No stored byte decodes to more bytes: a larger claim is damaged. */
  readonly mostExpansion: number;
  /** Where a member may begin, for codecs whose members can be found from anywhere; below 0: nowhere in `bytes`. */
  findMember?(bytes: Uint8Array): number;
  /**
   * The decoded bytes; a piece is valid until the next one. Truncated and corrupt inputs, and bytes behind the last
   * member, are errors.
   * @throws InputError ERR_INPUT_CORRUPT, with the position in the compressed input.
   * @throws UsageError ERR_MEMORY_BUDGET when the decoder needs more memory than is left.
   */
  decode(source: CompressedSource, memory: DecoderMemory): AsyncIterable<Uint8Array>;
  /**
   * The members of a file, found without decoding them, for codecs whose members may declare their length. Yields each
   * member as soon as its declaration is read, for zstd before it looks for its end. A caller that relies on a declared
   * length compares it with the decoded bytes.
   * @returns decoded bytes of all members; undefined when a member declares no length, or does not begin where the one
   *   before it ends.
   * @throws InputError ERR_INPUT_CORRUPT where it is clear that the file cannot be decoded.
   */
  listMembers?(bytes: StoredBytes): Generator<Member, number | undefined, void>;
}

/**
 * Compresses bytes to one gzip member or one zstd frame, both called members here. Members one behind the other are a
 * valid file of their codec.
 */
export interface MemberEncoder {
  /** One member, in a buffer of its own that is no larger. */
  encode(bytes: Uint8Array): Uint8Array;
  /** The same without compression; its length depends only on the number of bytes. */
  store(bytes: Uint8Array): Uint8Array;
}

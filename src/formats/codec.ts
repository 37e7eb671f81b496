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
  /** The next bytes, which the codec may free, and all that lies in the same buffer; empty at the end. */
  next(): Promise<Uint8Array> | Uint8Array;
  /** Throws when the job was asked to stop, as `next` does; for codecs that wait for something else. */
  throwIfAborted?(): void;
}

/** What a decoder that needs more memory than every thread has takes it from. */
export interface DecoderMemory {
  /**
   * Sees to it that this thread has so much of the job's budget for its decoder, and keeps it to the end of the job, as
   * decoders keep memory; false, and nothing taken, when too little is left.
   */
  reserve(byteLength: number): boolean;
  /** A budget in which so much can be reserved, as --memory takes it; for messages. */
  budgetFor(byteLength: number): string;
}

/** A compressed file, of which a few bytes are read here and there, always further on. */
export interface StoredBytes {
  /** For messages. */
  readonly path: string;
  readonly byteLength: number;
  /** Bytes [position, position + byteLength), fewer at the end of the file; good until the next call. */
  read(position: number, byteLength: number): Uint8Array;
}

/** A part of a compressed file that can be decoded for itself, by what it and those before it say. */
export interface Member {
  readonly storedStart: number;
  /** Decoded bytes before it. */
  readonly decodedStart: number;
  /** Bytes that it decodes to. */
  readonly decodedBytes: number;
}

export interface Codec {
  /** Unlike that of any other codec. */
  readonly name: string;
  /** File name endings that stand for the codec alone and are left out of a shard's name. */
  readonly suffixes: readonly string[];
  /** What every whole file ends with, where one that was cut may decode well. */
  readonly endMark?: { readonly bytes: Uint8Array; readonly name: string };
  /** How many times larger text usually is when decoded; only for estimates. */
  readonly usualExpansion: number;
  /** Whether an input that begins with these bytes is of this codec. */
  matches(head: Uint8Array): boolean;
  /**
   * Makes `decodeHead` ready in this thread, where that takes its time, and looks for what decodes.
   * @param path of an input, for messages.
   * @throws PileshufError when nothing on this machine decodes it.
   */
  load?(path: string): Promise<void>;
  /**
   * What the first bytes of an input decode to, as far as they go, for estimates; empty when they are
   * corrupt.
   */
  decodeHead(compressed: Uint8Array): Uint8Array;
  /**
   * The decoded bytes; a piece is good until the next one is asked for. Truncated and corrupt inputs, and bytes
   * behind the last member, are errors.
   * @throws InputError ERR_INPUT_CORRUPT, with the position in the compressed input.
   * @throws UsageError ERR_MEMORY_BUDGET when more memory is needed than there is.
   */
  decode(source: CompressedSource, memory: DecoderMemory): AsyncIterable<Uint8Array>;
  /**
   * The members of a file, found without decoding them, for codecs whose members may say how long they are. Each is
   * told as soon as it has said what it holds, for zstd before its end is looked for. Whoever believes it compares it
   * with what they decode to.
   * @returns decoded bytes of all members; undefined when one does not say how many it has, or is not where the one
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

/** The calls to an object store that an output needs. They fail as those of local outputs. */
import { object, optional, text, type ValueOf, wholeNumber } from '../io/json-shape.js';
import type { ListedObject } from './service.js';

export const uploadedPart = object({
  number: wholeNumber(1),
  /** The tag that the server gave, with its quotes. */
  tag: text,
  /** Checksum of what was sent. Absent in notes of earlier versions. */
  content: optional(object({ crc32: wholeNumber(), byteLength: wholeNumber() })),
});

export type UploadedPart = ValueOf<typeof uploadedPart>;

export interface ObjectInfo {
  readonly byteLength: number;
  readonly tag: string;
}

export interface ListedPart {
  readonly number: number;
  readonly tag: string;
  readonly byteLength: number;
}

export interface ListedUpload {
  readonly address: string;
  /** The part as the service knows it. */
  readonly uploadId: string;
  readonly initiated: Date;
}

/** A part that lies in a local file. */
export interface FilePart {
  readonly number: number;
  readonly path: string;
  readonly start: number;
  readonly byteLength: number;
}

export interface ObjectStore {
  /** Begins a multipart upload. @returns its id, with what proves later that the object is of this upload. */
  begin(address: string): Promise<string>;
  /**
   * Undefined if there is no object.
   * @param sent the parts of which it was made.
   * @throws VerificationError if the service says a checksum that is not theirs.
   */
  head(address: string, sent?: readonly UploadedPart[]): Promise<ObjectInfo | undefined>;
  /** Lists all objects whose addresses begin with this one. */
  list(address: string): Promise<readonly ListedObject[]>;
  putFile(address: string, uploadId: string, part: FilePart): Promise<UploadedPart>;
  /** Lists the parts that the service has. Undefined: it knows no such upload. */
  parts(address: string, uploadId: string): Promise<readonly ListedPart[] | undefined>;
  /**
   * Makes the object; of no parts, an empty one. Again, it finds that it is made.
   * @throws UsageError ERR_OUTPUT_EXISTS if it may not replace an object, and there is one.
   */
  complete(address: string, uploadId: string, parts: readonly UploadedPart[], onlyIfAbsent: boolean): Promise<void>;
  /** Stops parts under way first. It is not a failure if the service knows no such upload. */
  abort(address: string, uploadId: string): Promise<void>;
  /** @throws UsageError ERR_OUTPUT_EXISTS if it may not replace an object, and there is one. */
  putText(address: string, text: string, onlyIfAbsent: boolean): Promise<void>;
  /** It is not a failure if there is none. */
  remove(address: string): Promise<void>;
  /** Lists the unfinished uploads whose addresses begin with this one. */
  uploads(address: string): Promise<readonly ListedUpload[]>;
}

/** What other threads want to know about outputs on other machines. */
import type { UploadedPart } from '../io/remote-uploads.js';

export interface FoundObject {
  readonly byteLength: number;
  readonly tag: string;
}

export interface FoundPart extends UploadedPart {
  readonly byteLength: number;
}

export interface OpenUpload {
  readonly address: string;
  /** As the service knows it. */
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

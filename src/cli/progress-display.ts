/**
 * What every display of progress promises, and what it draws on. The three of them (bar, plain
 * lines, JSON lines) pace themselves, so `show` may be called as often as the library likes.
 */

import type { MeasuredProgress } from './progress-rate.js';

/** Standard error, or what stands in for it. */
export type MessageStream = NodeJS.WritableStream & { readonly isTTY?: boolean };

/** Shows where the job stands. */
export interface ProgressDisplay {
  show(progress: MeasuredProgress): void;
  /** Takes what is drawn off the screen; a later `show` draws it again. */
  stepAside(): void;
}

/** What the shuffle tasks write and the commit gives its names: the output, and the list of dropped records beside it. */
import type { OutputLayout } from '../output/output-layout.js';
import type { FilesPlace } from '../output/output-place.js';
import type { ScatteredPiles } from '../passes/scattered-piles.js';

export interface StagedFiles {
  readonly place: FilesPlace;
  readonly stagingDirectory: string;
  readonly layout: OutputLayout;
  readonly piles: ScatteredPiles;
}

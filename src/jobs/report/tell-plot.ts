/**
 * The plot of a checked order: refuses a bad place for it before the sample is read, and writes it. Only a check with a
 * plot loads this file.
 */
import { UsageError } from '../../errors.js';
import type { Input } from '../../inputs/list-inputs.js';
import { requireOutside } from '../../output/output-place.js';
import type { CheckedOrder } from './order-plot.js';
import { refusalOf, requireDirectory, requireReplaceable, writeWhole } from './report-file.js';

/** @throws UsageError */
export function requirePlotPlace(
  file: unknown,
  force: boolean,
  { inputs, directories }: { readonly inputs: readonly Input[]; readonly directories: readonly string[] },
): void {
  // Callers without types may pass anything.
  if (typeof file !== 'string') throw new UsageError('`plot`: expected the path of a file');
  const refuse = refusalOf('plot', file);
  if (!file.endsWith('.svg')) refuse('expected a name that ends in .svg');
  requireDirectory(file, refuse);
  requireOutside(file, 'the plot', directories);
  requireReplaceable(file, refuse, { force, inputs });
}

/** @throws SystemError, UsageError */
export async function tellPlot(file: string, force: boolean, report: CheckedOrder): Promise<void> {
  const { orderPlot } = await import('./order-plot.js');
  writeWhole(file, orderPlot(report), force);
}

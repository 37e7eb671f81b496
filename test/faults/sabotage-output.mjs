/**
 * Faults in the tasks' reports of written output: a region that is not reported, reported twice, or reported at another
 * place. It wraps the sink of output files.
 */
import { FilesSink } from '#src/sinks/files-sink.js';

/**
 * @typedef {import('#src/sinks/output-target.js').WrittenRegion} WrittenRegion
 * @typedef {import('./sabotage.js').Sabotage} Sabotage
 */

/**
 * @param {Sabotage} sabotage
 * @param {() => boolean} isTheOne
 */
export function sabotageOutput(sabotage, isTheOne) {
  if (sabotage.act !== 'misreport-region') return;
  const { close } = FilesSink.prototype;
  FilesSink.prototype.close = async function () {
    const regions = await close.call(this);
    const [first, ...others] = regions;
    if (first === undefined || !isTheOne()) return regions;
    return [...damaged[sabotage.how](first), ...others];
  };
}

/** @type {Record<'missing' | 'twice' | 'elsewhere', (region: WrittenRegion) => WrittenRegion[]>} */
const damaged = {
  missing: () => [],
  twice: (region) => [region, region],
  elsewhere: ({ start, end, ...region }) => [{ ...region, start: start + 1, end: end + 1 }],
};

/** The kinds of output places, by the form of their names. Few jobs load one that is not on disks. */
import { isRemote, shownAddress } from '../../remote/address.js';
import { DISKS } from './output-files.js';
import { badPlace, type OutputPlaces, type PlacesRequest } from './output-place.js';

interface KindOfPlaces {
  hasName(output: string): boolean;
  open(request: PlacesRequest): Promise<OutputPlaces>;
}

/** The first that has the name of an output; else it lies on disks. */
export const KINDS_OF_PLACES: KindOfPlaces[] = [
  { hasName: isRemote, open: async (request) => (await import('./output-objects.js')).objectPlaces(request) },
];

export function isFarPlace(output: string): boolean {
  return KINDS_OF_PLACES.some((kind) => kind.hasName(output));
}

/** @param output undefined: standard output. */
export async function findPlaces(output: string | undefined, request: PlacesRequest): Promise<OutputPlaces> {
  const kind = KINDS_OF_PLACES.find(({ hasName }) => output !== undefined && hasName(output));
  return kind === undefined ? DISKS : kind.open(request);
}

/** Finds a place for jobs that write to disks alone. */
export const ONLY_DISKS: OutputPlaces = {
  ...DISKS,
  resolve(output, naming, mayReplace) {
    if (output === undefined || !isFarPlace(output)) return DISKS.resolve(output, naming, mayReplace);
    throw badPlace(
      `the output ${shownAddress(output)} lies on another machine, and this job writes to disks; name a file or directory, and upload it then`,
    );
  },
};

/** The kinds of outputs, by the form of their names. Few jobs load one that is not on a local disk. */
import { isRemote, shownAddress } from '../../remote/address.js';
import { LOCAL_PLACES } from './output-files.js';
import { type OutputPlaces, outputPlaceError, type PlacesRequest } from './output-place.js';

interface OutputKind {
  hasName(output: string): boolean;
  open(request: PlacesRequest): Promise<OutputPlaces>;
}

/** The first kind whose form a name has is that of the output; else it lies on a local disk. */
export const OUTPUT_KINDS: OutputKind[] = [
  { hasName: isRemote, open: async (request) => (await import('./output-objects.js')).objectPlaces(request) },
];

export function isRemoteOutput(output: string): boolean {
  return OUTPUT_KINDS.some((kind) => kind.hasName(output));
}

/** @param output undefined: standard output. */
export async function openOutputPlaces(output: string | undefined, request: PlacesRequest): Promise<OutputPlaces> {
  const kind = OUTPUT_KINDS.find(({ hasName }) => output !== undefined && hasName(output));
  return kind === undefined ? LOCAL_PLACES : kind.open(request);
}

/** The places of jobs that write only to local disks. */
export const LOCAL_PLACES_ONLY: OutputPlaces = {
  ...LOCAL_PLACES,
  resolve(output, ...rest) {
    if (output === undefined || !isRemoteOutput(output)) return LOCAL_PLACES.resolve(output, ...rest);
    throw outputPlaceError(
      `the output ${shownAddress(output)} lies on another machine, and this job writes to disks; name a file or directory, and upload it then`,
    );
  },
};

/** Turns what is wrong with an HDF5 file into an error of an input. */
import { corruptInput, InputError } from '../../../errors.js';
import { Hdf5Problem } from './hdf5-bytes.js';

export function inInput<T>(path: string, use: () => T): T {
  try {
    return use();
  } catch (error) {
    if (!(error instanceof Hdf5Problem)) throw error;
    if (error.isDamage) throw corruptInput(path, `${error.message}; make the file again`, { cause: error });
    throw new InputError('ERR_INPUT_FORMAT', `${path}: ${error.message}`, { cause: error });
  }
}

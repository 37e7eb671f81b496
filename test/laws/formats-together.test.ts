/** Every pair of format, storage, cut, number of threads and place of the output; `*.slow.ts` has all combinations. */
import { pairsOnly, testFormatsTogether } from './formats-together.js';

testFormatsTogether(pairsOnly);

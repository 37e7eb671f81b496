/** Every seventh call; `*.slow.ts` has all. */
import { testInterruptedStores } from './interrupted-stores.js';

testInterruptedStores(7);

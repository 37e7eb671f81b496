/** All that changes a store, interrupted at every call. */
import { testInterruptedStores } from './interrupted-stores.js';

testInterruptedStores(1);

/** Every 23rd call; `*.slow.ts` has all. */
import { testKilledStoreCommands } from './killed-store-commands.js';

testKilledStoreCommands(23);

/** Every 45th call; `*.slow.ts` has all. */
import { testKilledStoreCommands } from './killed-store-commands.js';

testKilledStoreCommands(45);

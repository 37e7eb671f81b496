/** The commands that change a store, killed at every call. */
import { testKilledStoreCommands } from './killed-store-commands.js';

testKilledStoreCommands(1);

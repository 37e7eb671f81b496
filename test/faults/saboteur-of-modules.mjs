/** Makes the faults that need the separate modules of the program; the command then runs unbundled. */
import { sabotageGates } from './sabotage-gates.mjs';
import { sabotageOutput } from './sabotage-output.mjs';
import { gateCounts, isTheOne, sabotage } from './saboteur.mjs';

sabotageOutput(sabotage, isTheOne);
sabotageGates(sabotage, gateCounts);

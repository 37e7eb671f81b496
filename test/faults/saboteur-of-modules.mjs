/** The saboteur, for what can only be broken in modules of the program: the command then has them one by one. */
import { sabotageGates } from './sabotage-gates.mjs';
import { sabotageOutput } from './sabotage-output.mjs';
import { gateCounts, isTheOne, sabotage } from './saboteur.mjs';

sabotageOutput(sabotage, isTheOne);
sabotageGates(sabotage, gateCounts);

/** The power fails after every change that is made to a store. */
import { testPowerLoss } from './power-loss.js';

testPowerLoss(1, 8);

/** A thousand random jobs one after the other. */
import { testSoak } from './soak.js';

testSoak(1000, 100 * 1024);

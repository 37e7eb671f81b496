/** Every combination of format, storage, cut and number of threads. */
import { testFormatsTogether, wholeProduct } from './formats-together.js';

testFormatsTogether(wholeProduct);

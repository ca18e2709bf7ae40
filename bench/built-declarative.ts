// The declarative entry of the built package. Separate from `built.ts`, so that the memory and import time of
// other operators do not include it.
import type * as declarativeModule from '../lib/declarative/index.js';
import { built } from './built.js';

export const { DeclarativeManager, DeclarativeOperator } =
  await built<typeof declarativeModule>('declarative/index.js');

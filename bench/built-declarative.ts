// The built package's declarative operators, apart: an operator of another style does not load them.
import type * as declarativeModule from '../lib/declarative/index.js';
import { built } from './built.js';

export const { DeclarativeManager, DeclarativeOperator } =
  await built<typeof declarativeModule>('declarative/index.js');

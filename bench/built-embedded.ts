// The built package's embedded cluster, apart: an operator does not load it.
import type * as embeddedModule from '../lib/apiserver/index.js';
import { built } from './built.js';

export const { EmbeddedCluster } = await built<typeof embeddedModule>('apiserver/index.js');

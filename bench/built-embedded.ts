// The embedded cluster of the built package. Separate from `built.ts`, since operators do not load it.
import type * as embeddedModule from '../lib/apiserver/index.js';
import { built } from './built.js';

export const { EmbeddedCluster } = await built<typeof embeddedModule>('apiserver/index.js');

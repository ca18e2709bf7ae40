// The built package, as users run it: tsx would wrap functions to keep their names, which costs.
import type * as cacheModule from '../lib/cache/index.js';
import type * as clientModule from '../lib/client/index.js';
import type * as controllerModule from '../lib/controller/index.js';
import type * as engineModule from '../lib/declarative/engine/index.js';
import type * as kindsModule from '../lib/object/kinds.js';

export const { Cache } = await built<typeof cacheModule>('cache/index.js');
export const { clientFromKubeConfig } = await built<typeof clientModule>('client/index.js');
export const { controllerFor, done } = await built<typeof controllerModule>('controller/index.js');
export const { compilePlan, evaluateWhole, OutputCollector, Pipeline } = await built<
  typeof engineModule
>('declarative/engine/index.js');
export const { ConfigMap } = await built<typeof kindsModule>('object/kinds.js');

async function built<M>(path: string): Promise<M> {
  return (await import(new URL(`../dist/${path}`, import.meta.url).href)) as M;
}

// The built package, as users run it: tsx would wrap functions to keep their names, which costs.
import type * as declarativeModule from '../lib/declarative/index.js';
import type * as publicModule from '../lib/index.js';

export const { Cache, ConfigMap, clientFromKubeConfig, controllerFor, done } =
  await built<typeof publicModule>('index.js');
export const { compilePlan, evaluateWhole, OutputCollector, Pipeline } =
  await built<typeof declarativeModule>('declarative/index.js');

async function built<M>(path: string): Promise<M> {
  return (await import(new URL(`../dist/${path}`, import.meta.url).href)) as M;
}

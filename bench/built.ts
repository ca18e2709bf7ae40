// The built package, as users run it. The sources would be slower: tsx wraps functions to keep their names.
import type * as crdModule from '../lib/crd/index.js';
import type * as publicModule from '../lib/index.js';

export const {
  Cache,
  ConfigMap,
  Operator,
  PersistentVolumeClaim,
  Pod,
  Service,
  StatefulSet,
  clientFromKubeConfig,
  controllerFor,
  done,
  ensureCrd,
  pinoLogger,
  streamSource,
} = await built<typeof publicModule>('index.js');
export const { defineResource, s } = await built<typeof crdModule>('crd/index.js');

/** Loads a module of `dist/`. */
export async function built<M>(path: string): Promise<M> {
  return (await import(new URL(`../dist/${path}`, import.meta.url).href)) as M;
}

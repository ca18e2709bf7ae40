/*
 * Informers, and a client that reads from them.
 *
 *   watch ──► list-and-watch.ts ──► reflector.ts ──► intake.ts ──► store.ts ──► event handlers
 *                                                                     │
 *   reader ◄── cached-client.ts ◄── cached-reads.ts ◄── write-overlay.ts (own writes)
 *
 * Read `informer.ts` (the interface), `cache.ts` (the informers of a cluster) and `shared-informer.ts` (one
 * informer). `reflector.ts` lists, watches and reconnects, with the delays of `setbacks.ts`. `intake.ts`
 * checks and shares objects, and `known-parts.ts` keeps their texts; objects that cannot be stored go to
 * `quarantine.ts`. `store.ts` holds the others with the indexes of `indexer.ts`. `missing.ts` explains why a kind
 * cannot be cached.
 */
export { Cache } from './cache.js';
export { cachedType } from './cache-options.js';
export type { CacheOptions, CachedType } from './cache-options.js';
export { cachedClient } from './cached-client.js';
export type { CachedClient } from './cached-client.js';
export { byLabel, controllerUidIndex } from './indexer.js';
export type { Indexer } from './indexer.js';
export type {
  AddedEvent,
  CacheEvent,
  DeletedEvent,
  HandlerRegistration,
  Informer,
  InformerStatus,
  UpdatedEvent,
} from './informer.js';
export { describeMissing, isNotServed } from './missing.js';
export type { QuarantinedObject } from './quarantine.js';
export { compareResourceVersions } from './resource-version.js';
export { forgetCacheMetrics } from './cache-metrics.js';
export { ChangeNotifier } from './change-notifier.js';
export { ReconnectDelay } from './setbacks.js';
export { estimateTotalBytes } from './store.js';

export { Cache } from './cache.js';
export type { InformerOptions } from './cache.js';
export { cachedType } from './cache-options.js';
export type { CacheOptions, CachedType } from './cache-options.js';
export { cachedClient } from './cached-client.js';
export type { CachedClient, CachedClientOptions } from './cached-client.js';
export {
  byControllerUid,
  byLabel,
  byNamespace,
  controllerUidIndex,
  namespaceIndex,
} from './indexer.js';
export type { Indexer } from './indexer.js';
export type {
  AddedEvent,
  CacheEvent,
  CacheEventHandler,
  DeletedEvent,
  HandlerRegistration,
  Informer,
  InformerStatus,
  UpdatedEvent,
  WaitForSyncOptions,
} from './informer.js';
export { describeMissing } from './missing.js';
export type { Missing } from './missing.js';
export type { Transform } from './intake.js';
export type { QuarantinedObject } from './quarantine.js';
export { compareResourceVersions } from './resource-version.js';

import { refuseUnknownOptions } from '../system/known-options.js';
import type { OptionNames } from '../system/known-options.js';
import type {
  ApplyOptions,
  CallOptions,
  DeleteCollectionOptions,
  DeleteOptions,
  GetOptions,
  ListOptions,
  StreamOptions,
  WatchOptions,
  WriteOptions,
} from './client.js';

// A misspelt option is dangerous: `deleteCollection` with `labelselector` would delete every object.
const call: OptionNames<CallOptions> = { signal: true };
const selection = { namespace: true, labelSelector: true, fieldSelector: true };
const get: OptionNames<GetOptions> = {
  ...{ ...call, resourceVersion: true, subresource: true, metadataOnly: true },
};
const list: OptionNames<ListOptions> = {
  ...{ ...call, ...selection, controllerUid: true, index: true, limit: true },
  ...{ resourceVersion: true, resourceVersionMatch: true, metadataOnly: true },
};
const watch: OptionNames<WatchOptions> = {
  ...{ ...call, ...selection, resourceVersion: true, resourceVersionMatch: true },
  ...{ allowWatchBookmarks: true, sendInitialEvents: true, timeoutMs: true, metadataOnly: true },
};
/** The options of every write. */
export const writeOptionNames: OptionNames<WriteOptions> = {
  ...{ ...call, fieldManager: true, dryRun: true, fieldValidation: true },
  ...{ subresource: true, parent: true, fences: true, details: true },
};
const remove: OptionNames<DeleteOptions> = {
  ...{ ...call, dryRun: true, propagationPolicy: true, gracePeriodSeconds: true },
  ...{ preconditions: true, fences: true, details: true },
};

interface OptionsByVerb {
  readonly get: GetOptions;
  readonly list: ListOptions;
  readonly pages: ListOptions;
  readonly watch: WatchOptions;
  readonly stream: StreamOptions;
  readonly create: WriteOptions;
  readonly update: WriteOptions;
  readonly patch: WriteOptions;
  readonly apply: ApplyOptions;
  readonly delete: DeleteOptions;
  readonly deleteCollection: DeleteCollectionOptions;
}

const optionNames: { readonly [Verb in keyof OptionsByVerb]: OptionNames<OptionsByVerb[Verb]> } = {
  ...{ get, list, pages: list, watch, create: writeOptionNames },
  ...{ update: writeOptionNames, patch: writeOptionNames },
  stream: { ...call, subresource: true, query: true },
  apply: { ...writeOptionNames, force: true },
  delete: remove,
  deleteCollection: { ...remove, ...selection },
};

/** @throws OperatorError `InvalidOption`: a call of {@link Client} has an unknown option. */
export function checkCallOptions<Verb extends keyof OptionsByVerb>(
  verb: Verb,
  options: OptionsByVerb[Verb],
): void {
  refuseUnknownOptions<OptionsByVerb[Verb]>(`client.${verb}`, options, optionNames[verb]);
}

import type { Recorder } from '../events/recorder.js';
import { systemClock } from '../system/clock.js';
import type { Clock } from '../system/clock.js';
import { silentLogger } from '../system/logger.js';
import type { Logger } from '../system/logger.js';
import { systemRandom } from '../system/random.js';
import type { Random } from '../system/random.js';
import { Pass, ResourceScope } from './pass.js';
import { PassContext } from './pass-context.js';
import type { ResourceContext } from './resource-context.js';
import { refuseUnknownOptions } from '../system/known-options.js';

/** Options of {@link newResourceContext}. */
export interface ResourceContextOptions {
  readonly client: ResourceContext['client'];
  /** @defaultValue a signal that is never aborted */
  readonly signal?: AbortSignal | undefined;
  /** @defaultValue logs nothing */
  readonly logger?: Logger | undefined;
  /** @defaultValue records nothing */
  readonly recorder?: Recorder | undefined;
  /** @defaultValue the system clock */
  readonly clock?: Clock | undefined;
  /** @defaultValue the system's random source */
  readonly random?: Random | undefined;
  /** The field manager of the objects that ready-made resources apply. @defaultValue each resource's name */
  readonly fieldManager?: string | undefined;
  /** The name of the resource set. @defaultValue '' */
  readonly resourceSet?: string | undefined;
}

const silentRecorder: Recorder = { record: () => undefined };

/**
 * Makes the context of one reconcile of one object, for direct calls of `processUpdate` and `processDelete`
 * and for tests of a resource. Make a new one for each reconcile: it holds the values that resources share.
 * Afterwards it shows their requests: `reconciliationCanceled`, `finalizersKept`, `requeueAfterMs`.
 */
export function newResourceContext(options: ResourceContextOptions): ResourceContext {
  const { client, signal = new AbortController().signal } = options;
  const { logger = silentLogger, recorder = silentRecorder } = options;
  const { clock = systemClock, random = systemRandom, resourceSet = '', fieldManager } = options;
  refuseUnknownOptions<ResourceContextOptions>('newResourceContext', options, {
    ...{ client, signal, logger, recorder, clock, random, resourceSet, fieldManager },
  });
  const pass = new Pass(resourceSet);
  const parts = { client, signal, logger, recorder, clock, random, fieldManager };
  return new PassContext(parts, pass, { place: pass.place, scope: new ResourceScope() });
}

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
  /** @defaultValue one that is never aborted */
  readonly signal?: AbortSignal | undefined;
  /** @defaultValue drops everything */
  readonly logger?: Logger | undefined;
  /** @defaultValue drops everything */
  readonly recorder?: Recorder | undefined;
  /** @defaultValue the machine's */
  readonly clock?: Clock | undefined;
  /** @defaultValue the machine's */
  readonly random?: Random | undefined;
  /** Who owns what ready-made resources apply. @defaultValue each of them by its own name */
  readonly fieldManager?: string | undefined;
  /** The set that the resources are of. @defaultValue '', none */
  readonly resourceSet?: string | undefined;
}

const silentRecorder: Recorder = { record: () => undefined };

/**
 * The context of one pass over one object, for `processUpdate` and `processDelete` of your own, and
 * for tests of a resource. Make a new one for each pass: what resources tell one another is kept in
 * it. Afterwards it says what they asked for: `reconciliationCanceled`, `finalizersKept`,
 * `requeueAfterMs`.
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

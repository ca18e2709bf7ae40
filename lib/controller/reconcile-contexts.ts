import type { KubernetesObject } from '../object/kubernetes-object.js';
import { keyOf, keyString, parseKey } from '../object/object-key.js';
import { tell } from './controller-event.js';
import type { ControllerParts } from './controller-parts.js';
import { reconcileClient } from './reconcile-client.js';
import type { ObservedWrite } from './reconcile-client.js';
import type { ReconcileRun } from './reconcile-run.js';
import type { ReconcileContext } from './reconciler.js';
import type { Trigger } from './trigger.js';

/** Where a key comes from that was handed out before anybody could say why. */
const untold: Trigger = { type: 'source', source: 'unknown' };

/** Makes what reconcilers are given, and observes what they write. */
export class ReconcileContexts {
  readonly #parts: ControllerParts;

  constructor(parts: ControllerParts) {
    this.#parts = parts;
  }

  /** The context of a run that is about to begin. */
  of(run: ReconcileRun): ReconcileContext {
    const { logger, kind, triggers, runtime } = this.#parts;
    const { reconcileID, signal } = run;
    const key = parseKey(run.key);
    const known = triggers.take(run.key);
    const [trigger = untold] = known.triggers;
    return {
      ...{ key, signal, reconcileID, trigger },
      logger: logger.child({ kind, ...key, reconcileID }),
      triggers: known.triggers.length > 0 ? known.triggers : [trigger],
      moreTriggers: known.more,
      client: reconcileClient(runtime.client, {
        signal,
        observe: (target) => {
          const before = runtime.cache.peek(target.type)?.get(target.key);
          return (write) => this.#wrote(run.key, write, before);
        },
      }),
    };
  }

  #wrote(key: string, write: ObservedWrite, before: KubernetesObject | undefined): void {
    const { hotLoops, metrics, logger, name, runtime } = this.#parts;
    const { type, answer: after } = write;
    // The name may be the server's own.
    const target = after === undefined ? write.key : keyOf(after);
    const found = hotLoops?.wrote({ key, type, target, before, after });
    if (found === undefined) return;
    const { object, ...facts } = found;
    metrics.hotLoops.add(1, { controller: name });
    logger.warn(`keeps writing ${object.kind} ${keyString(object)}: slowed down`, facts);
    tell(runtime, { type: 'hotLoop', controller: name, ...found });
  }
}

import { ensureCrd } from '../../client/ensure-crd.js';
import type { Runnable } from '../../manager/runnable.js';
import { isInvalid } from '../../object/api-error.js';
import { describeObject } from '../../object/describe-object.js';
import type { CustomResourceDefinition } from '../../object/kinds.js';
import type { KubernetesObject } from '../../object/kubernetes-object.js';
import { sleep } from '../../system/clock.js';
import { isOperatorError } from '../../system/operator-error.js';
import { nextWaitMs } from '../next-wait-ms.js';
import type { ResolvedFrameworkOptions } from './resolve-framework-options.js';

/**
 * Installs or updates the CRD before caches are filled, with retries after the back-off's delays. When the
 * back-off ends, or the error is permanent, the manager fails with the last error.
 */
export function crdInstaller<T extends KubernetesObject>(
  crd: CustomResourceDefinition,
  options: ResolvedFrameworkOptions<T>,
): Runnable {
  const { name, client, clock, random, backOffFactory } = options;
  return {
    name: `${name}: ${describeObject(crd)}`,
    phase: 'webhook',
    run: async ({ signal, logger }) => {
      const backOff = backOffFactory(random);
      for (;;) {
        try {
          await ensureCrd(client, crd, { clock, signal, fieldManager: name });
          return;
        } catch (error) {
          signal.throwIfAborted();
          const delayMs = isHopeless(error) ? undefined : nextWaitMs(backOff, error);
          if (delayMs === undefined) throw error;
          logger.warn(`the CRD is not installed yet; tried again in ${delayMs} ms`, { error });
          await sleep(clock, delayMs, signal);
        }
      }
    },
  };
}

/** Retries cannot fix an invalid definition or a name conflict. */
function isHopeless(error: unknown): boolean {
  return isInvalid(error) || isOperatorError(error, 'InvalidObject');
}

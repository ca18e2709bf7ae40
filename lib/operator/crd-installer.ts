import { ensureCrd } from '../client/ensure-crd.js';
import { Backoff } from '../controller/index.js';
import type { RequiredAccess } from '../manager/access/required-access.js';
import type { Manager } from '../manager/manager.js';
import type { Runnable } from '../manager/runnable.js';
import { isInvalid } from '../object/api-error.js';
import { describeObject } from '../object/describe-object.js';
import { CustomResourceDefinition } from '../object/kinds.js';
import { sleep } from '../system/clock.js';
import { isOperatorError } from '../system/operator-error.js';

/** The access that {@link crdInstaller} needs. */
export function installAccess(
  crds: readonly CustomResourceDefinition[],
): readonly RequiredAccess[] {
  const type = CustomResourceDefinition;
  const names = crds.map(({ metadata: { name = '' } }) => name);
  return [
    { type, verbs: ['create'] },
    { type, verbs: ['get', 'list', 'watch', 'patch'], names },
  ];
}

/**
 * Installs CRDs on every replica before the caches start, and retries until they are served. Health probes
 * are answered meanwhile, so an unavailable API server does not restart the Pod.
 */
export function crdInstaller(
  crds: readonly CustomResourceDefinition[],
  fieldManager: string,
  { givenClient: client, clock }: Manager,
): Runnable {
  const installed = async (crd: CustomResourceDefinition, signal: AbortSignal) => {
    try {
      await ensureCrd(client, crd, { fieldManager, clock, signal });
      return undefined;
    } catch (error) {
      signal.throwIfAborted();
      // Retries do not help against an invalid CRD or names that are taken.
      if (isInvalid(error) || isOperatorError(error, 'InvalidObject')) throw error;
      return error;
    }
  };
  return {
    name: 'the custom resources',
    phase: 'server',
    run: async ({ signal, logger }) => {
      for (const crd of crds) {
        const backoff = new Backoff({ baseDelayMs: 1_000, maxDelayMs: 30_000 });
        for (;;) {
          const error = await installed(crd, signal);
          if (error === undefined) break;
          const delayMs = backoff.next('');
          const problem = `${describeObject(crd)} is not installed yet`;
          logger.warn(`${problem}; tried again in ${delayMs} ms`, { error });
          await sleep(clock, delayMs, signal);
        }
      }
    },
  };
}

import { Backoff, ensureCrd, isInvalid, isOperatorError, sleep } from 'operator-builder';
import type { Client, Clock, CustomResourceDefinition, Runnable } from 'operator-builder';
import { parseableTenantCrd } from './crd.js';
import { controllerName } from './reconcile-tenant.js';

/** Installs the custom resource, or brings it up to date, and waits until it is served. */
export async function installCrd(client: Client, signal?: AbortSignal): Promise<void> {
  await ensureCrd(client, parseableTenantCrd, { fieldManager: controllerName, signal });
}

/** Does it as a part of a manager. */
export function crdInstaller(client: Client, clock: Clock): Runnable {
  return installerOf(parseableTenantCrd, { client, clock, fieldManager: controllerName });
}

/** Who installs a custom resource. */
export interface Installing {
  readonly client: Client;
  readonly clock: Clock;
  readonly fieldManager: string;
}

/**
 * Installs a custom resource as a part of a manager: before the caches, and again until it is done.
 * Probes are answered meanwhile, so that an API server that is away for a while is no reason to restart.
 */
export function installerOf(
  crd: CustomResourceDefinition,
  { client, clock, fieldManager }: Installing,
): Runnable {
  return {
    name: 'the custom resource',
    phase: 'server',
    run: async ({ signal, logger }) => {
      const backoff = new Backoff({ baseDelayMs: 1_000, maxDelayMs: 30_000 });
      for (;;) {
        try {
          await ensureCrd(client, crd, { fieldManager, signal });
          return;
        } catch (error) {
          signal.throwIfAborted();
          // It will not become valid by itself, nor will its names be free.
          if (isInvalid(error) || isOperatorError(error, 'InvalidObject')) throw error;
          const delayMs = backoff.next('');
          logger.warn(`the CRD is not installed yet; tried again in ${delayMs} ms`, { error });
          await sleep(clock, delayMs, signal);
        }
      }
    },
  };
}

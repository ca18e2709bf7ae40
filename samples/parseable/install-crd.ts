import {
  Backoff,
  CustomResourceDefinition,
  getIfExists,
  hashObject,
  isConditionTrue,
  isInvalid,
  sleep,
  waitFor,
} from 'operator-builder';
import type { Client, Clock, Runnable } from 'operator-builder';
import { parseableTenantCrd } from './crd.js';
import { controllerName } from './reconcile-tenant.js';

const crdHashAnnotation = 'parseable.io/definition-hash';

/** Installs the custom resource, or brings it up to date, and waits until it is served. */
export async function installCrd(client: Client, signal?: AbortSignal): Promise<void> {
  const object = await currentCrd(client, signal);
  const established = (crd: CustomResourceDefinition | undefined): boolean =>
    isConditionTrue(crd?.status?.conditions, 'Established');
  await waitFor(client, object, { until: established, timeoutMs: 30_000, signal });
}

/**
 * Does it as a part of a manager: before the caches, and again until it is done. Probes are answered
 * meanwhile, so that an API server that is away for a while is no reason to restart.
 */
export function crdInstaller(client: Client, clock: Clock): Runnable {
  return {
    name: 'the custom resource',
    phase: 'server',
    run: async ({ signal, logger }) => {
      const backoff = new Backoff({ baseDelayMs: 1_000, maxDelayMs: 30_000 });
      for (;;) {
        try {
          await installCrd(client, signal);
          return;
        } catch (error) {
          signal.throwIfAborted();
          // It will not become valid by itself.
          if (isInvalid(error)) throw error;
          const delayMs = backoff.next('');
          logger.warn(`the CRD is not installed yet; tried again in ${delayMs} ms`, { error });
          await sleep(clock, delayMs, signal);
        }
      }
    },
  };
}

/** Writes only where the definition changed, so that a restart writes nothing. */
async function currentCrd(client: Client, signal?: AbortSignal): Promise<CustomResourceDefinition> {
  const hash = hashObject(parseableTenantCrd);
  const { metadata } = parseableTenantCrd;
  const live = await getIfExists(client, CustomResourceDefinition, metadata, { signal });
  if (live?.metadata.annotations?.[crdHashAnnotation] === hash) return live;
  const annotations = { [crdHashAnnotation]: hash };
  const desired = { ...parseableTenantCrd, metadata: { ...metadata, annotations } };
  const applying = { fieldManager: controllerName, force: true, signal };
  return (await client.apply<CustomResourceDefinition>(desired, applying)).object;
}

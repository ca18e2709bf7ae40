import { Cache } from 'operator-builder';
import type { Client, KubernetesObject } from 'operator-builder';

/** A view of the operator `service-health`: the pods of an app. */
export interface AppHealth extends KubernetesObject {
  readonly pods: readonly { readonly name: string; readonly ready: boolean }[];
}

/** The group of a view contains the name of its operator. */
const appHealth = {
  apiVersion: 'service-health.view.dcontroller.io/v1alpha1',
  kind: 'AppHealth',
};

/**
 * Reports the number of ready pods of each app, at the start and whenever it changes, until `signal` is aborted.
 * Waits for the operator if it has not started yet, and continues when it was restarted.
 * @param client - of the API server of views
 */
export async function watchHealth(
  client: Client,
  report: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const cache = new Cache({ client });
  const informer = cache.informer<AppHealth>(appHealth);
  const last = new Map<string, string>();
  informer.addHandler(({ type, object }) => {
    const { namespace = '', name = '' } = object.metadata;
    const app = `${namespace}/${name}`;
    const line = type === 'deleted' ? `${app}: gone` : `${app}: ${readyOf(object)}`;
    if (last.get(app) !== line) report(line);
    last.set(app, line);
  });
  cache.start();
  if (!signal.aborted) {
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  }
  informer.release();
  await cache.stop();
}

function readyOf({ pods }: AppHealth): string {
  return `${pods.filter(({ ready }) => ready).length} of ${pods.length} pods are ready`;
}

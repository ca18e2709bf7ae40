import type { Client } from '../../../lib/client/client.js';
import { isApiError, isNotFound } from '../../../lib/object/api-error.js';
import { CustomResourceDefinition } from '../../../lib/object/kinds.js';
import { sleep, systemClock } from '../../../lib/system/clock.js';
import { serverVerdict } from './feature-verdicts.js';
import type { CaseVerdict } from './feature-verdicts.js';
import { featureResource, features } from './features.js';

/**
 * Returns the results of a server for every case of every feature, without strict field validation.
 */
export async function featureVerdicts(
  client: Client,
  group: string,
): Promise<Readonly<Record<string, readonly CaseVerdict[]>>> {
  const verdicts: Record<string, readonly CaseVerdict[]> = {};
  const resources = features.map((feature) => ({
    feature,
    resource: featureResource(feature, group),
  }));
  // In parallel, because each CRD takes a real server one or two seconds.
  await Promise.all(resources.map(({ resource }) => client.create(resource.crd)));
  for (const { feature, resource } of resources) {
    const own: CaseVerdict[] = [];
    for (const one of feature.cases) {
      own.push(await onceServed(() => serverVerdict(client, resource, one)));
    }
    verdicts[feature.title] = own;
  }
  await Promise.all(
    resources.map(({ resource }) => {
      return client.delete(CustomResourceDefinition, { name: resource.crd.metadata.name });
    }),
  );
  return verdicts;
}

/** Retries until a new CRD is served. */
async function onceServed<T>(call: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await call();
    } catch (error) {
      const early = isNotFound(error) || !isApiError(error);
      if (!early || tries > 100) throw error;
      await sleep(systemClock, 50);
    }
  }
}

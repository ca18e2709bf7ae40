import type { Client } from '../../../lib/client/client.js';
import { isApiError, isNotFound } from '../../../lib/object/api-error.js';
import { CustomResourceDefinition } from '../../../lib/object/kinds.js';
import { sleep, systemClock } from '../../../lib/system/clock.js';
import { serverVerdict } from './feature-verdicts.js';
import type { CaseVerdict } from './feature-verdicts.js';
import { featureResource, features } from './features.js';

/** What a server says of every case of every feature; it must be strict about nothing. */
export async function featureVerdicts(
  client: Client,
  group: string,
): Promise<Readonly<Record<string, readonly CaseVerdict[]>>> {
  const verdicts: Record<string, readonly CaseVerdict[]> = {};
  for (const feature of features) {
    const resource = featureResource(feature, group);
    const { crd } = resource;
    await client.create(crd);
    try {
      const own: CaseVerdict[] = [];
      for (const one of feature.cases) {
        own.push(await onceServed(() => serverVerdict(client, resource, one)));
      }
      verdicts[feature.title] = own;
    } finally {
      await client.delete(CustomResourceDefinition, { name: crd.metadata.name });
    }
  }
  return verdicts;
}

/** A CRD is served a moment after it was made. */
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

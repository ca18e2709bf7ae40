import { Deployment, rolloutStatus } from 'operator-builder';
import type { KubernetesObject } from 'operator-builder';
import type { Resource, ResourceContext } from 'operator-builder/resource';
import { nameOf } from './site.js';
import type { Site } from './site.js';

/**
 * Writes the site's status, as the last resource of a chain. Implements `Resource` directly, to show how: the
 * other resources use the helpers of the package.
 */
export class StatusResource implements Resource<Site> {
  readonly name = 'status';
  readonly #chain: string;

  constructor(chain: string) {
    this.#chain = chain;
  }

  async ensureCreated(context: ResourceContext, site: Site): Promise<void> {
    const { client, signal, fieldManager } = context;
    const { items } = await client.list(Deployment, { namespace: nameOf(site), signal });
    const complete = items.filter((item) => rolloutStatus({ ...item, ...deploymentType }).complete);
    const ready = `${complete.length}/${items.length}`;
    const { generation: observedGeneration = 0, uid = '' } = site.metadata;
    const { status = {} } = site;
    const isTold =
      status.ready === ready &&
      status.chain === this.#chain &&
      status.observedGeneration === observedGeneration;
    if (isTold) return;
    const applied = {
      apiVersion: site.apiVersion,
      kind: site.kind,
      // The UID makes the apply fail if the site was deleted and created again meanwhile.
      metadata: { name: nameOf(site), uid },
      status: { observedGeneration, chain: this.#chain, ready },
    };
    const options = { subresource: 'status', fieldManager, force: true };
    await client.apply<KubernetesObject>(applied, { ...options, signal });
  }

  async ensureDeleted(): Promise<void> {
    // The status is deleted with the site.
  }
}

// The server omits apiVersion and kind in the items of a list.
const deploymentType = { apiVersion: 'apps/v1', kind: 'Deployment' };

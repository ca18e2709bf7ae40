import { Deployment, rolloutStatus } from 'operator-builder';
import type { KubernetesObject } from 'operator-builder';
import type { Resource, ResourceContext } from 'operator-builder/resource';
import { nameOf } from './site.js';
import type { Site } from './site.js';

/** The last of a chain: says on the site how far it is. A resource without steps, by hand. */
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
      // With the UID, one that was deleted and made again is not written for the old one.
      metadata: { name: nameOf(site), uid },
      status: { observedGeneration, chain: this.#chain, ready },
    };
    const options = { subresource: 'status', fieldManager, force: true };
    await client.apply<KubernetesObject>(applied, { ...options, signal });
  }

  async ensureDeleted(): Promise<void> {
    // It goes with the site.
  }
}

// The items of a list do not say their kind.
const deploymentType = { apiVersion: 'apps/v1', kind: 'Deployment' };

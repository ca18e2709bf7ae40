import { expect } from 'chai';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import * as kinds from '../../lib/object/kinds.js';
import { apiVersionOf } from '../../lib/object/resource-type.js';
import type { ResourceType } from '../../lib/object/resource-type.js';

describe('The kinds that need no discovery', () => {
  it('have the group, version, plural and scope of the server', async () => {
    const cluster = await EmbeddedCluster.start();
    const client = cluster.client();
    const all = Object.entries(kinds as Readonly<Record<string, ResourceType>>);
    expect(all.length).to.be.greaterThan(20);
    for (const [name, type] of all) {
      expect(type.kind).to.equal(name);
      const served = await client.resourceType({ apiVersion: apiVersionOf(type), kind: name });
      expect(type, name).to.deep.equal(served);
    }
    await cluster.stop();
  });
});

import { expect } from 'chai';
import * as kinds from '../../lib/object/kinds.js';
import { apiVersionOf } from '../../lib/object/resource-type.js';
import type { ResourceType } from '../../lib/object/resource-type.js';
import { Api } from '../apiserver/api.js';

interface Served {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

describe('The kinds that need no discovery', () => {
  it('have the group, version, plural and scope that the server reports', async () => {
    // A client would not ask the server about these kinds.
    const api = new Api();
    const all = Object.entries(kinds as Readonly<Record<string, ResourceType>>);
    expect(all.length).to.be.greaterThan(20);
    for (const [name, type] of all) {
      expect(type.kind).to.equal(name);
      const { body } = await api.get(
        `${type.group === '' ? '/api' : '/apis'}/${apiVersionOf(type)}`,
      );
      const { resources } = body as unknown as { resources: readonly Served[] };
      const served = resources.filter(({ kind, name: plural }) => {
        return kind === name && !plural.includes('/');
      });
      expect(served, name).to.have.length(1);
      const { kind, plural: resource, namespaced } = type;
      expect(served[0], name).to.include({ kind, name: resource, namespaced });
    }
  });
});

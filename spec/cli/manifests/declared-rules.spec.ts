import { expect } from 'chai';
import { declaredRules } from '../../../lib/cli/manifests/role-files.js';
import { defineResource, s } from '../../../lib/crd/index.js';
import { Operator } from '../../../lib/operator/index.js';

const shopOf = (group: string, plural: string) =>
  defineResource({
    ...{ group, kind: 'Shop', plural },
    versions: [{ name: 'v1', schema: s.object({ spec: s.object({}) }) }],
  });

describe('The declared rules of an operator', () => {
  it('name the plural of each kind, also of kinds with one name or one API version', async () => {
    const [shops, markets] = [shopOf('shop.example', 'shops'), shopOf('market.example', 'stalls')];
    const Till = defineResource({
      ...{ group: 'shop.example', kind: 'Till' },
      versions: [{ name: 'v1', schema: s.object({ spec: s.object({}) }) }],
    });
    const operator = new Operator('shops');
    const verbs = ['deletecollection'];
    operator
      .for(shops)
      .requires(
        { type: { apiVersion: 'market.example/v1', kind: 'Shop' }, verbs },
        { type: { apiVersion: 'shop.example/v1', kind: 'Till' }, verbs },
      )
      .reconciles(() => undefined);
    for (const resource of [markets, Till]) {
      operator.for(resource, { name: resource.plural }).reconciles(() => undefined);
    }
    const { everywhere } = await declaredRules(operator);
    const required = everywhere.filter((rule) => rule.verbs.includes('deletecollection'));
    const places = required.flatMap(({ apiGroups = [], resources = [] }) =>
      apiGroups.flatMap((group) => resources.map((resource) => `${group}/${resource}`)),
    );
    expect(places).to.have.members(['market.example/stalls', 'shop.example/tills']);
  });
});

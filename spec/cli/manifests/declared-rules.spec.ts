import { expect } from 'chai';
import { declaredRules } from '../../../lib/cli/manifests/role-files.js';
import { defineResource, s } from '../../../lib/crd/index.js';
import { Operator } from '../../../lib/operator/index.js';

const shopOf = (group: string, plural: string) =>
  defineResource({
    ...{ group, kind: 'Shop', plural },
    versions: [{ name: 'v1', schema: s.object({ spec: s.object({}) }) }],
  });

describe('The RBAC rules that an operator declares', () => {
  it('have the plural of each kind, even if two kinds have the same name or the same API version', async () => {
    const [shops, markets] = [shopOf('shop.example', 'shops'), shopOf('market.example', 'stalls')];
    const Till = defineResource({
      ...{ group: 'shop.example', kind: 'Till' },
      versions: [{ name: 'v1', schema: s.object({ spec: s.object({}) }) }],
    });
    const operator = new Operator('shops');
    // Access to single objects needs a rule of its own, apart from that of the watches.
    const access = { verbs: ['deletecollection'], names: ['main'] };
    const foreign = { group: 'stock.example', version: 'v1', kind: 'Depot' };
    operator
      .for(shops)
      .requires(
        { type: { apiVersion: 'market.example/v1', kind: 'Shop' }, ...access },
        { type: { apiVersion: 'shop.example/v1', kind: 'Till' }, ...access },
        { type: { ...foreign, plural: 'depotes', namespaced: true }, ...access },
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
    expect(places).to.have.members([
      'market.example/stalls',
      'shop.example/tills',
      'stock.example/depotes',
    ]);
  });

  it('are refused for a kind without a known plural, even if a built-in kind has the same name', async () => {
    const operator = new Operator('shops');
    const type = { apiVersion: 'stock.example/v1', kind: 'Deployment' };
    operator
      .for(shopOf('shop.example', 'shops'))
      .requires({ type, verbs: ['get'] })
      .reconciles(() => undefined);
    const error = await declaredRules(operator).catch((thrown: unknown) => thrown);
    expect(error)
      .to.be.an('error')
      .with.property(
        'message',
        "the operator works on Deployment of stock.example/v1, whose plural and scope are unknown without a cluster: give the type as { group, version, kind: 'Deployment', plural, namespaced }",
      );
  });
});

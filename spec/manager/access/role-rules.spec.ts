import { expect } from 'chai';
import fc from 'fast-check';
import { parse } from 'yaml';
import type { PolicyRule } from '../../../lib/apiserver/internal.js';
import { allowTheSame, normalRules, ruleLines } from '../../../lib/manager/access/role-rules.js';

const some = (...items: readonly string[]) => fc.subarray([...items], { minLength: 1 });
const verbs = some('patch', 'get', 'list', '*', 'approve');
const anyRule: fc.Arbitrary<PolicyRule> = fc.oneof(
  fc.record(
    {
      apiGroups: some('', 'apps', '*', 'no'),
      resources: some('pods', 'pods/status', '*', 'y', "it's"),
      resourceNames: some('a', 'b'),
      verbs,
    },
    { requiredKeys: ['apiGroups', 'resources', 'verbs'] },
  ),
  fc.record({ nonResourceURLs: some('/metrics', '/debug/*', '*'), verbs }),
);

/** Returns each verb on each resource, where `*` covers all verbs. */
function rightsOf(rules: readonly PolicyRule[]): ReadonlySet<string> {
  const rights = rules.flatMap(({ verbs, ...rule }) => {
    const { apiGroups = [], resources = [], resourceNames, nonResourceURLs = [] } = rule;
    const places = apiGroups.flatMap((group) =>
      // Rules with several names are compared as one, because normalization never splits them.
      resources.map((resource) => [group, resource, resourceNames?.toSorted(), ''].join('|')),
    );
    return [...places, ...nonResourceURLs.map((path) => `path ${path}|`)].flatMap((place) =>
      verbs.map((verb) => ({ place, verb })),
    );
  });
  const whole = new Set(rights.filter(({ verb }) => verb === '*').map(({ place }) => place));
  return new Set(rights.map(({ place, verb }) => place + (whole.has(place) ? '*' : verb)));
}

describe('The rules of a role', () => {
  it('are merged and sorted', () => {
    const core = { apiGroups: [''], verbs: ['list'] };
    const rules = normalRules([
      { apiGroups: ['shop'], resources: ['shops'], verbs: ['watch', 'get'] },
      { ...core, resources: ['secrets'] },
      { apiGroups: ['shop'], resources: ['shops', 'carts'], verbs: ['list', 'get', 'watch'] },
      { ...core, resources: ['pods'] },
      { ...core, resources: ['pods'], resourceNames: ['b', 'a'], verbs: ['get'] },
    ]);
    expect(rules).to.deep.equal([
      { apiGroups: [''], resources: ['pods'], resourceNames: ['a', 'b'], verbs: ['get'] },
      { ...core, resources: ['pods', 'secrets'] },
      { apiGroups: ['shop'], resources: ['carts', 'shops'], verbs: ['get', 'list', 'watch'] },
    ]);
  });

  it('have get, list, watch, create, update, patch and delete in this order, then other verbs by name', () => {
    const verbs = 'zap approve deletecollection delete patch update create watch list get'.split(
      ' ',
    );
    const [rule] = normalRules([{ apiGroups: [''], resources: ['pods'], verbs }]);
    expect(rule?.verbs.join(' ')).to.equal(
      'get list watch create update patch delete approve deletecollection zap',
    );
  });

  it('contain no other verb if they contain *, and are dropped if they have no verbs', () => {
    const core = { apiGroups: [''], resources: ['pods'] };
    const rules = [
      { ...core, verbs: ['get', '*'] },
      { ...core, resources: ['secrets'], verbs: [] },
    ];
    expect(normalRules(rules)).to.deep.equal([{ ...core, verbs: ['*'] }]);
  });

  it('have a normal form that allows the same and does not depend on their order', () => {
    const law = fc.property(fc.array(anyRule, { maxLength: 5 }), fc.integer(), (rules, seed) => {
      const normal = normalRules(rules);
      expect(rightsOf(normal)).to.deep.equal(rightsOf(rules));
      const other = rules.toSorted((a, b) =>
        JSON.stringify([a, seed]) < JSON.stringify([b]) ? 1 : -1,
      );
      expect(normalRules(other.toReversed())).to.deep.equal(normal);
      expect(normalRules(normal)).to.deep.equal(normal);
      expect(allowTheSame(rules, normal)).to.equal(true);
    });
    fc.assert(law);
  });

  it('are not equivalent to rules that grant an additional permission', () => {
    const rule = { apiGroups: [''], resources: ['pods'], verbs: ['get'] };
    for (const more of [
      { ...rule, verbs: ['list'] },
      { ...rule, resources: ['secrets'] },
      { ...rule, apiGroups: ['apps'] },
      { ...rule, resourceNames: ['a'] },
      { nonResourceURLs: ['/metrics'], verbs: ['get'] },
    ]) {
      expect(allowTheSame([rule], [rule, more]), JSON.stringify(more)).to.equal(false);
    }
  });

  it('are unchanged after they are written as YAML and parsed', () => {
    const law = fc.property(fc.array(anyRule, { maxLength: 4 }), (rules) => {
      const normal = normalRules(rules);
      const read: unknown = parse(ruleLines(normal).join('\n')) ?? [];
      expect(read).to.deep.equal(JSON.parse(JSON.stringify(normal)));
    });
    fc.assert(law);
  });
});

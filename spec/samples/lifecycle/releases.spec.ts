import { expect } from 'chai';
import type { Deployment, RoleBinding, Service } from '../../../lib/object/kinds.js';
import type { KubernetesObject } from '../../../lib/object/kubernetes-object.js';
import { releaseOf, releases } from '../../../samples/lifecycle/release.js';
import type { Release } from '../../../samples/lifecycle/release.js';
import { SampleConfig } from '../../../samples/lifecycle/sample-config.js';
import { ownedTypes } from '../../../samples/lifecycle/operator.js';

const config = SampleConfig.object({ metadata: { name: 'sample' }, spec: {} });
const pairs = releases.slice(1).map((newer, at) => [releases[at] ?? newer, newer] as const);

describe('releases of the SampleConfig operator', () => {
  for (const release of releases) {
    it(`${release.version} contains each object once, and only kinds that the operator can prune`, () => {
      const objects = objectsOf(release);
      const names = objects.map(({ kind, metadata }) => `${kind} ${metadata.name ?? ''}`);
      expect(new Set(names).size).to.equal(names.length);
      const kinds = ownedTypes.map(({ kind }) => kind);
      expect(kinds).to.include.members(objects.map(({ kind }) => kind));
      expect(new Set(objects.map(({ metadata }) => metadata.namespace))).to.deep.equal(
        new Set(['shop']),
      );
    });
  }

  for (const [older, newer] of pairs) {
    it(`${newer.version} also routes traffic to the pods of ${older.version}`, () => {
      const { template } = of<Deployment>(older, 'Deployment').spec ?? {};
      const selector = of<Service>(newer, 'Service', 'http-server').spec?.selector;
      expect(selector).not.to.deep.equal({}).and.not.equal(undefined);
      expect(template?.metadata?.labels).to.include(selector);
    });

    it(`${newer.version} changes no immutable field of ${older.version}`, () => {
      const [before, after] = [
        of<Deployment>(older, 'Deployment'),
        of<Deployment>(newer, 'Deployment'),
      ];
      if (before.metadata.name === after.metadata.name) {
        expect(after.spec?.selector).to.deep.equal(before.spec?.selector);
      }
      const [bound, then] = [
        of<RoleBinding>(older, 'RoleBinding'),
        of<RoleBinding>(newer, 'RoleBinding'),
      ];
      expect(then.roleRef).to.deep.equal(bound.roleRef);
    });
  }

  it('are found by version, and unknown versions are refused', () => {
    expect(releases.map(({ version }) => releaseOf(version).version)).to.deep.equal([
      ...['1.0.0', '1.1.0', '2.0.0'],
    ]);
    expect(() => releaseOf('3.0.0')).to.throw(TypeError, 'want 1.0.0, 1.1.0, 2.0.0');
  });
});

function objectsOf(release: Release): readonly KubernetesObject[] {
  return release.objects({ config, namespace: 'shop' });
}

function of<T extends KubernetesObject>(release: Release, kind: T['kind'], name?: string): T {
  const found = objectsOf(release).find(
    (one): one is T => one.kind === kind && (name ?? one.metadata.name) === one.metadata.name,
  );
  if (found === undefined) throw new Error(`${release.version} has no ${kind}`);
  return found;
}

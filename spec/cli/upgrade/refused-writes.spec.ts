import { expect } from 'chai';
import { checkUpgrade } from '../../../lib/cli/upgrade/check-upgrade.js';
import type { UpgradeReport } from '../../../lib/cli/upgrade/upgrade-report.js';
import type { Client } from '../../../lib/client/index.js';
import { controllerFor, done } from '../../../lib/controller/index.js';
import { defineResource, s } from '../../../lib/crd/index.js';
import type { OperatorDefinition } from '../../../lib/manager/index.js';
import { Deployment, isApiError } from '../../../lib/object/index.js';
import type { UnstructuredObject } from '../../../lib/object/index.js';
import { silentLogger } from '../../../lib/system/index.js';

const schema = s.object({ spec: s.optional(s.object({})) });
const Shop = defineResource({
  ...{ group: 'example.com', kind: 'Shop' },
  versions: [{ name: 'v1', schema }],
});
const shop = { apiVersion: 'example.com/v1', kind: 'Shop', metadata: { name: 'shop' } };

function operatorOf(reconcile: (client: Client) => Promise<unknown>): OperatorDefinition {
  const controller = controllerFor(Shop).complete(async ({ client }) => {
    await reconcile(client);
    return done();
  });
  return { name: 'shops', resources: [Shop], setup: (manager) => void manager.add(controller) };
}

const applying = (object: UnstructuredObject): OperatorDefinition =>
  operatorOf((client) => client.apply(object, { fieldManager: 'shop-operator', force: true }));

const nothing = operatorOf(() => Promise.resolve());

function check(from: OperatorDefinition, to: OperatorDefinition): Promise<UpgradeReport> {
  return checkUpgrade({
    ...{ from, to, resources: [shop], namespace: 'default', logger: silentLogger },
    signal: new AbortController().signal,
  });
}

function object(apiVersion: string, kind: string, content: object): UnstructuredObject {
  return { apiVersion, kind, metadata: { name: 'x', namespace: 'default' }, ...content };
}

function podsOf(labels: Readonly<Record<string, string>>, image = 'web:1'): object {
  const template = {
    metadata: { labels },
    spec: { restartPolicy: 'Always', containers: [{ name: 'web', image }] },
  };
  return { selector: { matchLabels: labels }, template };
}

const job = (image: string): UnstructuredObject => {
  const spec = { restartPolicy: 'Never', containers: [{ name: 'web', image }] };
  return object('batch/v1', 'Job', { spec: { template: { spec } } });
};
const set = (spec: object): UnstructuredObject =>
  object('apps/v1', 'StatefulSet', { spec: { ...podsOf({ app: 'db' }), ...spec } });
const claims = (storage: string): object => {
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } };
  return { serviceName: 'db', volumeClaimTemplates: [{ metadata: { name: 'data' }, spec }] };
};
const service = (clusterIP: string): UnstructuredObject =>
  object('v1', 'Service', { spec: { clusterIP, ports: [{ port: 80 }] } });
const fixed = (kind: string, value: string): UnstructuredObject =>
  object('v1', kind, { immutable: true, data: { key: value } });
const binding = (name: string): UnstructuredObject =>
  object('rbac.authorization.k8s.io/v1', 'RoleBinding', {
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
  });
const daemons = (app: string): UnstructuredObject =>
  object('apps/v1', 'DaemonSet', { spec: podsOf({ app }) });
const deployment = (app: string): UnstructuredObject =>
  object('apps/v1', 'Deployment', { spec: podsOf({ app }) });

const undo = 'take the change back';

describe('A write that the server refuses in upgrade-check', () => {
  const otherName = 'give the object another name';
  for (const [before, after, remedy] of [
    [fixed('ConfigMap', 'b25l'), fixed('ConfigMap', 'dHdv'), `${undo}, or ${otherName}`],
    [fixed('Secret', 'b25l'), fixed('Secret', 'dHdv'), `${undo}, or ${otherName}`],
    [job('a:1'), job('a:2'), `${undo}, or give the new Job another name`],
    [
      ...[service('None'), service('10.96.7.7')],
      `${undo}, or set onImmutable to recreate: its address changes then`,
    ],
    [
      ...[set(claims('1Gi')), set(claims('2Gi'))],
      `${undo}, or set onImmutable to recreateOrphan, which keeps the pods; existing claims stay as they are`,
    ],
    [
      ...[set({ serviceName: 'a' }), set({ serviceName: 'b' })],
      `${undo}, ${otherName}, or set onImmutable to recreateOrphan, which keeps the pods`,
    ],
    ...([daemons, deployment] as const).map(
      (of) =>
        [
          ...([of('a'), of('b')] as const),
          `${undo}, ${otherName}, or set onImmutable to recreate, which replaces all pods at once`,
        ] as const,
    ),
    [binding('a'), binding('b'), `${undo}, or set onImmutable to recreate`],
  ] as const) {
    const { kind } = before;
    it(`has a suggestion that fits ${kind}: ${remedy}`, async () => {
      const { findings } = await check(applying(before), applying(after));
      const refused = findings.filter(({ type }) => type === 'refused');
      expect(refused.map(({ ref }) => ref.kind)).to.deep.equal([kind]);
      expect(refused[0]?.message).to.match(
        /^the server refuses the apply: .* can't change once set/,
      );
      expect(refused[0]?.remedy).to.equal(remedy);
      expect(findings.filter(({ type }) => type === 'failed')).to.deep.equal([]);
    });
  }

  it('is reported once, with the message of the server, if the object is invalid', async () => {
    const wrong = object('v1', 'ConfigMap', { data: { 'no key': '' } });
    const { findings } = await check(nothing, applying(wrong));
    expect(findings.map(({ type, ref }) => [type, ref.kind])).to.deep.equal([
      ['refused', 'ConfigMap'],
    ]);
    const [found] = findings;
    expect(found?.message).to.match(/^the server refuses the apply \(data\[no key\]: /);
    expect(found?.remedy).to.include('correct the fields that the server names');
  });

  it('does not hide the failure of another request of the operator', async () => {
    const wrong = object('v1', 'ConfigMap', { data: { 'no key': '' } });
    const to = operatorOf(async (client) => {
      await client.create(wrong).catch((error: unknown) => {
        if (!isApiError(error)) throw error;
      });
      await client.get(Deployment, { name: 'next', namespace: 'default' });
    });
    const { findings } = await check(nothing, to);
    expect(findings.map(({ type, ref }) => [type, ref.kind])).to.deep.equal([
      ['refused', 'ConfigMap'],
      ['failed', 'Shop'],
    ]);
    expect(findings[1]?.message).to.include(
      'the new version fails on it: get Deployment default/next: 404',
    );
  });
});

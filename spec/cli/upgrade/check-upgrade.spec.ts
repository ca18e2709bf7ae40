import { expect } from 'chai';
import { checkUpgrade } from '../../../lib/cli/upgrade/check-upgrade.js';
import type { Finding, UpgradeReport } from '../../../lib/cli/upgrade/upgrade-report.js';
import type { UnstructuredObject } from '../../../lib/object/kubernetes-object.js';
import { silentLogger } from '../../../lib/system/logger.js';
import { storeOperator } from './store/store-operator.js';
import type { StoreVersion } from './store/store-operator.js';

const store = (spec: object = {}, metadata: object = {}) => ({
  ...{ apiVersion: 'stores.example/v1', kind: 'Store', metadata: { name: 'a', ...metadata } },
  spec,
});

interface Before {
  readonly spec?: object;
  readonly from?: StoreVersion;
  /** Objects that the cluster has in addition to the Store. */
  readonly others?: readonly UnstructuredObject[];
}

function check(
  to: StoreVersion,
  { spec = {}, from = {}, others = [] }: Before = {},
): Promise<UpgradeReport> {
  return checkUpgrade({
    ...{ from: storeOperator(from), to: storeOperator(to), resources: [store(spec), ...others] },
    ...{ namespace: 'default', logger: silentLogger, signal: new AbortController().signal },
  });
}

const brief = ({ findings }: UpgradeReport): readonly string[] =>
  findings.map(({ type, ref: { kind, name }, changes }) =>
    [type, kind, name, ...changes.map(({ path }) => path)].join(' '),
  );

const changed = ({ changes }: UpgradeReport): readonly string[] =>
  changes.map(({ action, ref: { kind, name }, changes: fields }) =>
    [action, kind, name, ...fields.map(({ path }) => path)].join(' '),
  );

describe('checkUpgrade', () => {
  it('reports no findings without changes', async () => {
    const report = await check({});
    expect(report).to.deep.include({ findings: [], changes: [], operator: 'stores' });
    expect(report.resources.map(({ name }) => name)).to.deep.equal(['a']);
  });

  it('lists a new label on an unreferenced ConfigMap as harmless', async () => {
    const report = await check({ extraLabel: 'new' });
    expect(brief(report)).to.deep.equal([]);
    expect(changed(report)).to.deep.equal(['configure ConfigMap notes metadata.labels.extra']);
  });

  it('reports each restarted workload with the changed field', async () => {
    const report = await check({ image: 'store:2' }, { spec: { replicas: 3 } });
    expect(report.findings.map(({ message }) => message)).to.have.members([
      'its pods are replaced (3)',
      'its pods are replaced (1)',
    ]);
    expect(brief(report)).to.have.members([
      'restart Deployment web spec.template.spec.containers[name=web].image',
      'restart StatefulSet db spec.template.spec.containers[name=db].image',
    ]);
    expect(report.findings[0]?.changes[0]).to.have.property('to', 'store:2');
  });

  it('reports the ConfigMap that causes a restart', async () => {
    const report = await check({ settings: { level: 'debug' } });
    expect(brief(report)).to.deep.equal([
      'restart Deployment web spec.template.spec.containers[name=web].env' +
        '[name=CONFIGMAP_HASH_SETTINGS].value',
    ]);
    expect(report.findings[0]?.causes.map(({ name }) => name)).to.deep.equal(['settings']);
    expect(changed(report)).to.deep.equal(['configure ConfigMap settings data.level']);
    // The change has no note that pods keep the former values.
    expect(report.changes.map(({ note }) => note)).to.deep.equal([undefined]);
  });

  it('notes which workloads use a changed ConfigMap but are not restarted', async () => {
    const labels = { app: 'reader' };
    const envFrom = [{ configMapRef: { name: 'settings' } }];
    const reader = {
      ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'reader', labels } },
      spec: {
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { containers: [{ name: 'reader', image: 'reader:1', envFrom }] },
        },
      },
    };
    const report = await check({ settings: { level: 'debug' } }, { others: [reader] });
    const [change] = report.changes;
    expect(change?.ref).to.include({ kind: 'ConfigMap', name: 'settings' });
    expect(change?.note).to.match(/^Deployment default\/reader is not restarted/);
  });

  it('reports a renamed ConfigMap, the workloads that use it, and their restart', async () => {
    const report = await check({ settings: { name: 'config' } });
    const [renamed, restart] = report.findings;
    expect(brief(report)[0]).to.equal('renamed ConfigMap settings metadata.name');
    expect(renamed?.message).to.include('ConfigMap default/config replaces it');
    expect(renamed?.users.map(({ kind, name }) => `${kind} ${name}`)).to.deep.equal([
      'Deployment web',
    ]);
    expect(restart).to.include({ type: 'restart' });
    expect(restart?.causes.map(({ name }) => name)).to.have.members(['settings', 'config']);
  });

  const refusals: readonly (readonly [string, StoreVersion, string, ...unknown[]])[] = [
    [
      'the selector of a Deployment',
      { webSelector: { app: 'web', part: 'back' } },
      'Deployment web spec.selector.matchLabels.part',
      ...['front', 'back'],
    ],
    [
      'the Service of a StatefulSet',
      { dbService: 'db-new' },
      'StatefulSet db spec.serviceName',
      ...['db', 'db-new'],
    ],
    [
      'the claims of a StatefulSet',
      { storage: 'fast' },
      'StatefulSet db spec.volumeClaimTemplates[0].spec.storageClassName',
      ...[undefined, 'fast'],
    ],
    ['the address of a Service', { clusterIP: '10.96.7.7' }, 'Service web spec.clusterIP'],
  ];
  for (const [what, to, expected, before, after] of refusals) {
    it(`reports a refused change of ${what}, and says what to do`, async () => {
      const report = await check(to);
      const [found] = report.findings.filter(({ type }) => type === 'refused');
      expect(brief({ ...report, findings: [found as Finding] })).to.deep.equal([
        `refused ${expected}`,
      ]);
      expect(found?.remedy).to.include('take the change back');
      if (after !== undefined) expect(found?.changes[0]).to.include({ from: before, to: after });
      expect(report.findings.filter(({ type }) => type === 'failed')).to.deep.equal([]);
    });
  }

  it('continues after a refused change as if the object had been recreated', async () => {
    const report = await check({ webSelector: { app: 'web', part: 'back' }, image: 'store:2' });
    expect(brief(report)).to.deep.equal([
      'refused Deployment web spec.selector.matchLabels.part',
      'restart Deployment web spec.template.metadata.labels.part ' +
        'spec.template.spec.containers[name=web].image',
      'restart StatefulSet db spec.template.spec.containers[name=db].image',
    ]);
    expect(changed(report)).to.deep.equal([]);
  });

  it('reports a recreated object', async () => {
    const report = await check({ dbService: 'db-new', onImmutable: 'recreate' });
    const [found] = report.findings;
    expect(brief(report)).to.deep.equal(['recreated StatefulSet db spec.serviceName']);
    expect(found?.message).to.include('1 of its 1 pods are replaced');
  });

  it('reports a deleted claim and the loss of its data', async () => {
    const report = await check({ backup: false });
    expect(brief(report)).to.deep.equal(['claim PersistentVolumeClaim backup']);
    expect(report.findings[0]?.message).to.include('its data');
  });

  it('reports a Service that no longer selects any pod, or none of the running pods', async () => {
    const none = await check({ serviceSelector: { app: 'shop' } });
    expect(brief(none)).to.deep.equal(['traffic Service web spec.selector.app']);
    expect(none.findings[0]?.message).to.include('no longer selects any pod (before: 1)');
    const labels = { app: 'web', part: 'back' };
    const later = await check({
      ...{ webSelector: labels, serviceSelector: labels, onImmutable: 'recreate' },
    });
    const [found] = later.findings.filter(({ type }) => type === 'traffic');
    expect(found?.message).to.include('selects 0 of the 1 running pods until new ones are ready');
  });

  it('lists a changed template as harmless with the strategy OnDelete, because no pod restarts', async () => {
    const by = { updateStrategy: 'OnDelete' } as const;
    const report = await check({ ...by, image: 'store:2' }, { from: by });
    expect(brief(report)).to.deep.equal([
      'restart Deployment web spec.template.spec.containers[name=web].image',
    ]);
    expect(changed(report)).to.deep.equal([
      'configure StatefulSet db spec.template.spec.containers[name=db].image',
    ]);
  });

  it('reports stored resources that lose a field or violate the new schema', async () => {
    const lost = await check({ schema: 'without owner' }, { spec: { owner: 'ann' } });
    expect(brief(lost)).to.deep.equal(['dropped Store a spec.owner']);
    const stricter = await check({ schema: 'stricter' });
    expect(brief(stricter)[0]).to.equal('schema Store a spec.replicas');
    expect(stricter.findings[0]?.changes[0]).to.include({ from: 1 });
    const fine = await check({ schema: 'stricter' }, { spec: { replicas: 2 } });
    expect(brief(fine).filter((line) => line.includes('Store a'))).to.deep.equal([]);
  });

  it('lists changes that new defaults cause', async () => {
    const report = await check({ schema: 'with a default' });
    expect(brief(report)).to.deep.equal([]);
    expect(changed(report)).to.deep.equal(['configure Store a spec.tier']);
  });

  it('lists a new default only once, although the next write of the operator stores it', async () => {
    const report = await check({ schema: 'with a default', restless: true });
    const told = changed(report).filter((change) => change.includes('spec.tier'));
    expect(told).to.deep.equal(['configure Store a spec.tier']);
  });

  it('reports a version or kind that is no longer served', async () => {
    const from = { versions: ['v2', 'v1'] };
    const report = await check({ versions: ['v2'] }, { from });
    expect(brief(report)).to.deep.equal(['version Store a']);
    expect(report.findings[0]?.message).to.include('stores.example/v1 is no longer served');
    const to = { ...storeOperator(), resources: [] };
    const gone = await checkUpgrade({
      ...{ from: storeOperator(), to, resources: [store()], namespace: 'default' },
      ...{ logger: silentLogger, signal: new AbortController().signal },
    });
    expect(brief(gone)).to.deep.equal(['version Store a']);
  });

  it('ignores kinds that the operator does not use', async () => {
    const rules = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role' };
    const report = await check({}, { others: [{ ...rules, metadata: { name: 'a' }, rules: [] }] });
    expect(brief(report)).to.deep.equal([]);
    expect(report.resources.map(({ kind }) => kind)).to.deep.equal(['Store', 'Role']);
  });

  it('accepts the default objects of a cluster, and uses the last of several objects with the same name', async () => {
    const v1 = { apiVersion: 'v1' };
    const given = [
      { ...v1, kind: 'Namespace', metadata: { name: 'default', labels: { tier: 'gold' } } },
      { ...v1, kind: 'ServiceAccount', metadata: { name: 'default' } },
      store({ replicas: 3 }),
    ];
    const report = await check({ image: 'store:2' }, { others: given });
    expect(report.findings.map(({ message }) => message)).to.include('its pods are replaced (3)');
    expect(report.resources.map(({ kind }) => kind)).to.have.members([
      ...['Store', 'Namespace', 'ServiceAccount'],
    ]);
  });

  it('reports a removed version with stored objects', async () => {
    const report = await check({ versions: ['v2'] });
    expect(brief(report)).to.deep.equal([
      'version CustomResourceDefinition stores.stores.example spec.versions',
    ]);
    expect(report.findings[0]?.remedy).to.include('keep v1');
  });

  it('reports that the new version of the operator fails or does not settle', async () => {
    const failing = await check({ fails: true });
    expect(brief(failing)).to.deep.equal(['failed Store a']);
    expect(failing.findings[0]?.message).to.include('no store can be opened');
    const restless = await check({ restless: true });
    expect(brief(restless)).to.deep.equal(['restless Store a']);
  });

  it('fails if the old version of the operator fails, because there is nothing to compare', async () => {
    const failed = await check({}, { from: { fails: true } }).catch((error: unknown) => error);
    expect(failed).to.include({ code: 'InvalidConfig' });
    expect((failed as Error).message).to.include('Store default/a: no store can be opened');
  });
});

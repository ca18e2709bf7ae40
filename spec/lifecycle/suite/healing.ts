import { expect } from 'chai';
import { forwarding } from '../../../lib/client/client-wrappers.js';
import { createCrd } from '../../../lib/lifecycle/index.js';
import type { Deployment } from '../../../lib/object/kinds.js';
import type { KubernetesObject } from '../../../lib/object/kubernetes-object.js';
import { configMap, deployment, system } from './system.js';
import type { OpenStage, Stage } from './stage.js';

interface Template {
  readonly metadata: { readonly labels?: Record<string, string> };
  readonly spec: {
    readonly containers: readonly {
      readonly name: string;
      readonly image: string;
      readonly env?: readonly { readonly name: string; readonly value: string }[];
    }[];
  };
}

/** Declares how drift is reverted, labels follow the configuration, and fields are merged. */
export function healingSuite(open: OpenStage): void {
  const edits = {
    'env modified': (stage: Stage) =>
      patchContainer(stage, { env: [{ name: 'MODE', value: 'slow' }] }),
    'env added': (stage: Stage) => patchContainer(stage, { env: [{ name: 'MORE', value: 'x' }] }),
    'image changed': (stage: Stage) => patchContainer(stage, { image: 'nginx:evil' }),
    'container added': (stage: Stage) =>
      patchContainer(stage, {}, [{ name: 'miner', image: 'miner' }]),
    'containers removed': (stage: Stage) => patchContainer(stage, { name: 'other' }),
  };
  for (const [name, edit] of Object.entries(edits)) {
    it(`the reconciler reverts a change of a Deployment: ${name}`, async () => {
      const stage = await open();
      await stage.deploy('1.0.0');
      await edit(stage);
      const seen = await stage.pass('1.0.0');
      expect(seen.phase).to.equal('Deployed');
      expect(seen.events).to.deep.equal(['UpdateResourceSuccess Deployment web']);
      const { containers } = (await template(stage)).spec;
      expect(
        containers.map((one) => ({ name: one.name, image: one.image, env: one.env })),
      ).to.deep.equal([{ name: 'web', image: 'nginx:1', env: [{ name: 'MODE', value: 'fast' }] }]);
      await stage.rolledOut();
      expect((await stage.pass('1.0.0')).conditions).to.equal('T/F/F DeployCompleted');
    });
  }

  it('the reconciler removes a field that the server had defaulted and that the new value of another field forbids', async () => {
    const stage = await open();
    await stage.deploy('1.0.0');
    stage.resources = () => system(stage.namespace, { strategy: { type: 'Recreate' } });
    const seen = await stage.pass('1.0.0');
    expect(seen.events).to.deep.equal(['UpdateResourceSuccess Deployment web']);
    const { spec } = await stage.get<Deployment>('Deployment', 'web');
    expect(spec?.strategy).to.deep.equal({ type: 'Recreate' });
  });

  it('the reconciler reports no update whose response equals the object before, as when a webhook reverts it', async () => {
    const stage = await open();
    await stage.deploy('1.0.0');
    const { client } = stage.operator;
    const update = async <T extends KubernetesObject>(object: T): Promise<T> =>
      stage.get<T>(object.kind, object.metadata.name ?? '');
    const reconciler = stage.newReconciler({ client: { ...forwarding(client), update } });
    stage.resources = () => system(stage.namespace, { image: 'nginx:2' });
    const seen = await stage.pass('1.0.0', reconciler);
    expect(seen).to.deep.include({ conditions: 'T/F/F DeployCompleted', events: [] });
  });

  it('the reconciler creates an object again that was deleted by hand', async () => {
    const stage = await open();
    await stage.deploy('1.0.0');
    const key = { name: 'web', namespace: stage.namespace };
    await stage.admin.delete({ apiVersion: 'v1', kind: 'Service' }, key);
    expect((await stage.pass('1.0.0')).events).to.deep.equal(['CreateResourceSuccess Service web']);
  });

  it('a configuration keeps the phase Deployed during a repair, and is Degraded until the workload is ready', async () => {
    const stage = await open();
    await stage.deploy('1.0.0');
    await patchContainer(stage, { image: 'nginx:evil' });
    const healing = await stage.pass('1.0.0');
    expect(healing).to.include({ phase: 'Deployed', versions: '1.0.0 1.0.0 1.0.0' });
    expect(healing.conditions).to.match(/^T\/F\/[TF] DeployCompleted/);
    await stage.rolledOut();
    expect(await stage.pass('1.0.0')).to.include({ conditions: 'T/F/F DeployCompleted' });
  });

  it("the reconciler adds the configuration's labels to objects and pod templates, never to selectors", async () => {
    const labels = {
      'app.kubernetes.io/part-of': 'shop',
      'app.kubernetes.io/version': '7',
      own: 'x',
    };
    const stage = await open({ config: { metadata: { labels } } });
    await stage.deploy('1.0.0');
    const wanted = { 'app.kubernetes.io/part-of': 'shop', 'app.kubernetes.io/version': '7' };
    for (const kind of ['ServiceAccount', 'Deployment', 'Service']) {
      const { metadata } = await stage.get(kind, 'web');
      expect(metadata.labels).to.include(wanted).and.not.have.property('own');
    }
    expect((await template(stage)).metadata.labels).to.deep.equal({ app: 'web', ...wanted });
    await stage.edit({ metadata: { labels: { 'app.kubernetes.io/part-of': 'mall' } } });
    expect((await stage.pass('1.0.0')).events).to.deep.equal([
      'UpdateResourceSuccess ServiceAccount web',
      'UpdateResourceSuccess Deployment web',
      'UpdateResourceSuccess Service web',
    ]);
    const { spec, metadata } = await stage.get('Deployment', 'web');
    expect(metadata.labels).to.include({ 'app.kubernetes.io/part-of': 'mall' });
    expect((await template(stage)).metadata.labels).to.include({
      'app.kubernetes.io/part-of': 'mall',
    });
    expect(spec).to.have.deep.nested.property('selector.matchLabels', { app: 'web' });
  });

  it('the reconciler leaves the immutable template of a Job unchanged', async () => {
    const stage = await open({
      config: { metadata: { labels: { 'app.kubernetes.io/version': '1' } } },
    });
    const containers = [{ name: 'migrate', image: 'migrate:1' }];
    const job = {
      ...{ apiVersion: 'batch/v1', kind: 'Job' },
      metadata: { name: 'migrate', namespace: stage.namespace },
      spec: { template: { spec: { restartPolicy: 'Never', containers } } },
    };
    stage.resources = () => [job];
    await stage.pass('1.0.0');
    await stage.edit({ metadata: { labels: { 'app.kubernetes.io/version': '2' } } });
    const seen = await stage.pass('1.0.0');
    expect(seen.events).to.deep.equal(['UpdateResourceSuccess Job migrate']);
    expect(seen).to.not.have.property('error');
  });

  it('the reconciler removes a field that it applied and that is no longer desired', async () => {
    const stage = await open();
    stage.resources = () => [
      deployment(stage.namespace, { minReadySeconds: 1, revisionHistoryLimit: 3 }),
    ];
    await stage.pass('1.0.0');
    stage.resources = () => [deployment(stage.namespace, { revisionHistoryLimit: 3 })];
    await stage.pass('1.0.0');
    const { spec } = await stage.get('Deployment', 'web');
    expect(spec).to.include({ revisionHistoryLimit: 3 }).and.not.have.property('minReadySeconds');
  });

  it('the reconciler keeps labels, annotations and fields of other managers', async () => {
    const stage = await open();
    await stage.deploy('1.0.0');
    const extra = { 'example.com/team': 'web' };
    const metadata = { labels: extra, annotations: extra };
    await stage.touch('Deployment', 'web', { metadata, spec: { minReadySeconds: 1 } });
    expect((await stage.pass('1.0.0')).events).to.deep.equal([]);
    stage.resources = () => system(stage.namespace, { image: 'nginx:2' });
    expect((await stage.pass('1.0.0')).events).to.have.length(1);
    const after = await stage.get('Deployment', 'web');
    expect(after.metadata.labels).to.include(extra);
    expect(after.metadata.annotations).to.include(extra);
    expect(after.spec).to.include({ minReadySeconds: 1 });
  });

  it('the reconciler reverts a changed CRD, and treats the fields that the server defaults as unchanged', async () => {
    const stage = await open();
    const kind = `Healed${stage.namespace.replaceAll(/[^a-z0-9]/g, '')}`;
    const definition = createCrd({ group: 'healed.example.com', kind });
    stage.resources = () => [definition];
    await stage.deploy('1.0.0');
    expect(await stage.writes()).to.deep.equal([]);
    expect((await stage.pass('1.0.0')).events).to.deep.equal([]);
    expect(await stage.writes()).to.deep.equal([]);
    const type = { apiVersion: definition.apiVersion, kind: definition.kind };
    const key = { name: definition.metadata.name ?? '' };
    const path = '/spec/versions/0/schema/openAPIV3Schema/properties/more';
    const operations = [{ op: 'add', path, value: { type: 'string' } }] as const;
    await stage.admin.patch(type, key, { type: 'json', operations });
    expect((await stage.pass('1.0.0')).events).to.have.length(1);
    const healed = await stage.admin.get(type, key);
    expect(JSON.stringify(healed['spec' as never])).to.not.include('"more"');
  });

  it('the reconciler reads the last-applied annotation that operators with the Go SDK have written', async () => {
    const stage = await open();
    await stage.deploy('1.0.0');
    const last = deployment(stage.namespace, { minReadySeconds: 1 });
    const annotations = { 'operator-builder.io/last-applied': JSON.stringify(last) };
    await stage.touch('Deployment', 'web', {
      metadata: { annotations },
      spec: { minReadySeconds: 1 },
    });
    await stage.pass('1.0.0');
    const { spec, metadata } = await stage.get('Deployment', 'web');
    expect(spec).to.not.have.property('minReadySeconds');
    expect(metadata.annotations?.['operator-builder.io/last-applied']).to.match(/^\{"f:/);
  });

  for (const text of ['{', '"text"', 'null', '[]', '7', '{"f:spec":null}', '{"f:spec":"x"}']) {
    it(`the reconciler ignores the invalid annotation ${text}, and replaces it`, async () => {
      const stage = await open();
      await stage.deploy('1.0.0');
      const annotations = { 'operator-builder.io/last-applied': text };
      await stage.touch('Deployment', 'web', {
        metadata: { annotations },
        spec: { minReadySeconds: 1 },
      });
      const seen = await stage.pass('1.0.0');
      expect(seen.events).to.deep.equal(['UpdateResourceSuccess Deployment web']);
      const { metadata, spec } = await stage.get('Deployment', 'web');
      expect(metadata.annotations?.['operator-builder.io/last-applied']).to.match(/"f:spec":\{/);
      expect(spec).to.include({ minReadySeconds: 1 });
    });
  }

  it('the reconciler restores labels, annotations and owners that were removed', async () => {
    const stage = await open();
    await stage.deploy('1.0.0');
    const before = await stage.get('ServiceAccount', 'web');
    const [labelsGone, annotationsGone] = [{ labels: null }, { annotations: null }];
    const ownersGone = { ownerReferences: null };
    for (const taken of [
      ...[labelsGone, annotationsGone, ownersGone],
      ...[
        { ...ownersGone, ...labelsGone },
        { ...ownersGone, ...annotationsGone },
      ],
    ]) {
      await stage.touch('ServiceAccount', 'web', { metadata: taken });
      await stage.pass('1.0.0');
    }
    const { labels, annotations, ownerReferences } = (await stage.get('ServiceAccount', 'web'))
      .metadata;
    expect(labels).to.include(before.metadata.labels);
    expect(annotations).to.deep.equal(before.metadata.annotations);
    expect(ownerReferences).to.deep.equal(before.metadata.ownerReferences);
  });

  it('the reconciler never overwrites the data of a ConfigMap by default, but repairs its labels', async () => {
    const stage = await open();
    stage.resources = () => [configMap(stage.namespace)];
    await stage.deploy('1.0.0');
    await stage.touch('ConfigMap', 'settings', { data: { size: 'mine', more: 'x' } });
    const wanted = { ...configMap(stage.namespace), data: { other: 'y' } };
    wanted.metadata = { ...wanted.metadata, labels: { team: 'web' } };
    stage.resources = () => [wanted];
    await stage.deploy('1.1.0');
    const { data, metadata } = await stage.get('ConfigMap', 'settings');
    expect(data).to.deep.equal({ size: 'mine', more: 'x' });
    expect(metadata.labels).to.include({ team: 'web' });
    stage.resources = () => [{ ...wanted, data: { third: 'z' } }];
    expect((await stage.pass('1.1.0')).events).to.deep.equal([]);
  });

  it('the reconciler overwrites the data of a ConfigMap if isMutable returns false for it', async () => {
    const stage = await open({ isMutable: () => false });
    stage.resources = () => [configMap(stage.namespace)];
    await stage.deploy('1.0.0');
    await stage.touch('ConfigMap', 'settings', { data: { size: 'mine', more: 'x' } });
    await stage.pass('1.0.0');
    expect((await stage.get('ConfigMap', 'settings'))['data']).to.deep.equal({
      size: 'small',
      more: 'x',
    });
  });

  it('the reconciler records no values in the last-applied annotation, so that it contains no secrets', async () => {
    const stage = await open({ isMutable: () => false });
    const metadata = { name: 'token', namespace: stage.namespace };
    stage.resources = () => [
      { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { token: 'hunter2' } },
    ];
    await stage.pass('1.0.0');
    const secret = await stage.get('Secret', 'token');
    const text = JSON.stringify(secret.metadata);
    expect(text)
      .to.not.include('hunter2')
      .and.not.include(Buffer.from('hunter2').toString('base64'));
  });
}

async function template(stage: Stage): Promise<Template> {
  const { spec } = await stage.get('Deployment', 'web');
  return (spec as { readonly template: Template }).template;
}

/** Changes the first container by hand, and adds others. */
async function patchContainer(
  stage: Stage,
  change: object,
  more: readonly object[] = [],
): Promise<void> {
  const [first] = (await template(stage)).spec.containers;
  const containers = [{ ...first, ...change }, ...more];
  await stage.touch('Deployment', 'web', { spec: { template: { spec: { containers } } } });
}

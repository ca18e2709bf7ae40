import { expect } from 'chai';
import { getIfExists } from '../../../lib/client/index.js';
import {
  generationChanged,
  labelChanged,
  or,
  requeueAfter,
} from '../../../lib/controller/index.js';
import { defineResource, s } from '../../../lib/crd/index.js';
import { recordingClient } from '../../../lib/index.js';
import { isNotFound } from '../../../lib/object/api-error.js';
import { findCondition } from '../../../lib/object/conditions.js';
import {
  ConfigMap,
  CustomResourceDefinition,
  Deployment,
  Secret,
  Service,
  StatefulSet,
} from '../../../lib/object/kinds.js';
import type { Operator } from '../../../lib/operator/index.js';
import type { BuilderTarget, NewTarget } from '../../builder/suite/target.js';
import { operatorName, podSpec, Stage, Tenant } from './stage.js';

const configMap = { apiVersion: 'v1', kind: 'ConfigMap' } as const;

/** Specs about the behaviour of the Operator, on the embedded and the real server. */
export function operatorSuite(newTarget: NewTarget): void {
  let target: BuilderTarget;
  let stage: Stage;

  before(async () => {
    target = await newTarget();
  });

  beforeEach(async () => {
    stage = await Stage.open(target);
  });

  afterEach(() => stage.stop());

  after(() => target.close());

  describe('a controller with builds', () => {
    const buildsFour = (operator: Operator): void => {
      operator
        .for(Tenant)
        .owns(ConfigMap, Service, StatefulSet, Deployment)
        .builds(({ object, builder }) =>
          builder
            .configMap({ name: 'env', data: object.spec.env })
            .service({ name: 'server', workload: 'server', spec: { ports: [{ port: 80 }] } })
            .statefulSet({
              name: 'server',
              replicas: object.spec.replicas,
              podSpec: ({ envFromConfigMap }) => ({
                containers: [{ ...podSpec.containers[0]!, envFrom: [envFromConfigMap('env')] }],
              }),
            })
            .deployment({ name: 'console', replicas: object.spec.replicas, podSpec }),
        );
    };

    it('creates four objects with four writes, reports Ready, and then sends nothing', async () => {
      buildsFour(stage.operator);
      stage.start();
      const { metadata } = await stage.create('acme', { replicas: 1, env: { A: '1' } });
      const ready = await stage.condition('acme', 'Ready', 'True');
      expect(ready).to.deep.include({
        reason: 'Reconciled',
        message: 'all objects are as desired',
      });
      const writes = await stage.writes();
      const own = writes.filter((resource) => resource !== 'tenants').sort();
      expect(own).to.deep.equal(['configmaps', 'deployments', 'services', 'statefulsets']);
      const { status } = await stage.get('acme');
      expect(status?.observedGeneration).to.equal(metadata.generation);
      expect(findCondition(status?.conditions, 'Degraded')?.status).to.equal('False');
      expect(findCondition(status?.conditions, 'Progressing')?.status).to.equal('False');
      // Waits until the cluster's controllers are idle.
      await target.eventually(async () => {
        await stage.requests();
        await stage.reconciledAfter(() =>
          stage.change('acme', {
            metadata: { annotations: { touched: `${stage.reconciles}` } },
          }),
        );
        expect(await stage.requests()).to.deep.equal([]);
      });
      await target.eventually(async () => {
        const [created = '', ...others] = await stage.events('acme');
        expect(others).to.be.empty;
        const made = /^Normal Created: Created 4 objects: (.*)$/.exec(created)?.[1]?.split(', ');
        expect(made).to.have.members([
          ...['ConfigMap env', 'Service server', 'StatefulSet server', 'Deployment console'],
        ]);
      });
    });

    it('reports a rollout in Ready and Progressing until its pods are available', async () => {
      stage.operator
        .for(Tenant)
        .owns(Deployment)
        .builds(({ object, builder }) => {
          const nodeSelector = object.spec.env;
          const containers = podSpec.containers;
          return builder.deployment({ name: 'web', podSpec: { containers, nodeSelector } });
        });
      stage.start();
      await stage.create('acme', { env: { 'example.com/does-not': 'exist' } });
      const { reason, message } = await stage.condition('acme', 'Ready', 'False');
      expect(reason).to.equal('RollingOut');
      expect(message).to.match(new RegExp(`^Deployment ${stage.namespace}/web: [^:]*$`));
      await stage.condition('acme', 'Progressing', 'True');
      await stage.condition('acme', 'Degraded', 'False');
      await stage.change('acme', { spec: { env: { 'example.com/does-not': null } } });
      await stage.condition('acme', 'Ready', 'True');
      await stage.condition('acme', 'Progressing', 'False');
    });

    it('reports a rejected object in Ready, Degraded and a Warning until it is valid', async () => {
      stage.operator
        .for(Tenant)
        .owns(ConfigMap, Secret)
        .builds(({ object, builder }) =>
          builder
            .configMap({ name: 'env', data: object.spec.env })
            .secret({ name: 'keys', stringData: { key: 'value' } }),
        );
      stage.start();
      await stage.create('acme', { env: { 'not a key': '1' } });
      const ready = await stage.condition('acme', 'Ready', 'False');
      expect(ready.reason).to.equal('Invalid');
      expect(ready.message).to.contain('data[not a key]: Invalid value');
      await stage.condition('acme', 'Degraded', 'True');
      await target.eventually(async () => {
        const warnings = (await stage.events('acme')).filter((each) => each.startsWith('Warning'));
        expect(warnings).to.have.length(1);
        expect(warnings[0]).to.contain(`ConfigMap ${stage.namespace}/env`);
      });
      expect(await stage.names(Secret)).to.deep.equal(['keys']);
      // The status is written once instead of with each retry.
      await stage.requests();
      await stage.reconciledAfter(() =>
        stage.change('acme', { metadata: { annotations: { touched: 'yes' } } }),
      );
      expect(await stage.writes()).to.not.include('tenants');
      await stage.change('acme', { spec: { env: { 'not a key': null, key: '1' } } });
      await stage.condition('acme', 'Ready', 'True');
      await stage.condition('acme', 'Degraded', 'False');
    });

    it('prunes an object that the chain no longer contains, even the last of its kind', async () => {
      stage.operator
        .for(Tenant)
        .owns(ConfigMap, Secret)
        .builds(({ object, builder }) =>
          builder
            .configMap({ name: 'env', data: object.spec.env })
            .when('secret' in object.spec.env, (chain) =>
              chain.secret({ name: 'keys', stringData: object.spec.env }),
            ),
        );
      stage.start();
      await stage.create('acme', { env: { secret: '1' } });
      await stage.condition('acme', 'Ready', 'True');
      expect(await stage.names(Secret)).to.deep.equal(['keys']);
      await stage.change('acme', { spec: { env: { secret: null, other: '1' } } });
      await target.eventually(async () => expect(await stage.names(Secret)).to.deep.equal([]));
      await stage.condition('acme', 'Ready', 'True');
    });

    it('rejects an object whose kind is not owned, and names the kind to add to owns', async () => {
      stage.operator
        .for(Tenant)
        .owns(ConfigMap)
        .builds(({ builder }) =>
          builder.object({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'keys' } }),
        );
      stage.start();
      await stage.create('acme');
      const { reason, message } = await stage.condition('acme', 'Ready', 'False');
      expect(reason).to.equal('InvalidOption');
      expect(message).to.equal(
        'Secret keys: the controller does not own its kind; add Secret (v1) to owns(…) of the controller',
      );
      await target.eventually(async () => {
        expect(await stage.events('acme')).to.deep.equal([`Warning ReconcileFailed: ${message}`]);
      });
    });

    it('reports an error of the handler in Ready, and recovers', async () => {
      let isBroken = true;
      stage.operator
        .for(Tenant)
        .owns(ConfigMap)
        .builds(({ builder }) => {
          if (isBroken) throw new Error('the licence server does not answer');
          return builder.configMap({ name: 'env' });
        });
      stage.start();
      await stage.create('acme');
      const { reason, message } = await stage.condition('acme', 'Ready', 'False');
      expect({ reason, message }).to.deep.equal({
        reason: 'ReconcileFailed',
        message: 'the licence server does not answer',
      });
      expect((await stage.condition('acme', 'Progressing', 'True')).reason).to.equal('Retrying');
      isBroken = false;
      await stage.change('acme', { metadata: { annotations: { touched: 'yes' } } });
      await stage.condition('acme', 'Ready', 'True');
    });
  });

  it('the operator writes nothing after it is restarted', async () => {
    const describe = ({ operator }: Stage): void => {
      operator
        .for(Tenant)
        .owns(ConfigMap)
        .builds(({ object, builder, status }) => {
          status.set({ endpoint: 'https://acme.example' });
          return builder.configMap({ name: 'env', data: object.spec.env });
        });
    };
    describe(stage);
    stage.start();
    await stage.create('acme', { env: { A: '1' } });
    await stage.condition('acme', 'Ready', 'True');
    await stage.stop();
    const next = await Stage.after(stage);
    describe(next);
    await next.reconciledAfter(async () => next.start());
    await next.stop();
    expect(await next.writes()).to.deep.equal([]);
  });

  describe('a controller with reconciles', () => {
    it('records Events about the writes and failures of a handler that uses recordingClient', async () => {
      const { operator, namespace } = stage;
      const emitted: string[] = [];
      for (const event of ['created', 'failed'] as const) {
        operator.events.on(event, ({ ref }) => emitted.push(`${event} ${ref.name ?? ''}`));
      }
      operator.for(Tenant).reconciles(async ({ client, object: owner, recorder }) => {
        const recording = recordingClient(client, { recorder, emitter: operator.events, owner });
        const make = (name: string) =>
          recording.create({ ...configMap, metadata: { namespace, name } });
        if (emitted.length > 0) return;
        await make('notes');
        await make('No_Name');
      });
      stage.start();
      await stage.create('acme');
      await target.eventually(async () => {
        const [created, refused, ...others] = (await stage.events('acme')).toSorted();
        expect(created).to.equal(`Normal Created: Created ConfigMap ${namespace}/notes`);
        expect(refused).to.match(/^Warning CreateFailed: Create ConfigMap .*No_Name: 422 /);
        expect(others).to.deep.equal([]);
      });
      expect(emitted).to.deep.equal(['created notes', 'failed No_Name']);
    });
  });

  describe('the status of an object', () => {
    it('contains the fields that the last reconcile set, and keeps those of other managers', async () => {
      stage.operator
        .for(Tenant)
        .owns(ConfigMap)
        .builds(({ object, builder, status }) => {
          const { host } = object.spec.env;
          status.set({ endpoint: host });
          if (host !== undefined) {
            status.setCondition({ type: 'Exposed', status: 'True', reason: 'HostSet' });
          }
          if (host === 'broken') throw new Error('broken');
          return builder.configMap({ name: 'env', data: object.spec.env });
        });
      stage.start();
      await stage.create('acme', { env: { host: 'acme.example' } });
      await stage.condition('acme', 'Ready', 'True');
      const backup = {
        ...{ type: 'BackedUp', status: 'True', reason: 'Done', message: '' },
        lastTransitionTime: '2026-01-01T00:00:00Z',
      };
      await target.admin.apply(
        {
          ...{ apiVersion: 'front.example/v1', kind: 'Tenant', metadata: stage.key('acme') },
          status: { conditions: [backup] },
        } as never,
        { subresource: 'status', fieldManager: 'backup' },
      );
      const types = async (): Promise<readonly string[]> =>
        ((await stage.get('acme')).status?.conditions ?? []).map(({ type }) => type).sort();
      expect((await stage.get('acme')).status?.endpoint).to.equal('acme.example');
      const own = ['Degraded', 'Progressing', 'Ready'];
      expect(await types()).to.have.members([...own, 'BackedUp', 'Exposed']);
      // A failed reconcile keeps the fields.
      await stage.change('acme', { spec: { env: { host: 'broken' } } });
      await stage.condition('acme', 'Ready', 'False');
      expect(await types()).to.have.members([...own, 'BackedUp', 'Exposed']);
      await stage.change('acme', { spec: { env: { host: null } } });
      await stage.condition('acme', 'Ready', 'True');
      const { status } = await stage.get('acme');
      expect(status).to.not.have.property('endpoint');
      expect(await types()).to.have.members([...own, 'BackedUp']);
    });

    it('reports what the handler waits for until a watch event ends the wait, or reports an error instead', async () => {
      stage.operator
        .for(Tenant)
        .owns(ConfigMap)
        .builds(async ({ object, builder, client, key, status }) => {
          const gate = await getIfExists(client, ConfigMap, { ...key, name: 'gate' });
          if (gate?.metadata.labels?.['open'] === undefined) status.setWaiting('gate is shut');
          return builder.configMap({ name: 'gate', data: object.spec.env });
        });
      stage.start();
      await stage.create('acme');
      const waiting = { reason: 'Waiting', message: 'gate is shut' };
      expect(await stage.condition('acme', 'Ready', 'False')).to.include(waiting);
      expect(await stage.condition('acme', 'Progressing', 'True')).to.include(waiting);
      await stage.condition('acme', 'Degraded', 'False');
      await stage.change('acme', { spec: { env: { 'not a key': '1' } } });
      await stage.condition('acme', 'Degraded', 'True');
      expect(await stage.condition('acme', 'Ready', 'False')).to.include({ reason: 'Invalid' });
      await stage.change('acme', { spec: { env: { 'not a key': null } } });
      expect(await stage.condition('acme', 'Progressing', 'True')).to.include(waiting);
      await target.admin.patch(ConfigMap, stage.key('gate'), {
        type: 'merge',
        body: { metadata: { labels: { open: 'yes' } } },
      });
      await stage.condition('acme', 'Ready', 'True');
    });

    it('is repaired after another client changed it', async () => {
      stage.operator
        .for(Tenant)
        .owns(ConfigMap)
        .builds(({ builder }) => builder.configMap({ name: 'env' }));
      stage.start();
      await stage.create('acme');
      await stage.condition('acme', 'Ready', 'True');
      const patch = { type: 'merge', body: { status: { conditions: [] } } } as const;
      await target.admin.patch(Tenant, stage.key('acme'), patch, { subresource: 'status' });
      await stage.condition('acme', 'Ready', 'True');
    });
  });

  it('the operator skips a paused object and reconciles it after the pause', async () => {
    stage.operator
      .for(Tenant)
      .owns(ConfigMap)
      .builds(({ object, builder }) => builder.configMap({ name: 'env', data: object.spec.env }));
    stage.start();
    await stage.create('acme', { env: { A: '1' } });
    await stage.condition('acme', 'Ready', 'True');
    const paused = (value: string | null): object => ({
      metadata: { annotations: { 'operator-builder.io/paused': value } },
    });
    await stage.change('acme', paused('true'));
    await stage.condition('acme', 'Paused', 'True');
    await stage.reconciledAfter(() => stage.change('acme', { spec: { env: { A: '2' } } }));
    const data = async (): Promise<unknown> =>
      (await target.admin.get(ConfigMap, stage.key('env'))).data;
    expect(await data()).to.deep.equal({ A: '1' });
    await stage.change('acme', paused(null));
    await stage.condition('acme', 'Ready', 'True');
    const { status } = await stage.get('acme');
    expect(findCondition(status?.conditions, 'Paused')).to.equal(undefined);
    expect(await data()).to.deep.equal({ A: '2' });
  });

  it('the operator reconciles only for those changes of its objects that the predicate accepts', async () => {
    const seen: string[] = [];
    stage.operator
      .for(Tenant, { predicate: or(generationChanged(), labelChanged('tier')) })
      .reconciles(({ key, object: { metadata } }) => {
        seen.push(`${key.name} ${metadata.labels?.['tier'] ?? ''}`);
      });
    stage.start();
    await stage.create('acme');
    await stage.condition('acme', 'Ready', 'True');
    await stage.change('acme', { metadata: { annotations: { note: 'a' } } });
    // Events are in order, so those of the annotation have been handled when this one is.
    await stage.reconciledAfter(() => stage.create('other'));
    await stage.reconciledAfter(() =>
      stage.change('acme', { metadata: { labels: { tier: 'gold' } } }),
    );
    expect(seen).to.deep.equal(['acme ', 'other ', 'acme gold']);
  });

  describe('a controller with finalizes', () => {
    it('cleans up before the object is deleted, and reports what the clean-up waits for', async () => {
      const cleaned: string[] = [];
      let backups = 2;
      stage.operator
        .for(Tenant)
        .owns(ConfigMap)
        .builds(({ builder }) => builder.configMap({ name: 'env' }))
        .finalizes(({ object }) => {
          cleaned.push(object.metadata.name ?? '');
          return backups > 0 ? requeueAfter(1_000, `waits for ${backups} backups`) : undefined;
        });
      stage.start();
      await stage.create('acme');
      await stage.condition('acme', 'Ready', 'True');
      expect((await stage.get('acme')).metadata.finalizers).to.deep.equal([
        `front.example/${operatorName}`,
      ]);
      await target.admin.delete(Tenant, stage.key('acme'));
      const { reason, message } = await stage.condition('acme', 'Ready', 'False');
      expect({ reason, message }).to.deep.equal({
        reason: 'Deleting',
        message: 'waits for 2 backups',
      });
      backups = 0;
      await stage.change('acme', { metadata: { annotations: { touched: 'yes' } } });
      await target.eventually(() => isGone(stage));
      expect(cleaned.every((name) => name === 'acme')).to.equal(true);
    });

    it('keeps the finalizer while finalizes waits for a watch event', async () => {
      stage.operator
        .for(Tenant)
        .owns(ConfigMap)
        .builds(({ builder }) => builder.configMap({ name: 'gate' }))
        .finalizes(async ({ client, key, status }) => {
          const { metadata } = await client.get(ConfigMap, { ...key, name: 'gate' });
          if (metadata.labels?.['open'] === undefined) status.setWaiting('gate is shut');
        });
      stage.start();
      await stage.create('acme');
      await stage.condition('acme', 'Ready', 'True');
      await target.admin.delete(Tenant, stage.key('acme'));
      const { reason, message } = await stage.condition('acme', 'Ready', 'False');
      expect({ reason, message }).to.deep.equal({ reason: 'Deleting', message: 'gate is shut' });
      await target.admin.patch(ConfigMap, stage.key('gate'), {
        type: 'merge',
        body: { metadata: { labels: { open: 'yes' } } },
      });
      await target.eventually(() => isGone(stage));
    });

    it('removes the finalizer of an earlier release if the operator no longer has a finalizes handler', async () => {
      stage.operator
        .for(Tenant)
        .owns(ConfigMap)
        .builds(({ builder }) => builder.configMap({ name: 'env' }));
      const metadata = {
        ...stage.key('acme'),
        finalizers: [`front.example/${operatorName}`],
      };
      await target.admin.create<Tenant>(Tenant.object({ metadata, spec: {} }));
      stage.start();
      await stage.condition('acme', 'Ready', 'True');
      await target.admin.delete(Tenant, stage.key('acme'));
      await target.eventually(() => isGone(stage));
    });
  });

  it('an operator with installCrds installs its custom resources before it watches them', async () => {
    const Shelf = defineResource({
      ...{ group: 'front.example', kind: 'Shelf' },
      versions: [{ name: 'v1', schema: s.object({ spec: s.object({}) }), status: s.status({}) }],
    });
    stage = await Stage.open(target, { installCrds: true });
    stage.operator.for(Shelf).reconciles(() => undefined);
    stage.start();
    const shelf = Shelf.object({ metadata: stage.key('acme'), spec: {} });
    await target.eventually(() => target.admin.create(shelf));
    await target.eventually(async () => {
      const { status } = await target.admin.get(Shelf, stage.key('acme'));
      expect(findCondition(status?.conditions, 'Ready')?.status).to.equal('True');
    });
    const { metadata } = await target.admin.get(CustomResourceDefinition, {
      name: 'shelfs.front.example',
    });
    expect(metadata.managedFields?.map(({ manager }) => manager)).to.include(operatorName);
  });

  it('a handler can reconcile a chain step by step, and the status reports the results of all steps', async () => {
    const results: string[] = [];
    stage.operator
      .for(Tenant)
      .owns(ConfigMap, Deployment)
      .reconciles(async ({ object, builder }) => {
        const chain = builder
          .configMap({ name: 'env', data: object.spec.env })
          .deployment({ name: 'web', replicas: object.spec.replicas, podSpec });
        await chain.reconcileConfigMap();
        const deployed = await chain.reconcileDeployOrSts();
        await chain.reconcileStore();
        results.push(...deployed.map(({ operation, ref }) => `${operation} ${ref.kind}`));
      });
    stage.start();
    await stage.create('acme', { replicas: 1 });
    await stage.condition('acme', 'Ready', 'True');
    expect(results[0]).to.equal('created Deployment');
    expect(await stage.names(Deployment)).to.deep.equal(['web']);
  });
}

async function isGone(stage: Stage): Promise<void> {
  try {
    await stage.get('acme');
  } catch (error) {
    if (isNotFound(error)) return;
    throw error;
  }
  throw new Error('it is still there');
}

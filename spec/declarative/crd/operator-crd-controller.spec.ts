import { expect } from 'chai';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import {
  OperatorResource,
  cleanUpAnnotation,
  operatorCrdAccess,
  operatorCrdController,
} from '../../../lib/declarative/crd/index.js';
import type { OperatorDocument } from '../../../lib/declarative/crd/index.js';
import type { ConnectedClient } from '../../../lib/client/http-client.js';
import { findCondition } from '../../../lib/object/conditions.js';
import type { Added } from '../../../lib/manager/index.js';
import { Group } from '../../../lib/declarative/operator/index.js';
import { DeclarativeManager } from '../../../lib/declarative/views/index.js';
import type { DeclarativeManagerOptions } from '../../../lib/declarative/views/declarative-manager.js';
import { ConfigMap } from '../../../lib/object/kinds.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';
import { eventually } from '../../../lib/testing/index.js';
import { embeddedTarget } from '../../builder/suite/embedded-target.js';
import { ScriptedLeadership } from '../../manager/manager-setup.js';
import { configMapOf, viewOf } from '../operator/group-scene.js';
import { operatorCrdSuite } from './operator-crd-suite.js';

/** A part of an OpenAPI schema. */
interface Schema {
  readonly properties?: Record<string, Schema>;
  readonly items?: Schema;
}

describe('Operator objects', () => {
  operatorCrdSuite(embeddedTarget);
});

describe('The operator of an Operator object with the clean-up policy "delete"', () => {
  it('writes nothing while its targets cannot be recorded in the status of the Operator object', async () => {
    const clock = new VirtualClock();
    const cluster = await EmbeddedCluster.start({ clock, crds: [OperatorResource.crd] });
    const admin = cluster.client();
    const user = 'operator';
    const match = { user, resource: 'operators', subresource: 'status' };
    const fault = cluster.faults.add({ match, effect: { type: 'status', code: 500 } });
    const namespace = 'default';
    const metadata = { name: 'a', namespace, labels: { of: 'Price' } };
    await admin.create<ConfigMap>({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
    const controllers = [viewOf('Price', namespace), configMapOf('Price', 'price')];
    const annotations = { [cleanUpAnnotation]: 'delete' };
    await admin.create(
      OperatorResource.object({ metadata: { name: 'shop', annotations }, spec: { controllers } }),
    );
    const manager = await DeclarativeManager.create({ client: cluster.client({ user }), clock });
    const group = new Group({ manager });
    manager.add(operatorCrdController({ group }), { requires: operatorCrdAccess });
    const end = new AbortController();
    const running = group.start(end.signal);
    const made = async (): Promise<readonly string[]> => {
      const { items } = await admin.list(ConfigMap, { namespace, labelSelector: 'made=yes' });
      return items.map(({ metadata: { name = '' } }) => name);
    };
    const refusals = () =>
      cluster.requests.entries.filter((one) => one.user === user && one.subresource === 'status');
    await eventually(() => expect(refusals().length).to.be.above(3), { clock });
    expect(await made()).to.deep.equal([]);
    fault.remove();
    await eventually(async () => expect(await made()).to.deep.equal(['price-a']), { clock });
    end.abort();
    await running;
    await cluster.stop();
  });
});

describe('The controller of Operator objects', () => {
  const namespace = 'default';
  const user = 'operator';
  const policy = { annotations: { [cleanUpAnnotation]: 'delete' } };
  let clock: VirtualClock;
  let cluster: EmbeddedCluster;
  let admin: ConnectedClient;
  let group: Group;
  let end: AbortController;
  let running: Promise<void>;
  let added: Added;
  beforeEach(async () => {
    clock = new VirtualClock();
    cluster = await EmbeddedCluster.start({ clock, crds: [OperatorResource.crd] });
    admin = cluster.client();
    const metadata = { name: 'a', namespace, labels: { of: 'Price' } };
    await admin.create<ConfigMap>({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
    running = Promise.resolve();
  });
  afterEach(async () => {
    await stop();
    await cluster.stop();
  });

  /** Starts a process. */
  async function start(options: Partial<DeclarativeManagerOptions> = {}): Promise<void> {
    const client = cluster.client({ user });
    const manager = await DeclarativeManager.create({ client, clock, ...options });
    group = new Group({ manager });
    added = manager.add(operatorCrdController({ group }), { requires: operatorCrdAccess });
    end = new AbortController();
    running = group.start(end.signal);
  }

  async function stop(): Promise<void> {
    end.abort();
    const over = { isOver: false };
    void running.then(() => (over.isOver = true));
    await eventually(() => expect(over.isOver).to.equal(true), { clock });
  }

  /** Waits until the process has stood for election `count` times. */
  async function candidates({ log }: ScriptedLeadership, count: number): Promise<void> {
    const all = () => log.filter((each) => each === 'candidate');
    await eventually(() => expect(all()).to.have.length(count), { clock });
  }

  const create = (
    name: string,
    controllers: OperatorDocument['controllers'],
    metadata: object = {},
  ) =>
    admin.create(
      OperatorResource.object({ metadata: { name, ...metadata }, spec: { controllers } }),
    );
  const made = async (): Promise<readonly string[]> => {
    const { items } = await admin.list(ConfigMap, { namespace, labelSelector: 'made=yes' });
    return items.map(({ metadata: { name = '' } }) => name);
  };
  const ready = async (name: string): Promise<string> => {
    const { status } = await admin.get(OperatorResource, { name });
    const found = findCondition(status?.conditions, 'Ready');
    return `${found?.status} ${found?.reason}: ${found?.message ?? ''}`;
  };

  it('reports in the status of a deleted Operator object why the object still exists', async () => {
    await start();
    await create('shop', [viewOf('Price', namespace), configMapOf('Price', 'price')], policy);
    await eventually(async () => expect(await made()).to.deep.equal(['price-a']), { clock });
    const fault = cluster.faults.add({
      match: { user, verb: 'delete', resource: 'configmaps' },
      effect: { type: 'status', code: 403, reason: 'Forbidden', message: 'keep it' },
    });
    await admin.delete(OperatorResource, { name: 'shop' });
    await eventually(
      async () => {
        expect(await ready('shop'))
          .to.match(/^Unknown ReconciliationFailed: clean-up of shop\/make-price: /)
          .and.include('keep it');
      },
      { clock },
    );
    fault.remove();
    await eventually(
      async () => expect((await admin.list(OperatorResource)).items).to.deep.equal([]),
      { clock },
    );
    expect(await made()).to.deep.equal([]);
  });

  it('removes the finalizer of a deleted Operator object whose clean-up fails when the policy becomes "orphan"', async () => {
    await start();
    await create('shop', [viewOf('Price', namespace), configMapOf('Price', 'price')], policy);
    await eventually(async () => expect(await made()).to.deep.equal(['price-a']), { clock });
    cluster.faults.add({
      match: { user, verb: 'delete', resource: 'configmaps' },
      effect: { type: 'status', code: 403, reason: 'Forbidden', message: 'keep it' },
    });
    await admin.delete(OperatorResource, { name: 'shop' });
    await eventually(
      async () => expect(await ready('shop')).to.match(/^Unknown ReconciliationFailed/),
      { clock },
    );
    const body = { metadata: { annotations: { [cleanUpAnnotation]: null } } };
    await admin.patch(OperatorResource, { name: 'shop' }, { type: 'merge', body });
    await eventually(
      async () => expect((await admin.list(OperatorResource)).items).to.deep.equal([]),
      { clock },
    );
    expect(await made()).to.deep.equal(['price-a']);
  });

  it('keeps objects computed from views of another operator until that operator is added', async () => {
    const apiGroup = 'maker.view.dcontroller.io';
    await create('a-reader', [configMapOf('Price', 'price', { apiGroup })]);
    await create('maker', [viewOf('Price', namespace)]);
    await start();
    await eventually(async () => expect(await made()).to.deep.equal(['price-a']), { clock });
    const key = { name: 'price-a', namespace };
    const { metadata: before } = await admin.get(ConfigMap, key);
    await stop();
    // The process cannot write the new policy to the Operator object.
    const body = { metadata: policy };
    await admin.patch(OperatorResource, { name: 'maker' }, { type: 'merge', body });
    const fault = cluster.faults.add({
      match: { user, verb: 'patch', resource: 'operators', name: 'maker' },
      effect: { type: 'status', code: 500, reason: 'InternalError', message: 'no' },
    });
    await start();
    await eventually(
      async () => {
        expect(await ready('a-reader')).to.equal(
          'Unknown Waiting: waits for operator maker, whose views it reads',
        );
      },
      { clock },
    );
    await clock.advance(60_000);
    expect(await made()).to.deep.equal(['price-a']);
    fault.remove();
    await clock.advance(120_000);
    await eventually(async () => expect(await ready('a-reader')).to.match(/^True Ready/), {
      clock,
    });
    expect((await admin.get(ConfigMap, key)).metadata.uid).to.equal(before.uid);
  });

  it('runs operators that read views of each other', async () => {
    const from = (operator: string) => `${operator}.view.dcontroller.io`;
    const copy = (kind: string, operator: string) => ({
      ...viewOf(kind, namespace),
      name: 'copy',
      sources: [{ apiGroup: from(operator), kind }],
    });
    await create('one', [viewOf('Price', namespace), copy('Stock', 'other')]);
    await create('other', [viewOf('Stock', namespace), copy('Price', 'one')]);
    await start();
    for (const name of ['one', 'other']) {
      await eventually(async () => expect(await ready(name)).to.match(/^True Ready/), { clock });
    }
  });

  it('needs no permissions for Operator objects beyond those in operatorCrdAccess', async () => {
    await cluster.stop();
    cluster = await EmbeddedCluster.start({ clock, rbac: true, crds: [OperatorResource.crd] });
    admin = cluster.client();
    const { group: apiGroup, plural } = OperatorResource;
    const reads = ['get', 'list', 'watch'];
    const rules = [
      { apiGroups: [''], resources: ['configmaps'], verbs: reads },
      ...operatorCrdAccess.map(({ verbs, subresource }) => ({
        apiGroups: [apiGroup],
        resources: [subresource === undefined ? plural : `${plural}/${subresource}`],
        verbs: [...reads, ...verbs],
      })),
    ];
    const metadata = { name: user };
    const apiVersion = 'rbac.authorization.k8s.io/v1';
    await admin.create({ apiVersion, kind: 'ClusterRole', metadata, rules } as never);
    await admin.create({
      ...{ apiVersion, kind: 'ClusterRoleBinding', metadata },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: user },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
    } as never);
    await start();
    await create('shop', [viewOf('Price', namespace)], policy);
    await eventually(async () => expect(await ready('shop')).to.match(/^True Ready/), { clock });
    const { metadata: after } = await admin.get(OperatorResource, { name: 'shop' });
    expect(after.finalizers).to.have.lengthOf(1);
  });

  describe("keeps objects that an operator added by code computed from views of an Operator object's operator", () => {
    const apiGroup = 'maker.view.dcontroller.io';
    const reader = { controllers: [configMapOf('Price', 'price', { apiGroup })] };
    const waiting = 'Unknown Waiting: waits for operator maker, whose views it reads';
    const readerReady = (): string => {
      const [controller] = group.getOperator('reader')?.getStatus().controllers ?? [];
      const found = findCondition(controller?.conditions, 'Ready');
      return `${found?.status} ${found?.reason}: ${found?.message ?? ''}`;
    };
    const deleted = () =>
      cluster.requests.entries.filter((one) => one.user === user && one.verb === 'delete');
    const holdMaker = () =>
      cluster.faults.add({
        match: { user, verb: 'patch', resource: 'operators', name: 'maker' },
        effect: { type: 'status', code: 500, reason: 'InternalError', message: 'no' },
      });

    it('until the Operator object is loaded after a restart', async () => {
      await start();
      await group.upsertOperator('reader', reader);
      await create('maker', [viewOf('Price', namespace)]);
      await eventually(async () => expect(await made()).to.deep.equal(['price-a']), { clock });
      await stop();
      const body = { metadata: policy };
      await admin.patch(OperatorResource, { name: 'maker' }, { type: 'merge', body });
      const fault = holdMaker();
      await start();
      await group.upsertOperator('reader', reader);
      await eventually(() => expect(readerReady()).to.equal(waiting), { clock });
      await clock.advance(60_000);
      fault.remove();
      await clock.advance(120_000);
      await eventually(() => expect(readerReady()).to.match(/^True Ready/), { clock });
      expect(await made()).to.deep.equal(['price-a']);
      expect(deleted()).to.deep.equal([]);
      // Once the Operator object is deleted, its views do not come back.
      await admin.delete(OperatorResource, { name: 'maker' });
      await eventually(async () => expect(await made()).to.deep.equal([]), { clock });
    });

    it('until the Operator object is loaded again when the process becomes the leader again', async () => {
      const leadership = new ScriptedLeadership();
      await start({ leaderElection: leadership, whenLeadershipIsLost: 'standby' });
      await group.upsertOperator('reader', reader);
      await candidates(leadership, 1);
      leadership.lead();
      await create('maker', [viewOf('Price', namespace)], policy);
      await eventually(async () => expect(await made()).to.deep.equal(['price-a']), { clock });
      leadership.lose();
      await candidates(leadership, 2);
      await eventually(() => expect(readerReady()).to.equal(waiting), { clock });
      leadership.lead();
      await eventually(() => expect(readerReady()).to.match(/^True Ready/), { clock });
      expect(await made()).to.deep.equal(['price-a']);
      expect(deleted()).to.deep.equal([]);
    });
  });

  describe('runs an operator added by code with empty views if there is no Operator object for these views', () => {
    const apiGroup = 'nowhere.view.dcontroller.io';
    const reader = { controllers: [configMapOf('Price', 'price', { apiGroup })] };
    const isReady = (): void =>
      void expect(group.getOperator('reader')?.getStatus().conditions?.[0]?.status).to.equal(
        'True',
      );

    it('after the process was in standby', async () => {
      const leadership = new ScriptedLeadership();
      await start({ leaderElection: leadership, whenLeadershipIsLost: 'standby' });
      await candidates(leadership, 1);
      leadership.lead();
      leadership.lose();
      await candidates(leadership, 2);
      leadership.lead();
      await group.upsertOperator('reader', reader);
      await eventually(isReady, { clock });
    });

    it('after the controller of Operator objects was removed', async () => {
      await start();
      await create('other', [viewOf('Price', namespace)]);
      await eventually(async () => expect(await ready('other')).to.match(/^True/), { clock });
      await added.remove();
      await group.upsertOperator('reader', reader);
      await eventually(isReady, { clock });
    });

    it('even if the operator waited for the views when the controller of Operator objects was removed', async () => {
      const fault = cluster.faults.add({
        match: { user, resource: 'operators' },
        effect: { type: 'status', code: 500, reason: 'InternalError', message: 'no' },
      });
      await start();
      await group.upsertOperator('reader', reader);
      await clock.advance(5_000);
      expect(isReady).to.throw();
      await added.remove();
      await eventually(isReady, { clock });
      fault.remove();
    });
  });

  const statusWrites = () =>
    cluster.requests.entries.filter((one) => one.user === user && one.subresource === 'status');

  it('writes changed errors to the status at most once a second', async () => {
    await start();
    await create('shop', [viewOf('Price', namespace, { number: { '@int': '$.data.value' } })]);
    const put = (value: string): Promise<unknown> =>
      admin.patch(
        ConfigMap,
        { name: 'a', namespace },
        { type: 'merge', body: { data: { value } } },
      );
    const lastErrors = async (): Promise<string> => {
      const { status } = await admin.get(OperatorResource, { name: 'shop' });
      return status?.controllers[0]?.lastErrors?.join() ?? '';
    };
    await put('before');
    await eventually(async () => expect(await lastErrors()).to.include('got "before"'), { clock });
    const before = statusWrites().length;
    for (let n = 0; n < 20; n++) {
      await put(`v${n}`);
      await clock.advance(100);
    }
    await eventually(async () => expect(await lastErrors()).to.include('got "v19"'), { clock });
    expect(statusWrites().length - before).to.be.within(2, 4);
  });

  it('writes the status only once if the CRD in the cluster lacks newer fields of the status', async () => {
    await cluster.stop();
    const lesser = structuredClone(OperatorResource.crd) as unknown as {
      spec: { versions: { schema: { openAPIV3Schema: { properties: Record<string, Schema> } } }[] };
    };
    const status = lesser.spec.versions[0]?.schema.openAPIV3Schema.properties['status'];
    const ofController = status?.properties?.['controllers']?.items?.properties ?? {};
    delete ofController['target'];
    delete ofController['conditions']?.items?.properties?.['observedGeneration'];
    cluster = await EmbeddedCluster.start({ clock, crds: [lesser as never] });
    admin = cluster.client();
    await start();
    await create('shop', [viewOf('Price', namespace)]);
    await eventually(async () => expect(await ready('shop')).to.match(/^True Ready/), { clock });
    await clock.advance(60_000);
    expect(statusWrites().filter(({ code }) => code === 200)).to.have.length(1);
    const { status: written } = await admin.get(OperatorResource, { name: 'shop' });
    const [controller] = written?.controllers ?? [];
    expect(controller).to.have.all.keys('name', 'conditions', 'lastErrors');
    expect(controller?.conditions?.[0]).to.not.have.property('observedGeneration');
  });

  it('writes nothing for the old spec of an Operator object that changed while another process was the leader', async () => {
    const leadership = new ScriptedLeadership();
    await start({ leaderElection: leadership, whenLeadershipIsLost: 'standby' });
    await candidates(leadership, 1);
    leadership.lead();
    await create('shop', [viewOf('Price', namespace), configMapOf('Price', 'old')], policy);
    await eventually(async () => expect(await made()).to.deep.equal(['old-a']), { clock });
    leadership.lose();
    const controllers = [viewOf('Price', namespace), configMapOf('Price', 'new')];
    const body = { spec: { controllers } };
    await admin.patch(OperatorResource, { name: 'shop' }, { type: 'merge', body });
    await admin.delete(ConfigMap, { name: 'old-a', namespace });
    const fault = cluster.faults.add({
      match: { user, verb: 'patch', resource: 'operators', name: 'shop' },
      effect: { type: 'status', code: 500, reason: 'InternalError', message: 'no' },
    });
    await candidates(leadership, 2);
    const before = cluster.requests.entries.length;
    leadership.lead();
    const refused = () =>
      cluster.requests.entries
        .slice(before)
        .filter((one) => one.user === user && one.resource === 'operators' && one.verb === 'patch');
    await eventually(() => expect(refused().length).to.be.above(3), { clock });
    expect(await made()).to.deep.equal([]);
    fault.remove();
    await eventually(async () => expect(await made()).to.deep.equal(['new-a']), { clock });
  });
});

import { expect } from 'chai';
import type { Builder, BuilderOptions } from '../../lib/builder/index.js';
import { faulty, forwarding } from '../../lib/client/index.js';
import type { Client, FaultRule } from '../../lib/client/index.js';
import type { ClusterRole } from '../../lib/object/kinds.js';
import {
  ConfigMap,
  CustomResourceDefinition,
  Pod,
  Secret,
  Service,
  StatefulSet,
} from '../../lib/object/kinds.js';
import type { LogFields, Logger } from '../../lib/system/index.js';
import { OperatorError, silentLogger } from '../../lib/system/index.js';
import { embeddedTarget } from './suite/embedded-target.js';
import { podSpec, Scene, summary } from './suite/scene.js';
import type { BuilderTarget } from './suite/target.js';

describe('Builder on a server that refuses some of its requests', () => {
  let target: BuilderTarget;
  let scene: Scene;
  let lines: (readonly [message: string, fields: LogFields | undefined])[];
  const logger: Logger = {
    ...silentLogger,
    warn: (message, fields) => void lines.push([message, fields]),
  };

  before(async () => {
    target = await embeddedTarget();
  });
  after(() => target.close());
  beforeEach(async () => {
    scene = await Scene.open(target);
    lines = [];
  });

  /** Returns a client of the operator whose lists of `kinds` the server refuses. */
  const without = (...kinds: readonly string[]): Client => {
    const fault = { type: 'error', status: 403, reason: 'Forbidden' } as const;
    const rules: FaultRule[] = [{ fault, verbs: ['list'], kinds }];
    return faulty(scene.operator.client, { rules });
  };

  it('prunes what the new template no longer needs although it cannot list pods, and logs the missing rule', async () => {
    const chain = (env: string): Builder =>
      scene
        .builder({ client: without('Pod'), logger })
        .configMap({ name: env })
        .deployment({
          name: 'web',
          podSpec,
          envFromConfigMap: [env],
          spec: { minReadySeconds: 2 },
        });
    await scene.reconcileUntilDone(() => chain('old'));
    expect(lines).to.deep.equal([]);
    const results = await chain('new').reconcile();
    expect(summary(results)).to.include('deleted ConfigMap/old');
    expect(await scene.find(ConfigMap, 'old')).to.equal(undefined);
    expect(lines).to.deep.include([
      'give the operator the verb list for pods, so that nothing is pruned that they use',
      { name: `Deployment ${scene.namespace}/web` },
    ]);
  });

  const storeOf = (
    image: string,
    options: Partial<BuilderOptions> = {},
    unblock = false,
  ): Builder => {
    // No node has the label, so the pods of the first image never start.
    const nowhere = image === '1' && { nodeSelector: { disk: 'none' } };
    const pod = { containers: [{ name: 'web', image }], ...nowhere };
    return scene.builder(options).statefulSet({ name: 'store', unblock, podSpec: pod });
  };
  const blockedByPod = async (): Promise<void> => {
    await storeOf('1').reconcile();
    await target.eventually(async () => {
      expect((await scene.get(Pod, 'store-0')).status?.phase).to.equal('Pending');
      expect((await scene.get(StatefulSet, 'store')).status?.replicas).to.equal(1);
    });
  };

  it('reports a broken rollout only at its deadline if it cannot list pods, and logs the missing rule', async () => {
    await blockedByPod();
    const result = await target.eventually(async () => {
      const [each] = await storeOf('2', { client: without('Pod'), logger }).reconcile();
      expect(lines).to.have.length(1);
      return each;
    });
    expect(result?.rollout?.state).to.equal('progressing');
    expect(lines).to.deep.include([
      'pods cannot be listed: broken rollouts are found late; grant list on pods',
      { name: `StatefulSet ${scene.namespace}/store` },
    ]);
  });

  it('keeps a Service on the ready pods of the old workload if it cannot list workloads of another kind', async () => {
    const front = (name: string): Builder =>
      scene
        .builder({ client: without('Deployment'), owns: [Service, StatefulSet] })
        .service({ name: 'front', workload: name, spec: { ports: [{ port: 80 }] } });
    await scene.reconcileUntilDone(() => front('old').statefulSet({ name: 'old', podSpec }));
    await target.eventually(async () => {
      expect((await scene.get(StatefulSet, 'old')).status?.readyReplicas).to.equal(1);
    });
    const results = await front('new').deployment({ name: 'new', podSpec }).reconcile();
    const [service] = results.filter(({ ref }) => ref.kind === 'Service');
    expect(service?.operation).to.equal('pending');
    expect(service?.reason).to.match(
      /moves from StatefulSet .*old once Deployment .*new is rolled/,
    );
  });

  for (const [what, status, reason] of [
    ['is gone meanwhile', 404, 'NotFound'],
    ['was replaced meanwhile', 409, 'Conflict'],
  ] as const) {
    it(`continues if it cannot delete a pod that blocks a rollout, because the pod ${what}`, async () => {
      await blockedByPod();
      const fault = { type: 'error', status, reason } as const;
      const rules: FaultRule[] = [{ fault, verbs: ['delete'], kinds: ['Pod'] }];
      const client = faulty(scene.operator.client, { rules });
      await target.eventually(async () => {
        const [result] = await storeOf('2', { client }, true).reconcile();
        expect(result?.rollout).to.deep.equal({
          state: 'progressing',
          message: `deleted Pod ${scene.namespace}/store-0: it is of an older revision, and was not ready`,
        });
      });
      expect(client.injected).not.to.deep.equal([]);
    });
  }

  it('fails if RBAC forbids it to delete a pod that blocks a rollout', async () => {
    await blockedByPod();
    const fault = { type: 'error', status: 403, reason: 'Forbidden' } as const;
    const rules: FaultRule[] = [{ fault, verbs: ['delete'], kinds: ['Pod'] }];
    const client = faulty(scene.operator.client, { rules });
    await target.eventually(async () => {
      const results = storeOf('2', { client }, true).reconcile();
      const error: unknown = await results.catch((thrown: unknown) => thrown);
      expect(error).to.have.property('message').that.includes('delete Pod');
    });
  });

  it('fails only the objects of unknown kinds if it cannot discover the served kinds', async () => {
    const problem = new OperatorError('ConnectionFailed', 'GET /apis: the connection was reset');
    const client: Client = {
      ...forwarding(scene.operator.client),
      resourceType: (type) => Promise.reject(type.kind === 'Widget' ? problem : new Error('no')),
    };
    const widget = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'one' } };
    const error: unknown = await scene
      .builder({ client })
      .secret({ name: 'database', generated: { password: () => 'made' } })
      .object(widget)
      .reconcile()
      .catch((thrown: unknown) => thrown);
    expect(error).to.have.property('errors').that.deep.equals([problem]);
    expect(await scene.find(Secret, 'database')).not.to.equal(undefined);
  });

  it('waits a second for a kind that is not served yet although its definition is established', async () => {
    const rbac = 'rbac.authorization.k8s.io';
    const metadata = { name: `owner-${scene.namespace}` };
    scene.owner = await scene.admin.create<ClusterRole>({
      ...{ apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata, rules: [] },
    });
    const group = `${scene.namespace}.example.com`;
    const openAPIV3Schema = { type: 'object' };
    const definition = {
      ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
      metadata: { name: `gadgets.${group}` },
      spec: {
        ...{ group, scope: 'Namespaced', names: { plural: 'gadgets', kind: 'Gadget' } },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
      },
    };
    const gadget = { apiVersion: `${group}/v1`, kind: 'Gadget', metadata: { name: 'one' } };
    const { client } = scene.operator;
    const behind: Client = {
      ...forwarding(client),
      resourceType: async (type) => {
        if (type.kind === 'Gadget') throw new OperatorError('UnknownKind', 'no Gadget');
        return client.resourceType(type);
      },
    };
    const chain = (by: Client): Builder =>
      scene
        .builder({ client: by, namespace: scene.namespace, owns: [CustomResourceDefinition] })
        .object(definition)
        .object(gadget);
    await chain(client).reconcile();
    await target.eventually(async () => {
      const [, result] = await chain(behind).reconcile();
      expect(result).to.include({ operation: 'pending', requeueAfterMs: 1_000 });
      expect(result?.reason).to.equal(
        `waits for CustomResourceDefinition gadgets.${group}, which is not served as ${group}/v1 yet`,
      );
    });
    expect(summary(await chain(client).reconcile())).to.include('created Gadget/one');
  });
});

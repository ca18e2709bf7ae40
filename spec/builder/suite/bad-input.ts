import { expect } from 'chai';
import { isReconcileFailed, requeueAfterOf } from '../../../lib/apply/index.js';
import { Builder } from '../../../lib/builder/index.js';
import { faulty } from '../../../lib/client/index.js';
import type { Client } from '../../../lib/client/index.js';
import { failureKindOf } from '../../../lib/controller/result.js';
import { ConfigMap, Deployment } from '../../../lib/object/kinds.js';
import type { KubernetesObject } from '../../../lib/object/kubernetes-object.js';
import type { OpenScene } from './builder-suite.js';
import { errorsOf } from './immutable.js';
import { controllerName, podSpec, refusal, summary } from './scene.js';
import type { Scene } from './scene.js';

function withDropped(chain: Builder, link: (chain: Builder) => Builder): Builder {
  link(chain);
  return chain;
}

function dynamic(name: string): string {
  return name;
}

/** Specs about mistakes: each is a typed error that names the object and the remedy, and leaves nothing half done. */
export function badInputSuite(open: OpenScene): void {
  const ports = [{ port: 80 }];

  it('the builder rejects a chain once, before any request, if the code ignored the Builder that a link returned', async () => {
    const scene = await open();
    const base = () => scene.builder().configMap({ name: 'env' });
    const dropping: (readonly [string, () => Builder])[] = [
      ['ConfigMap files', () => withDropped(base(), (chain) => chain.configMap({ name: 'files' }))],
      [
        'ConfigMap files',
        () =>
          withDropped(base(), (chain) => chain.configMap({ name: 'files' })).secret({ name: 'a' }),
      ],
      ['rolloutOrder', () => withDropped(base(), (chain) => chain.rolloutOrder([]))],
    ];
    const works = [
      ...[(chain: Builder) => chain.reconcile(), (chain: Builder) => chain.plan()],
      (chain: Builder) => chain.reconcileStore(),
    ];
    for (const [what, chain] of dropping) {
      for (const work of works) {
        const error = await refusal(() => work(chain()));
        expect(error).to.have.property('code', 'InvalidOption');
        expect(error.message).to.match(new RegExp(`^${what}: added to a chain, but .* with when`));
      }
    }
    expect(await scene.writes()).to.deep.equal([]);
    const kept = withDropped(base(), (chain) => chain.secret({ name: 'keys' }));
    await refusal(() => kept.reconcile());
    expect(await kept.reconcile()).to.have.length(1);
  });

  it('the builder rejects pruning by a chain that lacks an object which another chain of the same reconcile has applied', async () => {
    const scene = await open();
    const base = scene.builder();
    await base.configMap({ name: 'env' }).reconcileConfigMap();
    const services = base.secret({ name: 'keys' });
    await services.reconcileConfigMap();
    const error = await refusal(() => services.reconcileStore());
    expect(error.message).to.match(/^ConfigMap env: /);
    expect((await scene.get(ConfigMap, 'env')).metadata.name).to.equal('env');
  });

  it('the builder accepts two chains that extend the same chain, which has already run', async () => {
    const scene = await open();
    const base = scene.builder().configMap({ name: 'env' });
    expect(await base.reconcile()).to.have.length(1);
    for (const name of ['files', 'keys']) {
      expect(await base.secret({ name }).plan()).to.have.property('changed', true);
    }
    const whole = base.when(false, (chain) => chain.secret({ name: 'none' })).secret({ name: 'a' });
    expect(await whole.reconcile()).to.have.length(2);
  });

  describe('the builder rejects an invalid value or option before any request', () => {
    const cases: readonly [string, (chain: Builder) => Builder, string, RegExp][] = [
      [
        'NaN replicas',
        (chain) => chain.deployment({ name: 'web', podSpec, replicas: Number(undefined) }),
        ...(['InvalidOption', /^Deployment web: replicas must be an integer .* got NaN/] as const),
      ],
      [
        'replicas as a string',
        (chain) => chain.statefulSet({ name: 'web', podSpec, replicas: '3' as never }),
        ...(['InvalidOption', /^StatefulSet web: replicas must be .* got "3"/] as const),
      ],
      [
        'a Map as data',
        (chain) => chain.configMap({ name: 'env', data: new Map() as never }),
        ...(['InvalidValue', /^ConfigMap env: data has no JSON form, got Map/] as const),
      ],
      [
        'Infinity in any object',
        (chain) =>
          chain.object({
            ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'env' } },
            data: { a: Infinity },
          } as KubernetesObject),
        ...(['InvalidValue', /^ConfigMap env: data\.a has no JSON form, got Infinity/] as const),
      ],
      [
        'a misspelt workload option',
        (chain) => chain.deployment({ name: 'web', podSpec, replica: 3 } as never),
        ...(['InvalidOption', /^Deployment web: unknown option "replica"; .* "replicas"/] as const),
      ],
      [
        'a selector in the spec of a workload',
        (chain) => {
          const spec = { replicas: 1, selector: { matchLabels: { app: 'web' } } };
          return chain.deployment({ name: 'web', podSpec, spec });
        },
        ...(['InvalidOption', /^Deployment web: spec\.selector can't be set here; use/] as const),
      ],
      [
        'a template in the spec of a Job',
        (chain) => {
          const spec = { backoffLimit: 1, template: { metadata: { labels: { app: 'web' } } } };
          return chain.job({ name: 'web', podSpec, spec });
        },
        ...(['InvalidOption', /^Job web: spec\.template can't be set here; use/] as const),
      ],
      [
        'a template in the jobSpec of a CronJob',
        (chain) => {
          const jobSpec = { template: { spec: podSpec }, backoffLimit: 1 };
          return chain.cronJob({ name: 'web', podSpec, schedule: '@daily', jobSpec });
        },
        ...(['InvalidOption', /^CronJob web: jobSpec\.template can't be set here; use/] as const),
      ],
      [
        'a jobTemplate in the spec of a CronJob',
        (chain) => {
          const spec = { jobTemplate: { spec: { backoffLimit: 1 } }, suspend: true };
          return chain.cronJob({ name: 'web', podSpec, schedule: '@daily', spec });
        },
        ...(['InvalidOption', /^CronJob web: spec\.jobTemplate can't be set here; use/] as const),
      ],
      [
        'an option of another kind',
        (chain) => chain.configMap({ name: 'env', stringData: {} } as never),
        ...(['InvalidOption', /^ConfigMap env: unknown option "stringData"/] as const),
      ],
      [
        'a misspelt option of any object',
        (chain) =>
          chain.object({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'env' } }, {
            prun: false,
          } as never),
        ...(['InvalidOption', /^ConfigMap env: unknown option "prun"; .* "prune"/] as const),
      ],
      [
        'a mistyped policy',
        (chain) => chain.configMap({ name: 'env', onImmutable: 'recrate' as never }),
        ...(['InvalidOption', /^ConfigMap env: onImmutable: want "fail" or "recreate"/] as const),
      ],
    ];
    for (const [title, add, code, message] of cases) {
      it(title, async () => {
        const scene = await open();
        const refused = await refusal(async () => add(scene.builder()).reconcile());
        expect(refused.code).to.equal(code);
        expect(refused.message).to.match(message);
        expect(failureKindOf(refused)).to.equal('terminal');
        expect(await scene.operator.requests()).to.deep.equal([]);
      });
    }
  });

  describe('the builder rejects an inconsistent chain before any write', () => {
    const cases: readonly [string, (scene: Scene) => Builder, string, string][] = [
      [
        'two objects of one kind and name',
        (scene) => scene.builder().configMap({ name: 'a' }).configMap({ name: 'a' }),
        'DuplicateObject',
        'is in the chain twice',
      ],
      [
        'an unchained name in rolloutOn',
        (scene) =>
          scene
            .builder()
            .configMap({ name: 'a' })
            .deployment({ name: 'web', podSpec, rolloutOn: [dynamic('b')] }),
        'UnknownReference',
        'rolloutOn names ConfigMap or Secret b',
      ],
      [
        'an unchained name in envFromConfigMap',
        (scene) =>
          scene.builder().deployment({
            name: 'web',
            podSpec: ({ envFromConfigMap }) => {
              const envFrom = [envFromConfigMap(dynamic('b'))];
              return { containers: [{ name: 'web', image: 'registry.example/web:1', envFrom }] };
            },
          }),
        'UnknownReference',
        'envFromConfigMap names ConfigMap b',
      ],
      [
        'an unchained serviceName',
        (scene) => scene.builder().statefulSet({ name: 'web', podSpec, serviceName: dynamic('b') }),
        'UnknownReference',
        'serviceName names Service b',
      ],
      [
        'a node type that is not in rolloutOrder',
        (scene) =>
          scene
            .builder({ rolloutOrder: ['data'] })
            .deployment({ name: 'web', podSpec, nodeType: dynamic('dta') }),
        'UnknownReference',
        'its nodeType dta is not in rolloutOrder (data); add it there, or correct it',
      ],
      [
        'an object in another namespace than its owner',
        (scene) => scene.builder().configMap({ name: 'a', namespace: 'elsewhere' }),
        'InvalidOwner',
        'owner references never cross namespaces',
      ],
      [
        'a cluster-scoped object of a namespaced owner',
        (scene) =>
          scene.builder().object({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'a' } }),
        'InvalidOwner',
        'the owner is namespaced, the object is not; leave the object out',
      ],
    ];
    for (const [title, chain, code, text] of cases) {
      it(title, async () => {
        const scene = await open();
        const error = await refusal(() => chain(scene).reconcile());
        expect(error.code).to.equal(code);
        expect(error.message).to.include(text);
        expect(await scene.writes()).to.deep.equal([]);
      });
    }

    it('an owner without a UID', async () => {
      const scene = await open();
      const owner = { ...scene.owner, metadata: { name: 'shop', namespace: scene.namespace } };
      const error = await refusal(() =>
        scene.builder({ owner }).configMap({ name: 'a' }).reconcile(),
      );
      expect(error.code).to.equal('InvalidOwner');
      expect(error.message).to.include('read from the server');
    });

    it('a namespace other than the namespace of the owner', async () => {
      const scene = await open();
      const construct = (): unknown => scene.builder({ namespace: 'elsewhere' });
      expect(construct).to.throw('never cross namespaces').with.property('code', 'InvalidOwner');
    });
  });

  describe('the builder reports an invalid object and reconciles the rest', () => {
    const cases: readonly [string, (chain: Builder) => Builder, string, string][] = [
      [
        'two variables of one name',
        (chain) =>
          chain.deployment({
            name: 'bad',
            podSpec: {
              containers: [
                {
                  ...{ name: 'web', image: 'registry.example/web:1' },
                  env: [
                    { name: 'A', value: '1' },
                    { name: 'A', value: '2' },
                  ],
                },
              ],
            },
          }),
        'InvalidObject',
        'spec.template.spec.containers[name=web].env has two entries with name=A',
      ],
      [
        'two ports of one number, one with the protocol left out',
        (chain) =>
          chain.service({
            name: 'bad',
            spec: { selector: {}, ports: [{ port: 80 }, { port: 80, protocol: 'TCP' }] },
          }),
        'InvalidObject',
        'spec.ports has two entries with port=80,protocol=TCP',
      ],
      [
        'an invalid name',
        (chain) => chain.configMap({ name: 'Not_A_Name' }),
        'InvalidObject',
        'metadata.name',
      ],
      [
        'an invalid label',
        (chain) => chain.configMap({ name: 'bad', labels: { a: 'not a value' } }),
        'InvalidObject',
        'metadata.labels',
      ],
      [
        'a Secret whose data is not base64',
        (chain) => chain.secret({ name: 'bad', data: { key: 'hunter2!' } }),
        'InvalidObject',
        'data["key"] is not base64',
      ],
      [
        'an invalid quantity',
        (chain) => {
          const resources = { requests: { storage: 'lots' } };
          const spec = { accessModes: ['ReadWriteOnce'], resources };
          return chain.persistentVolumeClaim({ name: 'bad', spec });
        },
        'Terminal',
        'quantities must match',
      ],
      [
        'a ConfigMap over 1 MiB',
        (chain) => chain.configMap({ name: 'bad', data: { A: 'x'.repeat(1_048_577) } }),
        'InvalidObject',
        'at most 1048576 are allowed: split it',
      ],
      [
        'an unserved kind',
        (chain) =>
          chain.object({
            apiVersion: 'example.com/v1',
            kind: 'Nothing',
            metadata: { name: 'bad' },
          }),
        'UnknownKind',
        'install its CustomResourceDefinition',
      ],
      [
        'an unknown field',
        (chain) =>
          chain.service({ name: 'bad', spec: { selector: {}, ports, nonsense: true } as never }),
        'Terminal',
        'nonsense',
      ],
      [
        'a value that the server rejects',
        (chain) => chain.deployment({ name: 'bad', podSpec, spec: { replicas: -1 } }),
        'Terminal',
        'spec.replicas',
      ],
    ];
    for (const [title, withBad, code, text] of cases) {
      it(title, async () => {
        const scene = await open();
        await scene.builder().configMap({ name: 'no-longer', data: {} }).reconcile();
        const chain = withBad(scene.builder().configMap({ name: 'good', data: { A: '1' } }));
        const errors = await errorsOf(chain);
        expect(errors).to.have.length(1);
        expect(errors[0]?.code).to.equal(code);
        expect(errors[0]?.message).to.include(text);
        expect(await scene.find(ConfigMap, 'good'), 'the good one').not.to.equal(undefined);
        expect(await scene.find(ConfigMap, 'no-longer'), 'not pruned').not.to.equal(undefined);
        expect(scene.events.some(({ type }) => type === 'Warning')).to.equal(true);
      });
    }
  });

  it('the builder throws all failures together, with the results, and says whether a retry can help', async () => {
    const scene = await open();
    const chain = scene
      .builder()
      .configMap({ name: 'Bad_One' })
      .configMap({ name: 'Bad_Two' })
      .configMap({ name: 'good' });
    const error = await refusal(() => chain.reconcile());
    if (!isReconcileFailed(error)) throw error;
    expect(error.errors.map(({ code }) => code)).to.deep.equal(['InvalidObject', 'InvalidObject']);
    expect(summary(error.results)).to.deep.equal(['created ConfigMap/good']);
    expect(error.terminal).to.equal(true);
    expect(error.message).to.include('Bad_One').and.to.include('Bad_Two');
  });

  it('the builder does not report a failure as terminal while the result of a rollout requests a requeue', async () => {
    const scene = await open();
    const chain = scene
      .builder()
      .configMap({ name: 'Bad_One' })
      .statefulSet({ name: 'store', podSpec });
    const error = await refusal(() => chain.reconcile());
    if (!isReconcileFailed(error)) throw error;
    expect(requeueAfterOf(error.results)).to.be.greaterThan(0);
    expect(error.terminal).to.equal(false);
  });

  it('the builder reports a dependent as failed terminally only if its dependency failed terminally', async () => {
    const scene = await open();
    const terminal = async (client: Client, value: string): Promise<readonly boolean[]> => {
      const chain = scene
        .builder({ client })
        .configMap({ name: 'env', data: { A: value } })
        .deployment({ name: 'web', podSpec, rolloutOn: ['env'] });
      const stages = [() => chain.reconcileConfigMap(), () => chain.reconcileDeployOrSts()];
      const found: boolean[] = [];
      for (const stage of stages) {
        const error = await refusal(stage);
        if (!isReconcileFailed(error)) throw error;
        found.push(error.terminal);
      }
      return found;
    };
    const { client } = scene.operator;
    const fault = { type: 'error', status: 500, reason: 'InternalError' } as const;
    const rules = [{ fault, verbs: ['apply' as const], kinds: ['ConfigMap'] }];
    expect(await terminal(faulty(client, { rules }), '1')).to.deep.equal([false, false]);
    expect(await terminal(client, 'x'.repeat(1_048_577))).to.deep.equal([true, true]);
  });

  it('the builder skips a workload or an Ingress if the Secret or the backend that it refers to failed', async () => {
    const scene = await open();
    const pulling = { ...podSpec, imagePullSecrets: [{ name: 'pull' }] };
    const other = { service: { name: 'elsewhere', port: { number: 80 } } };
    const backend = { service: { name: 'backend', port: { number: 80 } } };
    const chain = scene
      .builder()
      .secret({ name: 'pull', data: { a: '!!' } })
      .deployment({ name: 'web', podSpec: pulling })
      .service({ name: 'backend', spec: { selector: {}, ports: [{ port: 99_999 }] } })
      .ingress({ name: 'served', spec: { defaultBackend: backend } })
      .ingress({
        name: 'secured',
        spec: {
          tls: [{ secretName: 'pull' }],
          rules: [{ http: { paths: [{ path: '/', pathType: 'Prefix', backend: other }] } }],
        },
      });
    const error = await refusal(() => chain.reconcile());
    if (!isReconcileFailed(error)) throw error;
    const dependent = error.errors.filter(({ code }) => code === 'DependencyFailed');
    expect(dependent.map(({ message }) => /^\w+ [^ ]*\/(\w+) /.exec(message)?.[1])).to.have.members(
      [...['web', 'served', 'secured']],
    );
    expect(await scene.find(Deployment, 'web')).to.equal(undefined);
  });

  it('the builder skips objects that depend on a failed object, and prunes nothing', async () => {
    const scene = await open();
    await scene.builder().configMap({ name: 'no-longer', data: {} }).reconcile();
    const chain = scene
      .builder()
      .configMap({ name: 'env', data: { A: 'x'.repeat(1_048_577) } })
      .deployment({ name: 'uses-it', podSpec, rolloutOn: ['env'] })
      .deployment({ name: 'does-not', podSpec });
    const error = await refusal(() => chain.reconcile());
    if (!isReconcileFailed(error)) throw error;
    expect(error.errors.map(({ code }) => code)).to.deep.equal([
      'InvalidObject',
      'DependencyFailed',
    ]);
    expect(summary(error.results)).to.deep.equal(['created Deployment/does-not']);
    expect(await scene.find(Deployment, 'uses-it')).to.equal(undefined);
    const pruning = await refusal(() => chain.reconcileStore());
    expect(pruning.code).to.equal('DependencyFailed');
    const alone = scene.builder().configMap({ name: 'env', data: { A: 'x'.repeat(1_048_577) } });
    await refusal(() => alone.reconcile());
    expect((await refusal(() => alone.reconcileStore())).code).to.equal('DependencyFailed');
    expect(await scene.find(ConfigMap, 'no-longer')).not.to.equal(undefined);
  });

  it('the builder creates an object as soon as its kind is served', async () => {
    const scene = await open();
    const group = `${scene.namespace}.example.com`;
    const spec = { type: 'object', properties: { size: { type: 'integer' } } };
    const openAPIV3Schema = { type: 'object', properties: { spec } };
    const chain = (fields: object = { size: 1 }): Builder =>
      new Builder({
        client: scene.operator.client,
        owner: scene.owner,
        controllerName,
        owns: [],
      }).object({
        ...{ apiVersion: `${group}/v1`, kind: 'Widget', metadata: { name: 'one' } },
        ...{ spec: fields },
      });
    expect((await errorsOf(chain()))[0]?.code).to.equal('UnknownKind');
    expect((await refusal(() => chain().reconcileStore())).code).to.equal('DependencyFailed');
    await scene.admin.create({
      ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
      metadata: { name: `widgets.${group}` },
      spec: {
        group,
        scope: 'Namespaced',
        names: { plural: 'widgets', kind: 'Widget', singular: 'widget', listKind: 'WidgetList' },
        versions: [
          {
            ...{ name: 'v1', served: true, storage: true },
            schema: { openAPIV3Schema },
          },
        ],
      },
    } as never);
    await scene.target.eventually(async () => {
      expect(summary(await chain().reconcile())).to.deep.equal(['created Widget/one']);
    });
    expect(summary(await chain().reconcile())).to.deep.equal(['unchanged Widget/one']);
    // The server would drop the field silently, so that each reconcile would apply it again.
    const [error] = await errorsOf(chain({ size: 1, nonsense: true }));
    expect(error?.code).to.equal('Terminal');
    expect(error?.message).to.include('nonsense');
  });
}

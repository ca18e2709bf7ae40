import { expect } from 'chai';
import { controllerFor, done } from '../../lib/controller/index.js';
import { defineResource, s } from '../../lib/crd/index.js';
import {
  ClusterRole,
  ConfigMap,
  CustomResourceDefinition,
  Deployment,
  Namespace,
  PersistentVolumeClaim,
  Secret,
} from '../../lib/object/kinds.js';
import type { KubernetesObject, TypeReference } from '../../lib/object/index.js';
import { Manager, conversionWebhook } from '../../lib/manager/index.js';
import type { Webhook } from '../../lib/manager/index.js';
import { Operator } from '../../lib/operator/index.js';
import type {
  ControllerStyle,
  ForOptions,
  OperatorBuilderOptions,
} from '../../lib/operator/index.js';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import { ensureCrd } from '../../lib/client/index.js';
import { errorMessage } from '../../lib/system/as-error.js';
import { silentLogger } from '../../lib/system/logger.js';
import { eventually } from '../../lib/testing/index.js';
import { deferred } from '../controller/deferred.js';
import { rememberingLogger } from '../manager/manager-setup.js';
import type { LogLine } from '../manager/manager-setup.js';
import { Tenant, podSpec } from './suite/stage.js';

describe('Operator', () => {
  let cluster: EmbeddedCluster;

  before(async () => {
    cluster = await EmbeddedCluster.start();
  });

  after(() => cluster.stop());

  const managed = (operator: Operator): Manager => {
    const manager = new Manager({ client: cluster.client() });
    operator.setup(manager);
    return manager;
  };

  describe('the description of an Operator', () => {
    it('yields the resources, the watched kinds and the rules of the role', () => {
      const operator = new Operator('tenants');
      operator
        .for(Tenant)
        .owns(ConfigMap, Deployment)
        .builds(({ builder }) => builder.configMap({ name: 'env' }))
        .finalizes(() => undefined);
      expect(operator.resources).to.deep.equal([Tenant]);
      const manager = managed(operator);
      const kinds = manager.controllers[0]?.kinds.map(({ type, role }) => `${role} ${type.kind}`);
      expect(kinds).to.deep.equal(['reconciled Tenant', 'owned ConfigMap', 'owned Deployment']);
      const rules = manager.requiredAccess().map(({ type, subresource = '', verbs }) => {
        const kind = `${type?.kind}${subresource === '' ? '' : `/${subresource}`}`;
        return `${kind}: ${[...verbs].sort().join(' ')}`;
      });
      expect(rules).to.have.members([
        'Tenant: get list patch watch',
        'Tenant/status: patch',
        'Tenant/finalizers: update',
        'ConfigMap: create delete get list patch watch',
        'Deployment: create delete get list patch watch',
        'Pod: list',
        'Event: create patch',
      ]);
    });

    it('requests the access that its handlers need besides', () => {
      const operator = new Operator('tenants');
      const one = { type: Secret, verbs: ['get'] } as const;
      const two = { type: ConfigMap, verbs: ['list', 'deletecollection'] } as const;
      operator
        .for(Tenant)
        .requires(one, two)
        .requires({ nonResourceURLs: ['/metrics'], verbs: ['get'] })
        .reconciles(() => done());
      const rules = managed(operator)
        .requiredAccess()
        .map(({ type, nonResourceURLs = [], verbs }) =>
          [type?.kind ?? nonResourceURLs.join(), ...verbs].join(' '),
        );
      expect(rules).to.include.members([
        ...['Secret get', 'ConfigMap list deletecollection', '/metrics get'],
      ]);
    });

    it('requests permission to remove the finalizer of an earlier release', () => {
      const operator = new Operator('tenants');
      operator.for(Tenant).reconciles(() => done());
      const access = managed(operator).requiredAccess();
      const verbs = access.find(({ type, subresource }) => type === Tenant && !subresource)?.verbs;
      expect(verbs).to.include('patch');
    });

    it('requests permission to install only its own custom resources with installCrds', () => {
      const operator = new Operator('tenants', { installCrds: true });
      operator.for(Tenant).reconciles(() => done());
      const ofCrds = managed(operator)
        .requiredAccess()
        .filter(({ type }) => type === CustomResourceDefinition);
      expect(ofCrds.map(({ verbs, names }) => ({ verbs, names }))).to.deep.equal([
        { verbs: ['create'], names: undefined },
        { verbs: ['get', 'list', 'watch', 'patch'], names: ['tenants.front.example'] },
      ]);
    });

    it('rejects installCrds with a conversion webhook, whose address is only in the manifests', () => {
      const webhooks = [{ type: 'conversion', name: 'tenants.front.example' } as never];
      expect(() => new Operator('tenants', { installCrds: true, webhooks })).to.throw(
        'Operator: installCrds is not possible with a conversion webhook; install the CRDs that `operator-builder manifests` writes',
      );
    });

    const specWith = (field: string) => s.object({ spec: s.object({ [field]: s.string() }) });
    const Shop = defineResource({
      ...{ group: 'front.example', kind: 'Shop' },
      versions: [
        { name: 'v1', storage: true, schema: specWith('title') },
        { name: 'v1beta1', schema: specWith('name') },
      ],
      conversion: {
        hub: 'v1',
        spokes: { v1beta1: { toHub: (old) => old, fromHub: (hub) => hub } },
      },
    });

    it('warns about a resource that is converted by functions, but by no webhook', () => {
      const warned = (webhooks: readonly Webhook[]): readonly string[] => {
        const lines: LogLine[] = [];
        const operator = new Operator('shops', { resources: [Shop, Tenant], webhooks });
        const logger = rememberingLogger(lines);
        operator.setup(new Manager({ client: cluster.client(), logger }));
        return lines.filter(({ level }) => level === 'warn').map(({ message }) => message);
      };
      expect(warned([])).to.deep.equal([
        'Shop: no webhook of this operator converts between its versions',
      ]);
      expect(warned([conversionWebhook(Shop)])).to.deep.equal([]);
    });

    it('rejects installCrds of a resource that is converted by functions, because a definition cannot call them', () => {
      const refusal =
        'Operator: installCrds is not possible for Shop, whose versions are converted by functions; serve its conversionWebhook, and install the CRDs that `operator-builder manifests` writes';
      expect(() => new Operator('shops', { resources: [Shop], installCrds: true })).to.throw(
        refusal,
      );
      expect(() => new Operator('shops', { installCrds: true }).for(Shop)).to.throw(refusal);
      expect(new Operator('shops', { resources: [Shop] }).resources).to.deep.equal([Shop]);
    });

    it('accepts handlers that return nothing, whether their type is void or Promise of void', () => {
      // Before version 6.0, TypeScript infers these types where a function returns nothing.
      const now = (): void => undefined;
      const later = async (): Promise<void> => Promise.resolve();
      const operator = new Operator('tenants');
      operator.for(Tenant).reconciles(now).finalizes(later);
      operator.for(ConfigMap).reconciles(later).finalizes(now);
      // @ts-expect-error a number is not a result
      expect(() => operator.for(Deployment).reconciles(() => 5)).not.to.throw();
    });

    it('rejects a link of an unowned kind at compile time', () => {
      const operator = new Operator('tenants');
      operator
        .for(Tenant)
        .owns(ConfigMap, Deployment)
        .builds(({ builder }) => {
          const chain = builder.configMap({ name: 'env' }).deployment({ name: 'web', podSpec });
          // @ts-expect-error Secret is not owned
          chain.secret({ name: 'keys' });
          // @ts-expect-error no ConfigMap of this name is chained
          chain.deployment({ name: 'b', podSpec: ({ envFromConfigMap: from }) => from('envs') });
          return chain;
        });
      operator
        .for(Tenant, { name: 'other' })
        // @ts-expect-error nothing is owned
        .builds(({ builder }) => builder.configMap({ name: 'env' }));
      operator
        .for(Tenant, { name: 'third' })
        .owns({ apiVersion: 'v1', kind: 'Secret' }, Tenant)
        .builds(({ builder, object, status }) => {
          status.set({ endpoint: 'https://acme.example' });
          // @ts-expect-error the schema of the status has no such field
          status.set({ endpiont: 'https://acme.example' });
          return builder.secret({ name: 'keys', stringData: object.spec.env });
        });
    });

    it('takes read-only lists and objects as fields of the status', () => {
      const status = s.status({ zones: s.array(s.string()), sizes: s.map(s.integer()) });
      const version = { name: 'v1', schema: s.object({ spec: s.object({}) }), status };
      const Place = defineResource({ group: 'a.example', kind: 'Place', versions: [version] });
      new Operator('places').for(Place).reconciles((context) => {
        const zones: readonly string[] = ['a'];
        const sizes: Readonly<Record<string, number>> = { a: 1 };
        context.status.set({ zones, sizes });
        // @ts-expect-error the zones are strings
        context.status.set({ zones: [1] });
      });
    });
  });

  it('refuses two controllers with the same name, with a remedy that works', () => {
    const kinds = ['a.example', 'b.example'].map((group) =>
      defineResource({
        ...{ group, kind: 'Cluster' },
        versions: [{ name: 'v1', schema: s.object({ spec: s.object({}) }) }],
      }),
    );
    const operatorWith = (...options: readonly ForOptions[]): Operator => {
      const operator = new Operator('clusters');
      kinds.forEach((kind, n) => operator.for(kind, options[n]).reconciles(() => done()));
      return operator;
    };
    expect(() => managed(operatorWith()))
      .to.throw('two controllers are called cluster; ')
      .with.property('message')
      .that.includes('operator.for(type, { name })');
    const named = managed(operatorWith({ name: 'cluster-a' }));
    expect(named.controllers.map(({ name }) => name)).to.deep.equal(['cluster-a', 'cluster']);
  });

  it('adds its own options to the program, and passes its manager to added functions', async () => {
    const operator = new Operator('tenants');
    operator.for(Tenant).reconciles(() => done());
    const given = new Promise<Manager>((resolve) => operator.add(resolve));
    const stop = new AbortController();
    const [client, signal] = [cluster.client(), stop.signal];
    const health = { host: '127.0.0.1', port: 0 };
    const { exitCode } = process;
    const running = operator.main([], { client, signal, health, logger: silentLogger });
    const manager = await given;
    await manager.whenStarted();
    const names = manager.status().runnables.map(({ name }) => name);
    stop.abort();
    await running;
    expect(names).to.include('health-server');
    expect(process.exitCode).to.equal(exitCode);
  });

  it('warns about a definition in the cluster that lacks the conversion of its resource', async () => {
    const one = (field: string) => s.object({ spec: s.object({ [field]: s.string() }) });
    const Kiosk = defineResource({
      ...{ group: 'front.example', kind: 'Kiosk' },
      versions: [
        { name: 'v1', storage: true, schema: one('title') },
        { name: 'v1beta1', schema: one('name') },
      ],
      conversion: {
        hub: 'v1',
        spokes: { v1beta1: { toHub: (old) => old, fromHub: (hub) => hub } },
      },
    });
    const client = cluster.client();
    await ensureCrd(client, Kiosk.crd);
    const lines: LogLine[] = [];
    const operator = new Operator('kiosks', { resources: [Kiosk] });
    const stop = new AbortController();
    const options = { client, signal: stop.signal, logger: rememberingLogger(lines) };
    const running = operator.main([], options);
    await eventually(() =>
      expect(lines.map(({ message }) => message)).to.include(
        'kiosks.front.example is served without its conversion: the API server drops the fields that a version lacks; deploy config/default',
      ),
    );
    stop.abort();
    await running;
  });

  it('says why it refuses a write that begins after the handler has returned', async () => {
    const client = cluster.client();
    const [stop, refused] = [new AbortController(), deferred<unknown>()];
    const operator = new Operator('unawaited');
    const metadata = { name: 'later', namespace: 'default' };
    operator.for(Namespace).reconciles(({ client: own, key }) => {
      if (key.name !== 'default') return;
      const make = () => own.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
      setImmediate(() => void make().catch(refused.resolve));
    });
    const running = operator.run({ client, signal: stop.signal, logger: silentLogger });
    const error = await refused.promise;
    stop.abort();
    await running;
    expect(error).to.have.property('code', 'Stopped');
    expect(errorMessage(error)).to.match(
      /^create ConfigMap default\/later: refused, .* await the call/,
    );
  });

  it('warns once about a status that a handler sets after it has returned', async () => {
    const client = cluster.client();
    const lines: LogLine[] = [];
    const [stop, late] = [new AbortController(), deferred<undefined>()];
    const operator = new Operator('late');
    operator.for(Namespace).reconciles(({ key, status }) => {
      if (key.name !== 'default') return;
      setImmediate(() => {
        status.setWaiting('too late');
        status.setCondition({ type: 'Late', status: 'True', reason: 'TooLate' });
        late.resolve(undefined);
      });
    });
    const running = operator.run({ client, signal: stop.signal, logger: rememberingLogger(lines) });
    await late.promise;
    stop.abort();
    await running;
    const warnings = lines.filter(({ message }) => message.startsWith('status.'));
    expect(warnings.map(({ message }) => message)).to.deep.equal([
      'status.setWaiting was called after the handler had returned; await each call',
    ]);
  });

  it('ends as a program with exit code 1 and a message if a reconcile ignores its signal', async () => {
    const metadata = { name: 'held', namespace: 'default' };
    await cluster.client().create({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
    const stop = new AbortController();
    const operator = new Operator('deaf');
    operator.for(ConfigMap).reconciles(() => {
      stop.abort();
      return new Promise<never>(() => undefined);
    });
    const { exitCode } = process;
    const write = process.stderr.write.bind(process.stderr);
    const written: string[] = [];
    process.stderr.write = (text: unknown) => written.push(String(text)) > 0;
    try {
      const [client, signal] = [cluster.client(), stop.signal];
      const options = { client, signal, gracefulShutdownMs: 0, logger: silentLogger };
      await operator.main([], options);
      expect(process.exitCode).to.equal(1);
    } finally {
      process.stderr.write = write;
      process.exitCode = exitCode;
    }
    const message =
      /^reconciles have not ended in time: configmap \(.*default\/held.*\); [^\n]+\n$/;
    expect(written.join('')).to.match(message);
  });

  for (const [args, says] of [
    [['--metrics-auth'], /^--metrics-auth: the namespace is not known; /],
    [['--metrics-cert-dir', '/none/metrics'], /\/none\/metrics/],
  ] as const) {
    it(`serves metrics as a program if only the flag ${args[0]} enables them`, async () => {
      const operator = new Operator('measured');
      operator.for(Tenant).reconciles(() => done());
      const { exitCode } = process;
      const write = process.stderr.write.bind(process.stderr);
      const written: string[] = [];
      process.stderr.write = (text: unknown) => written.push(String(text)) > 0;
      try {
        // Both fail to start, since neither namespace nor folder is there. The signal keeps this process alive.
        const { signal } = new AbortController();
        await operator.main(args, { client: cluster.client(), signal, logger: silentLogger });
        expect(process.exitCode).to.equal(1);
      } finally {
        process.stderr.write = write;
        process.exitCode = exitCode;
      }
      expect(written.join('')).to.match(says);
    });
  }

  describe('with the option status', () => {
    const resource = (status: Parameters<typeof s.object>[0] | undefined) =>
      defineResource({
        ...{ group: 'front.example', kind: 'Box' },
        versions: [
          {
            ...{ name: 'v1', schema: s.object({ spec: s.object({}) }) },
            ...(status !== undefined && { status: s.object(status) }),
          },
        ],
      });

    const writesStatus = (type: ReturnType<typeof resource>, status?: boolean): boolean => {
      const operator = new Operator('boxes');
      operator.for(type, { status }).reconciles(() => done());
      return managed(operator)
        .requiredAccess()
        .some(({ subresource, verbs }) => subresource === 'status' && verbs.length === 1);
    };

    it('writes the status if the schema has conditions', () => {
      expect(writesStatus(resource({ conditions: s.conditions() }))).to.equal(true);
      expect(writesStatus(resource({ phase: s.optional(s.string()) }))).to.equal(false);
      expect(writesStatus(resource(undefined))).to.equal(false);
      expect(writesStatus(resource({ conditions: s.conditions() }), false)).to.equal(false);
    });

    it('rejects status: true if the schema has no conditions', () => {
      expect(() => writesStatus(resource(undefined), true)).to.throw(
        'for(Box): status: the schema of the status has no conditions; give the version the status s.status(), or leave the option status out',
      );
    });
  });

  describe('two controllers of one kind', () => {
    const two = (first: ForOptions, second: ForOptions): Operator => {
      const operator = new Operator('tenants');
      for (const options of [first, second]) {
        operator
          .for(Tenant, options)
          .reconciles(() => done())
          .finalizes(() => done());
      }
      return operator;
    };

    it('are rejected if both would write the status or remove the same finalizer', () => {
      expect(() => managed(two({}, { name: 'second', finalizer: 'front.example/b' }))).to.throw(
        'for(Tenant): two controllers would write the status of the same objects; give all but one of them the option status: false',
      );
      expect(() => managed(two({}, { name: 'second', status: false }))).to.throw(
        'for(Tenant): two controllers clean up for the finalizer front.example/tenants; give one of them another finalizer, with the option finalizer',
      );
    });

    describe('that build', () => {
      /** Builds with two controllers that own `kinds`. */
      const building = (
        kinds: readonly TypeReference<KubernetesObject>[],
        first: OperatorBuilderOptions,
        second: OperatorBuilderOptions,
      ): Operator => {
        const operator = new Operator('tenants');
        const tenants = operator
          .for(Tenant)
          .owns(Deployment, ...kinds)
          .withBuilder(first);
        tenants.builds(({ builder }) => builder);
        const others = operator.for(Tenant, { name: 'second', status: false }).owns(...kinds);
        others.withBuilder(second).builds(({ builder }) => builder);
        return operator;
      };

      const [inA, inB] = [{ namespace: 'a' }, { namespace: 'b' }];
      const rejected = [
        ['in one scope', [ConfigMap], { scope: 'a' }, { scope: 'a' }],
        ['in one namespace', [Secret], inA, inA],
        ['in the namespace of one and anywhere', [Secret], {}, inB],
        ['in the cluster', [Secret, ClusterRole], inA, inB],
        ['that one prunes', [PersistentVolumeClaim], {}, { pruneClaims: true }],
      ] as const;
      for (const [title, kinds, first, second] of rejected) {
        it(`are rejected if they own the same kind ${title}`, () => {
          const { kind } = kinds.at(-1) ?? kinds[0];
          expect(() => managed(building(kinds, first, second))).to.throw(
            `for(Tenant): two controllers would prune the ${kind} objects of each other; give one of them another scope by withBuilder({ scope })`,
          );
        });
      }

      const accepted = [
        ['own different kinds', [], {}, {}],
        ['have different scopes', [ConfigMap], {}, { scope: 'b' }],
        ['have different namespaces', [ConfigMap], inA, inB],
        ['own kinds that are not pruned', [PersistentVolumeClaim, Namespace], {}, {}],
      ] as const;
      for (const [title, kinds, first, second] of accepted) {
        it(`are accepted if they ${title}`, () => {
          expect(managed(building(kinds, first, second)).controllers).to.have.length(2);
        });
      }
    });

    it('are accepted if they write different parts', () => {
      const second = { name: 'second', status: false, finalizer: 'front.example/b' };
      expect(managed(two({}, second)).controllers).to.have.length(2);
    });
  });

  it('rejects options that the style ignores', () => {
    const operator = new Operator('tenants');
    const style = { addTo: () => undefined };
    const tenants = () => operator.for(Tenant);
    expect(() => operator.for(Tenant, { status: false }).uses(style)).to.throw(
      'for(Tenant): the option status is for builds and reconciles; give the style its options',
    );
    expect(() => operator.for(Tenant, { predicate: () => true }).uses(style)).to.throw(
      'for(Tenant): the option predicate is for builds and reconciles; give the style its options',
    );
    const ofBuilder = 'for(Tenant): withBuilder is for builds and reconciles; give the style';
    expect(() => tenants().withBuilder({}).uses(style)).to.throw(ofBuilder);
    expect(() => tenants().uses(style).withBuilder({})).to.throw(ofBuilder);
    const ofEnd = 'for(Tenant): finalizes is for builds and reconciles; the style cleans up';
    expect(() =>
      tenants()
        .uses(style)
        .finalizes(() => undefined),
    ).to.throw(ofEnd);
  });

  it('rejects options that another link or the operator sets', () => {
    const tenants = () => new Operator('tenants').for(Tenant);
    const of = (options: object) => new Operator('tenants').for(Tenant, options);
    const end = () => undefined;
    for (const [describe, problem] of [
      [() => tenants().withBuilder({}).withBuilder({}), 'withBuilder: called twice'],
      [() => tenants().finalizes(end).finalizes(end), 'finalizes: called twice'],
      [
        () => tenants().finalizes({} as never),
        'for(Tenant): finalizes: want a function, got object',
      ],
      [() => tenants().withBuilder({ owner: {} } as never), 'withBuilder: the operator sets owner'],
      [() => tenants().withBuilder({ scpe: 'a' } as never), 'did you mean "scope"?'],
      [
        () => tenants().withBuilder(null as never),
        'for(Tenant): withBuilder: want options or a function that returns them, got null',
      ],
      [() => tenants().withBuilder('a' as never), 'got a value of type string'],
      [() => of({ status: 'false' }), 'for(Tenant): status: want true or false, got "false"'],
      [() => of({ finalizer: '' }), 'for(Tenant): finalizer: '],
      [() => of({ finalizer: 'my finalizer' }), 'for(Tenant): finalizer: '],
      [() => of({ finalizer: null }), 'finalizer: want the name of a finalizer'],
      [() => of({ predicate: {} }), 'for(Tenant): predicate: want a function'],
      [() => of({ name: 1 }), 'for(Tenant): name: want a text'],
      [() => tenants().from(null as never), 'from: want a source with a method start'],
      [() => tenants().uses(null as never), 'uses: want an object with a method addTo, got null'],
      [() => tenants().uses({} as never), 'uses: want an object with a method addTo, got object'],
      [
        () => new Operator('a', { installCrds: 'false' as never }),
        'Operator: installCrds: want true or false, got "false"',
      ],
      [
        () => tenants().withOptions({ name: 'a' } as never),
        "for(Tenant): withOptions: name can't be set here; give it to for(Tenant, { name })",
      ],
      [
        () => tenants().withOptions({ reportingController: 'a' } as never),
        "for(Tenant): withOptions: reportingController can't be set here; it is the name of the operator",
      ],
      ...(
        [
          ...['client', 'owner', 'controllerName', 'owns', 'onlyOwned', 'recorder', 'emitter'],
          ...['logger', 'signal', 'clock'],
        ] as const
      ).map(
        (name) =>
          [
            () => tenants().withBuilder({ [name]: undefined }),
            `for(Tenant): withBuilder: the operator sets ${name}; leave it out`,
          ] as const,
      ),
      [() => tenants().withOptions({ workers: 2 } as never), 'unknown option "workers"'],
      [() => tenants().withOptions('fast' as never), 'withOptions: options: want an object, got'],
      [() => of('x' as never), 'for(Tenant): options: want an object, got string'],
      [() => new Operator('a').for('Shop' as never), 'Operator.for: want a type, got "Shop"'],
      [() => new Operator('a').add(undefined as never), 'add: want a controller or a runnable'],
      [
        () => new Operator('a').add(controllerFor(Tenant) as never),
        'add: want a controller or a runnable: end its description with complete(reconciler)',
      ],
      [() => tenants().runsOn('cluster' as never), 'want leader, replica or shards, got cluster'],
    ] as const) {
      expect(describe).to.throw(problem).with.property('code', 'InvalidOption');
    }
  });

  it('rejects two chains in one call of a handler, which would prune the objects of each other', async () => {
    const lines: LogLine[] = [];
    const client = cluster.client();
    const operator = new Operator('two');
    const metadata = { name: 'two', namespace: 'default' };
    operator
      .for(Secret, { name: 'two' })
      .owns(ConfigMap)
      .reconciles(async ({ object, builder }) => {
        if (object.metadata.name !== metadata.name) return;
        const failing = builder.configMap({ name: 'two-c', namespace: 'nowhere' }).reconcile();
        expect(await failing.catch(errorMessage)).to.include('nowhere');
        const chain = builder.configMap({ name: 'two-a' });
        await chain.reconcileConfigMap();
        await chain.reconcile();
        await builder.configMap({ name: 'two-a' }).reconcileStore();
        await builder.configMap({ name: 'two-b' }).reconcile();
      });
    await client.create({ apiVersion: 'v1', kind: 'Secret', metadata });
    const stop = new AbortController();
    const logger = rememberingLogger(lines);
    const running = operator.run({ client, signal: stop.signal, logger });
    const problem =
      'ConfigMap two-b: it is not in the chain that was reconciled before; chains prune the objects of each other; put all of them into one chain';
    await eventually(() => {
      expect(lines.map(({ fields }) => errorMessage(fields['error']))).to.include(problem);
    });
    stop.abort();
    await running;
    const { items } = await client.list(ConfigMap, { namespace: 'default' });
    const made = items.map(({ metadata: { name = '' } }) => name);
    expect(made.filter((name) => name.startsWith('two-'))).to.deep.equal(['two-a']);
  });

  it('rejects an async function of withBuilder, whose options would be ignored', async () => {
    const lines: LogLine[] = [];
    const client = cluster.client();
    const operator = new Operator('maps');
    operator
      .for(ConfigMap, { name: 'async' })
      .withBuilder((async () => ({ scope: 'a' })) as never)
      .reconciles(async ({ builder }) => {
        await builder.reconcile();
      });
    await client.create({
      ...{ apiVersion: 'v1', kind: 'ConfigMap' },
      metadata: { name: 'async', namespace: 'default' },
    });
    const stop = new AbortController();
    const logger = rememberingLogger(lines);
    const running = operator.run({ client, signal: stop.signal, logger });
    const problem =
      'for(ConfigMap): withBuilder: want options or a function that returns them, got a promise';
    await eventually(() => {
      expect(lines.map(({ fields }) => errorMessage(fields['error']))).to.include(problem);
    });
    stop.abort();
    await running;
  });

  it('keeps an option of an earlier withOptions if a later one sets it to undefined', () => {
    let options: unknown;
    const style: ControllerStyle<Tenant> = {
      addTo: (_manager, controller) => void ({ options } = controller),
    };
    const operator = new Operator('tenants');
    operator
      .for(Tenant)
      .withOptions({ maxConcurrentReconciles: 4 })
      .withOptions({ maxConcurrentReconciles: undefined, reconcileTimeoutMs: 1_000 })
      .uses(style);
    managed(operator);
    expect(options).to.deep.equal({
      ...{ maxConcurrentReconciles: 4, reconcileTimeoutMs: 1_000, reportingController: 'tenants' },
    });
  });

  it('keeps its cacheOptions if the cacheOptions of run are undefined', async () => {
    const seen: (string | undefined)[] = [];
    const operator = new Operator('maps', { cacheOptions: { namespaces: ['default'] } });
    operator.for(ConfigMap).reconciles(({ key }) => void seen.push(key.namespace));
    const client = cluster.client();
    for (const namespace of ['default', 'kube-system']) {
      const metadata = { name: 'cached', namespace };
      await client.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
    }
    const given = new Promise<Manager>((resolve) => operator.add(resolve));
    const stop = new AbortController();
    const options = { cacheOptions: undefined, logger: silentLogger };
    const running = operator.run({ client, signal: stop.signal, ...options });
    const manager = await given;
    await manager.whenStarted();
    await eventually(() => expect(seen).to.include('default'));
    stop.abort();
    await running;
    expect(new Set(seen)).to.deep.equal(new Set(['default']));
  });

  it('prefers its options to flags, and then needs no namespace for them', async () => {
    const operator = new Operator('tenants');
    operator.for(Tenant).reconciles(() => done());
    const given = new Promise<Manager>((resolve) => operator.add(resolve));
    const stop = new AbortController();
    const { exitCode } = process;
    // Both need a namespace, which is not known here.
    const running = operator.main(['--leader-elect', '--metrics-auth', '--metrics-port=0'], {
      ...{ client: cluster.client(), signal: stop.signal, logger: silentLogger },
      ...{ leaderElection: false, metrics: { serve: false } },
    });
    const manager = await Promise.race([given, running]);
    stop.abort();
    await running;
    const code = process.exitCode;
    process.exitCode = exitCode;
    expect([manager instanceof Manager, code]).to.deep.equal([true, exitCode]);
  });

  it('rejects an invalid description as soon as it is given', () => {
    const operator = new Operator('tenants');
    const refused = (work: () => unknown): string => {
      try {
        work();
      } catch (error) {
        return (error as Error).message;
      }
      return 'accepted';
    };
    expect(refused(() => new Operator('Not a name'))).to.contain(
      'Operator: name: "Not a name" must be lower case letters',
    );
    expect(refused(() => new Operator('a', { resources: Tenant as never }))).to.contain(
      'Operator: resources: want a list, got object',
    );
    expect(refused(() => operator.for(undefined as never))).to.contain('the type is undefined');
    expect(refused(() => operator.for(Tenant, { nmae: 'a' } as never))).to.contain(
      'unknown option "nmae"',
    );
    expect(refused(() => operator.for(Tenant).owns(undefined as never))).to.contain(
      'owns: the type is undefined',
    );
    expect(refused(() => operator.for(Tenant).builds({} as never))).to.contain(
      'builds: want a function, got object',
    );
    const twice = operator.for(Tenant).reconciles(() => done());
    expect(refused(() => twice.reconciles(() => done()))).to.contain('reconciles is already set');
    const unfinished = new Operator('unfinished');
    unfinished.for(Secret).owns(ConfigMap);
    expect(refused(() => managed(unfinished))).to.contain(
      'for(Secret): nothing reconciles it; add builds(…), reconciles(…) or uses(…)',
    );
  });
});

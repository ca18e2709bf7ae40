import { expect } from 'chai';
import { controllerFor, done } from '../../lib/controller/index.js';
import {
  ClusterRole,
  ConfigMap,
  Deployment,
  Namespace,
  PersistentVolumeClaim,
  Secret,
} from '../../lib/object/kinds.js';
import type { KubernetesObject, TypeReference } from '../../lib/object/index.js';
import { Manager } from '../../lib/manager/index.js';
import { Operator } from '../../lib/operator/index.js';
import type {
  ControllerStyle,
  ForOptions,
  OperatorBuilderOptions,
} from '../../lib/operator/index.js';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import { errorMessage } from '../../lib/system/as-error.js';
import { silentLogger } from '../../lib/system/logger.js';
import { eventually } from '../../lib/testing/index.js';
import { rememberingLogger } from '../manager/manager-setup.js';
import type { LogLine } from '../manager/manager-setup.js';
import { Tenant } from './suite/stage.js';

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

    describe('with the handler builds', () => {
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
        it(`are rejected if they own objects of the same kind ${title}`, () => {
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

    it('are accepted if only one of them writes the status and their finalizers differ', () => {
      const second = { name: 'second', status: false, finalizer: 'front.example/b' };
      expect(managed(two({}, second)).controllers).to.have.length(2);
    });
  });

  it('rejects options and methods of a controller that uses(style) ignores', () => {
    const operator = new Operator('tenants');
    const style = { addTo: () => undefined };
    const tenants = () => operator.for(Tenant);
    expect(() => operator.for(Tenant, { status: false }).uses(style)).to.throw(
      'for(Tenant): the option status is for builds and reconciles; set it in the style given to uses(…)',
    );
    expect(() => operator.for(Tenant, { predicate: () => true }).uses(style)).to.throw(
      'for(Tenant): the option predicate is for builds and reconciles; set it in the style given to uses(…)',
    );
    const ofBuilder = 'for(Tenant): withBuilder is for builds and reconciles; set its options';
    expect(() => tenants().withBuilder({}).uses(style)).to.throw(ofBuilder);
    expect(() => tenants().uses(style).withBuilder({})).to.throw(ofBuilder);
    const ofEnd = 'for(Tenant): finalizes is for builds and reconciles; leave it out';
    expect(() =>
      tenants()
        .uses(style)
        .finalizes(() => undefined),
    ).to.throw(ofEnd);
  });

  it('rejects invalid options of a controller, and options that another call or the operator itself sets', () => {
    const tenants = () => new Operator('tenants').for(Tenant);
    const of = (options: object) => new Operator('tenants').for(Tenant, options);
    const end = () => undefined;
    for (const [describe, problem] of [
      [
        () => tenants().withBuilder({}).withBuilder({}),
        'withBuilder: called twice; pass all options in one call',
      ],
      [
        () => tenants().finalizes(end).finalizes(end),
        'finalizes: called twice; keep one of the handlers',
      ],
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

  it('rejects a second chain in one call of a handler, because each chain would prune the objects of the other', async () => {
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

  it('rejects an async function given to withBuilder, whose options would be ignored', async () => {
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

  it('keeps an option of an earlier call of withOptions if a later call sets it to undefined', () => {
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

  it('uses the options of main instead of the flags, and needs no namespace for flags that it does not use', async () => {
    const operator = new Operator('tenants');
    operator.for(Tenant).reconciles(() => done());
    const given = new Promise<Manager>((resolve) => operator.add(resolve));
    const stop = new AbortController();
    const { exitCode } = process;
    // Leader election and authenticated metrics would need a namespace, which is not known here.
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

  it('throws at the call for an invalid description of a controller', () => {
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

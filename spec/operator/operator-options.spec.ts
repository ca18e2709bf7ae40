import { expect } from 'chai';
import { done } from '../../lib/controller/index.js';
import { defineResource, s } from '../../lib/crd/index.js';
import {
  ConfigMap,
  CustomResourceDefinition,
  Deployment,
  Namespace,
  Secret,
} from '../../lib/object/kinds.js';
import { Manager, conversionWebhook } from '../../lib/manager/index.js';
import type { Webhook } from '../../lib/manager/index.js';
import { Operator } from '../../lib/operator/index.js';
import type { ForOptions } from '../../lib/operator/index.js';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import { ensureCrd } from '../../lib/client/index.js';
import type { Client } from '../../lib/client/index.js';
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
    it('provides the resources, the watched kinds and the rules of the role', () => {
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

    it('requests the additional access that its handlers declare', () => {
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

    it('requests permission to install only its own custom resources if installCrds is set', () => {
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

    it('rejects installCrds if there is a conversion webhook, whose address is only in the manifests', () => {
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

    it('warns about a resource that is converted by functions if no conversion webhook calls them', () => {
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

    it('rejects installCrds of a resource that is converted by functions, because a CRD cannot call them', () => {
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

    it('rejects a builder method for a kind that is not owned at compile time', () => {
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

    it('accepts read-only lists and objects as fields of the status', () => {
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

  it('refuses two controllers with the same name, and tells how to name them', () => {
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

  it('starts the servers of its options in main, and passes its manager to functions given to add', async () => {
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

  it("warns about a CRD in the cluster that does not call the operator's conversion webhook", async () => {
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

  it("warns about writes that a handler did not await, and gives this reason when it refuses the handler's later writes", async () => {
    const client = cluster.client();
    const metadata = { name: 'unawaited', namespace: 'default' };
    const lines: LogLine[] = [];
    const [stop, refused] = [new AbortController(), deferred<unknown>()];
    const operator = new Operator('unawaited');
    const make = (own: Client, name: string) =>
      own.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...metadata, name } });
    operator.for(Namespace).reconciles(({ client: own, key }) => {
      if (key.name !== 'default') return;
      void make(own, 'now');
      setImmediate(() => void make(own, 'later').catch(refused.resolve));
    });
    const running = operator.run({ client, signal: stop.signal, logger: rememberingLogger(lines) });
    const error = await refused.promise;
    stop.abort();
    await running;
    expect(error).to.have.property('code', 'Stopped');
    expect(errorMessage(error)).to.match(
      /^create ConfigMap default\/later: refused, .* await the call/,
    );
    const warnings = lines.filter(({ level }) => level === 'warn').map(({ message }) => message);
    expect(warnings).to.include(
      'the handler returned before a write had ended: create ConfigMap default/now; await each call',
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

  it('main ends with exit code 1 and a message if a reconcile ignores its signal', async () => {
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
    it(`main serves metrics even if only the flag ${args[0]} requests them`, async () => {
      const operator = new Operator('measured');
      operator.for(Tenant).reconciles(() => done());
      const { exitCode } = process;
      const write = process.stderr.write.bind(process.stderr);
      const written: string[] = [];
      process.stderr.write = (text: unknown) => written.push(String(text)) > 0;
      try {
        // With either flag the start fails, as namespace and folder are missing. The signal keeps this process alive.
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
});

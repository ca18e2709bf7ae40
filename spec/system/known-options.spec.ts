import { expect } from 'chai';
import {
  Builder,
  Cache,
  ConfigMap,
  Manager,
  OperatorEvents,
  addFinalizer,
  cachedClient,
  callbackSource,
  clientFromKubeConfig,
  controllerFor,
  createClient,
  createOrUpdate,
  denied,
  ensureCrd,
  generatedCertificates,
  ownerReferenceTo,
  pinoLogger,
  retryOnConflict,
  streamSource,
  timerSource,
  validatingWebhook,
  waitFor,
  webhookConfigurations,
} from '../../lib/index.js';
import { Backoff, WorkQueue, enqueueOwner, kindSource } from '../../lib/controller/index.js';
import { UndiciTransport, openTelemetryTracer } from '../../lib/system/index.js';
import { applyJsonPatch, diffObjects } from '../../lib/object/index.js';
import { clientInCluster, faulty } from '../../lib/client/index.js';
import { operatorWebhooks } from '../../lib/manager/index.js';
import { recordingClient } from '../../lib/events/index.js';
import {
  DeclarativeController,
  DeclarativeManager,
  ErrorStream,
  Group,
  ViewApiServer,
  Views,
  createToken,
  generateKeys,
  operatorCrdController,
} from '../../lib/declarative/index.js';
import { DeclarativeOperator } from '../../lib/declarative/operator/operator.js';
import { viewKubeConfig } from '../../lib/declarative/api-server/generate-keys.js';
import type { CacheOptions } from '../../lib/cache/index.js';
import { defineResource, s } from '../../lib/crd/index.js';
import { ResourceBuilder, createCrd } from '../../lib/lifecycle/index.js';
import {
  CrudResource,
  configMapResource,
  newResourceContext,
  withLogging,
  withMetrics,
  withRetry,
} from '../../lib/resource/index.js';
import { EmbeddedApiServer, EmbeddedCluster } from '../../lib/apiserver/index.js';
import { usedRoles } from '../../lib/apiserver/internal.js';
import { refuseUnknownOptions } from '../../lib/system/known-options.js';
import { isOperatorError } from '../../lib/system/operator-error.js';
import {
  VirtualClock,
  advanceUntilIdle,
  eventually,
  faultOn,
  faults,
  testCluster,
} from '../../lib/testing/index.js';

interface Options {
  readonly maxRetries?: number;
  readonly name?: string;
}

const names = { maxRetries: true, name: true };

describe('options with an unknown name', () => {
  it('are rejected in an error that suggests the nearest known name', () => {
    const check = (options: object) => () => refuseUnknownOptions<Options>('Thing', options, names);
    expect(check({ maxRetires: 3 })).to.throw(
      'Thing: unknown option "maxRetires"; did you mean "maxRetries"?',
    );
    expect(check({ colour: 'red' })).to.throw(
      'Thing: unknown option "colour"; known options: maxRetries, name',
    );
    expect(check({ toString: 1 })).to.throw('unknown option "toString"');
    expect(check({ maxRetries: 3, colour: undefined })).to.not.throw();
  });

  const cluster = testCluster();
  let made: DeclarativeManager | undefined;
  const manager = async (): Promise<DeclarativeManager> =>
    (made ??= await DeclarativeManager.create({ client: cluster().client() }));
  afterEach(async () => {
    await made?.stop();
    made = undefined;
  });
  const unknown = { optionThatNobodyHas: 1 } as object;
  const pair = { ...unknown, name: 'a.b.c', certificates: undefined };
  const named = { name: 'a', mapper: () => [] };
  const v1 = { name: 'v1', schema: s.object({}) };
  const definition = { group: 'a.example', kind: 'Thing', versions: [v1] } as const;
  const scale = { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n' };
  const { operations } = configMapResource({ name: 'a', getDesiredState: () => [] });
  const anObject: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
  const oneCluster = () => ({ name: 'a', client: cluster().client() });
  const newCache = (options: Partial<CacheOptions>): Cache =>
    new Cache({ client: cluster().client(), ...options });
  const entrances: readonly (readonly [string, () => unknown])[] = [
    ['controllerFor', () => controllerFor(ConfigMap, unknown)],
    ['owns', () => controllerFor(ConfigMap).owns(ConfigMap, unknown)],
    ['withOptions', () => controllerFor(ConfigMap).withOptions(unknown)],
    ['Backoff', () => new Backoff(unknown)],
    ['timerSource', () => timerSource({ ...unknown, everyMs: 1, requests: () => [] })],
    ['Manager', () => new Manager({ ...unknown, client: cluster().client() })],
    ['Manager health', () => new Manager({ health: unknown, client: cluster().client() })],
    ['Manager metrics', () => new Manager({ metrics: unknown, client: cluster().client() })],
    ['Manager inspector', () => new Manager({ inspector: unknown, client: cluster().client() })],
    [
      'leader election',
      () => {
        const leaderElection = { ...unknown, name: 'a', namespace: 'b' };
        return new Manager({ leaderElection, client: cluster().client() });
      },
    ],
    ['webhooks', () => validatingWebhook(ConfigMap, () => ({ allowed: true }) as never, unknown)],
    ['Cache', () => new Cache({ ...unknown, client: cluster().client() })],
    ['createClient', () => createClient({ ...unknown, transport: cluster().server.transport() })],
    ['EmbeddedCluster', () => EmbeddedCluster.start(unknown)],
    ['eventually', () => eventually(() => true, unknown)],
    [
      'DeclarativeManager',
      () => DeclarativeManager.create({ ...unknown, client: cluster().client() }),
    ],
    ['Views', () => Views.start(unknown)],
    ['Group', async () => new Group({ ...unknown, manager: await manager() })],
    [
      'DeclarativeOperator',
      async () => DeclarativeOperator.create('a', await manager(), { controllers: [] }, unknown),
    ],
    [
      'operator.remove',
      async () => new Group({ manager: await manager() }).deleteOperator('a', unknown),
    ],
    [
      'DeclarativeController',
      async () => {
        const spec = {
          name: 'a',
          sources: [],
          pipeline: [],
          target: { kind: 'A', type: 'Updater' },
        } as const;
        const options = { operator: 'a', manager: await manager(), spec, onError: () => undefined };
        return new DeclarativeController({ ...unknown, ...options });
      },
    ],
    [
      'operatorCrdController',
      async () =>
        operatorCrdController({ ...unknown, group: new Group({ manager: await manager() }) }),
    ],
    ['ErrorStream', () => new ErrorStream(unknown)],
    ['ViewApiServer', () => new ViewApiServer(unknown)],
    [
      'ViewApiServer tls',
      () => new ViewApiServer({ tls: { ...unknown, certificate: '', privateKey: '' } }),
    ],
    ['generateKeys', () => generateKeys({ ...unknown, directory: 'nowhere' })],
    ['createToken', () => createToken({ username: 'a', namespaces: [], rules: [] }, '', unknown)],
    ['viewKubeConfig', () => viewKubeConfig({ ...unknown, server: 'http://127.0.0.1' })],
    ['WorkQueue', () => new WorkQueue({ ...unknown, name: 'a' })],
    ['WorkQueue.add', () => new WorkQueue({ name: 'a' }).add('key', unknown)],
    ['streamSource', () => streamSource({ ...unknown, ...named, open: () => [] as never })],
    ['callbackSource', () => callbackSource({ ...unknown, ...named })],
    ['kindSource', () => kindSource(ConfigMap, { ...unknown, ...named })],
    ['enqueueOwner', () => enqueueOwner(ConfigMap, unknown)],
    ['defineResource', () => defineResource({ ...definition, ...unknown })],
    ['versions', () => defineResource({ ...definition, versions: [{ ...v1, ...unknown }] })],
    ['scale', () => defineResource({ ...definition, scale: { ...scale, ...unknown } })],
    ['s.string', () => s.string(unknown)],
    ['s.integer', () => s.integer(unknown)],
    ['s.array', () => s.array(s.string(), unknown)],
    ['s.object', () => s.object({}, unknown)],
    ['s.map', () => s.map(s.string(), unknown)],
    ['s.intOrString', () => s.intOrString(unknown)],
    ['s.embeddedResource', () => s.embeddedResource(unknown)],
    ['s.builtIn', () => s.builtIn('Condition', unknown)],
    ['ResourceBuilder', () => new ResourceBuilder(unknown)],
    ['ResourceBuilder.configMap', () => new ResourceBuilder().configMap({ ...unknown, name: 'a' })],
    [
      'ResourceBuilder.aggregateClusterRole',
      () =>
        new ResourceBuilder().aggregateClusterRole({
          ...{ ...unknown, name: 'a', aggregateTo: 'view', rules: [] },
        }),
    ],
    ['a rate limit', () => cluster().client({ rateLimit: { ...unknown, qps: 1, burst: 1 } })],
    ['a cached type', () => newCache({ types: [{ ...unknown, type: ConfigMap }] })],
    ['cache.waitForSync', () => newCache({}).waitForSync(undefined, unknown)],
    ['cachedClient', () => cachedClient(cluster().client(), newCache({}), unknown)],
    ['clientFromKubeConfig', () => clientFromKubeConfig(unknown)],
    ['clientInCluster', () => clientInCluster(unknown)],
    ['UndiciTransport', () => new UndiciTransport({ ...unknown, server: 'http://127.0.0.1' })],
    ['pinoLogger', () => pinoLogger(unknown)],
    ['openTelemetryTracer', () => openTelemetryTracer(unknown)],
    ['waitFor', () => waitFor(cluster().client(), anObject, { ...unknown, until: () => true })],
    ['retryOnConflict', () => retryOnConflict(async () => 1, unknown)],
    ['ensureCrd', () => ensureCrd(cluster().client(), anObject as never, unknown)],
    [
      'addFinalizer',
      () => addFinalizer(cluster().client(), anObject, { ...unknown, finalizer: 'a/b' }),
    ],
    [
      'createOrUpdate',
      () => createOrUpdate(cluster().client(), anObject, { ...unknown, mutate: (it) => it }),
    ],
    ['faulty', () => faulty(cluster().client(), { ...unknown, rules: [] })],
    ['faultOn', () => faultOn({ ...unknown }, faults.conflict())],
    ['recordingClient', () => recordingClient(cluster().client(), unknown)],
    ['OperatorEvents', () => new OperatorEvents(unknown)],
    ['denied', () => denied('no', unknown)],
    ['operatorWebhooks', () => operatorWebhooks({ name: 'a' }, { ...unknown } as never)],
    ['webhookConfigurations', () => webhookConfigurations([], { ...unknown, name: 'a' } as never)],
    ['a cluster', () => new Manager({ clusters: [{ ...unknown, ...oneCluster() }] })],
    ['applyJsonPatch', () => applyJsonPatch({}, [], unknown)],
    ['diffObjects', () => diffObjects({}, {}, unknown)],
    ['ownerReferenceTo', () => ownerReferenceTo(anObject, unknown)],
    ['EmbeddedApiServer', () => new EmbeddedApiServer(unknown)],
    ['EmbeddedApiServer.listen', () => new EmbeddedApiServer().listen(unknown)],
    ['usedRoles', () => usedRoles([], unknown)],
    ['CrudResource', () => new CrudResource({ ...unknown, operations })],
    ['newResourceContext', () => newResourceContext({ ...unknown, client: cluster().client() })],
    ['configMapResource', () => configMapResource({ ...unknown, name: 'a' } as never)],
    ['withRetry', () => withRetry({} as never, unknown)],
    ['withLogging', () => withLogging({} as never, unknown)],
    ['withMetrics', () => withMetrics({} as never, unknown as never)],
    ['createCrd', () => createCrd({ group: 'a.b', kind: 'C' }, unknown)],
    ['advanceUntilIdle', () => advanceUntilIdle(new VirtualClock(), unknown)],
    ['certificates', () => generatedCertificates({ ...pair, dnsNames: ['a'] } as never)],
  ];
  for (const [name, call] of entrances) {
    it(`are rejected by ${name}`, async () => {
      const error: unknown = await Promise.resolve()
        .then(call)
        .then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
      expect(isOperatorError(error, 'InvalidOption')).to.equal(true, String(error));
      expect(String(error)).to.include('unknown option "optionThatNobodyHas"');
    });
  }

  it('are rejected by Builder', async () => {
    const owner = await cluster()
      .client()
      .create<ConfigMap>({
        ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'default' } },
      });
    const options = { client: cluster().client(), owner, controllerName: 'c', adopts: true };
    expect(() => new Builder(options)).to.throw('Builder: unknown option "adopts"; did you mean');
  });

  it('are rejected in an error that names the call to which they belong', () => {
    expect(() => controllerFor(ConfigMap, { maxConcurrentReconciles: 8 } as object)).to.throw(
      'give it to withOptions({ maxConcurrentReconciles: … })',
    );
    expect(() =>
      controllerFor(ConfigMap).withOptions({ predicate: () => true } as object),
    ).to.throw('give it to controllerFor(type, { predicate: … })');
    const options = { maxConcurrentReconciles: 8, client: cluster().client() };
    expect(() => new Manager(options)).to.throw('give it to the controller');
  });
});

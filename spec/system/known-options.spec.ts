import { expect } from 'chai';
import {
  Backoff,
  Builder,
  Cache,
  ConfigMap,
  Manager,
  controllerFor,
  createClient,
  generatedCertificates,
  timerSource,
  validatingWebhook,
} from '../../lib/index.js';
import {
  DeclarativeController,
  DeclarativeManager,
  ErrorStream,
  Group,
  Operator,
  ViewApiServer,
  Views,
  createToken,
  generateKeys,
  operatorCrdController,
  viewKubeConfig,
} from '../../lib/declarative/index.js';
import { EmbeddedCluster } from '../../lib/embedded/index.js';
import { refuseUnknownOptions } from '../../lib/system/known-options.js';
import { isOperatorError } from '../../lib/system/operator-error.js';
import { eventually, testCluster } from '../../lib/testing/index.js';

interface Options {
  readonly maxRetries?: number;
  readonly name?: string;
}

const names = { maxRetries: true, name: true };

describe('Unknown options', () => {
  it('are refused by name, with the nearest known name', () => {
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
    ['Operator', async () => Operator.create('a', await manager(), { controllers: [] }, unknown)],
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
    ['certificates', () => generatedCertificates({ ...pair, dnsNames: ['a'] } as never)],
  ];
  for (const [name, call] of entrances) {
    it(`are refused by ${name}`, async () => {
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

  it('are refused by Builder', async () => {
    const owner = await cluster()
      .client()
      .create<ConfigMap>({
        ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'default' } },
      });
    const options = { client: cluster().client(), owner, controllerName: 'c', adopts: true };
    expect(() => new Builder(options)).to.throw('Builder: unknown option "adopts"; did you mean');
  });

  it('that belong to another call are refused with the place where they belong', () => {
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

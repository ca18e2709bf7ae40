import { expect } from 'chai';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import { done } from '../../lib/controller/index.js';
import { ConfigMap, Lease } from '../../lib/object/kinds.js';
import { readCommandLine } from '../../lib/operator/command-line.js';
import { Operator } from '../../lib/operator/index.js';
import { runOperator } from '../../lib/operator/run-operator.js';
import type { OperatorRunOptions } from '../../lib/operator/run-operator.js';
import { errorMessage } from '../../lib/system/as-error.js';
import { eventually } from '../../lib/testing/index.js';
import { withFolder } from '../client/temporary-folder.js';
import { grant } from '../manager/grant.js';
import { rememberingLogger } from '../manager/manager-setup.js';
import type { LogLine } from '../manager/manager-setup.js';

const verbs = ['*'];
const everything = { apiGroups: ['*'], resources: ['*'], verbs };
const ofTheOperator = [
  { apiGroups: [''], resources: ['configmaps'], verbs },
  { apiGroups: ['events.k8s.io'], resources: ['events'], verbs },
];
const health = '--health-port=0';
const metrics = '--metrics-port=0';

/** The servers of a started operator, its election and its warnings. */
interface Served {
  /** The answers to requests without a token. */
  readonly health: number | undefined;
  readonly metrics: string | undefined;
  readonly isElected: boolean;
  readonly warnings: readonly string[];
}

const nothing: Served = { health: undefined, metrics: undefined, isElected: false, warnings: [] };

describe('The HTTP servers and the leader election of a started operator', () => {
  let cluster: EmbeddedCluster;
  const env = { ...process.env };
  before(async () => {
    cluster = await EmbeddedCluster.start({ rbac: true, users: { o: 'operator' } });
    await cluster.listen();
    const metadata = { name: 'any', namespace: 'default' };
    await admin().create({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
  });
  afterEach(() => {
    for (const name of ['KUBECONFIG', 'POD_NAMESPACE']) {
      Reflect.deleteProperty(process.env, name);
      if (env[name] !== undefined) process.env[name] = env[name];
    }
  });
  after(() => cluster.stop());
  const admin = () => cluster.client({ user: 'system:admin' });

  /** Starts the operator in a Pod, or with a given client, until it has reconciled. */
  async function served(
    args: readonly string[],
    {
      isPod = false,
      rules = [everything],
      ...own
    }: { isPod?: boolean; rules?: object[]; metrics?: OperatorRunOptions['metrics'] } = {},
  ): Promise<Served> {
    await grant(admin(), rules as never);
    const lines: LogLine[] = [];
    const stop = new AbortController();
    const seen = { any: false };
    const operator = new Operator('serving');
    operator.for(ConfigMap).reconciles(() => {
      seen.any = true;
      return done();
    });
    const urlOf = (server: string): string | undefined =>
      lines.find(({ message }) => message === `${server} listens`)?.fields['url'] as string;
    await withFolder({ config: cluster.kubeConfig('operator') }, async (folder) => {
      process.env['KUBECONFIG'] = join(folder, 'config');
      const write = (): void => undefined;
      const place = { stdout: { write }, stderr: { write } };
      const options = {
        ...(!isPod && { client: cluster.client({ user: 'operator' }) }),
        ...{ signal: stop.signal, logger: rememberingLogger(lines), ...own },
      };
      const running = runOperator(operator, options, readCommandLine(args), {
        ...place,
        env: isPod ? { KUBERNETES_SERVICE_HOST: '10.0.0.1' } : {},
      });
      try {
        await Promise.race([running, eventually(() => expect(seen.any).to.equal(true))]);
        answers = {
          health: await codeOf(urlOf('health-server'), '/healthz'),
          metrics: await metricsOf(urlOf('metrics-server')),
        };
      } finally {
        stop.abort();
        await running;
      }
    });
    const { items } = await admin().list(Lease);
    const leases = items.filter(({ metadata: { name } }) => name === 'serving');
    for (const { metadata } of leases) {
      await admin().delete(Lease, { namespace: metadata.namespace, name: 'serving' });
    }
    const warnings = lines
      .filter(({ level }) => level === 'warn')
      .map(({ message, fields }) => `${message}: ${String(fields['missing'] ?? fields['remedy'])}`);
    return { ...answers, isElected: leases.length > 0, warnings };
  }
  let answers: Pick<Served, 'health' | 'metrics'>;

  const lacksElection =
    'leader election is off: the role lacks rights: create leases.coordination.k8s.io,get leases.coordination.k8s.io,update leases.coordination.k8s.io';
  const lacksReviews =
    'authenticated metrics is off: the role lacks rights: create tokenreviews.authentication.k8s.io,create subjectaccessreviews.authorization.k8s.io,get secrets,update secrets,create secrets';

  describe('in a Pod', () => {
    const inPod: Served = { ...nothing, health: 200, metrics: 'https 401', isElected: true };
    for (const [what, args, expected] of [
      [
        'are health checks, authenticated metrics and leader election by default',
        [health, metrics],
        inPod,
      ],
      [
        'do without an election with --no-leader-elect',
        [health, metrics, '--no-leader-elect'],
        { ...inPod, isElected: false },
      ],
      [
        'serve metrics to everyone with --no-metrics-auth',
        [health, metrics, '--no-metrics-auth'],
        { ...inPod, metrics: 'http 200' },
      ],
      [
        'serve no metrics with --no-metrics',
        [health, metrics, '--no-metrics'],
        { ...inPod, metrics: undefined },
      ],
    ] as const) {
      it(what, async () => {
        process.env['POD_NAMESPACE'] = 'default';
        expect(await served([...args], { isPod: true })).to.deep.equal(expected);
      });
    }

    it('serve the metrics of a given registry, with those of the client, over HTTPS to permitted callers', async () => {
      process.env['POD_NAMESPACE'] = 'default';
      const registry = new Registry();
      const options = { isPod: true, metrics: { registry, port: 0 } };
      expect(await served([health, '--metrics-port=1'], options)).to.deep.equal(inPod);
      const text = await registry.metrics();
      expect(text).to.match(/^rest_client_requests_total\{.*code="200"/m);
      expect(text).to.include('controller_runtime_reconcile_total');
    });

    it('serve no metrics with --no-metrics, although the options give a registry', async () => {
      process.env['POD_NAMESPACE'] = 'default';
      const options = { isPod: true, metrics: { registry: new Registry() } };
      const found = await served([health, '--no-metrics'], options);
      expect(found).to.deep.equal({ ...inPod, metrics: undefined });
    });

    it('serve metrics on the port of the options if the role lacks the permissions to review callers', async () => {
      process.env['POD_NAMESPACE'] = 'default';
      const options = { isPod: true, rules: ofTheOperator, metrics: { port: 0 } };
      const found = await served([health], options);
      expect(found.metrics).to.equal('http 200');
    });

    it('serve metrics to everyone over HTTP if the options say so', async () => {
      process.env['POD_NAMESPACE'] = 'default';
      const options = { isPod: true, metrics: { access: 'everyone', port: 0 } } as const;
      const found = await served([health], options);
      expect(found).to.deep.equal({ ...inPod, metrics: 'http 200' });
    });

    it('serve metrics without authentication, and run without an election, if the role lacks the permissions for both', async () => {
      const options = { isPod: true, rules: ofTheOperator };
      const warnings = [lacksElection, lacksReviews];
      const lesser = { ...inPod, isElected: false, metrics: 'http 200' };
      const { warnings: told, ...found } = await served([health, metrics], options);
      expect({ ...found, warnings: told.toSorted().toReversed() }).to.deep.equal({
        ...lesser,
        warnings,
      });
      const closed = await served([health], options);
      expect(closed.metrics).to.equal(undefined);
    });
  });

  describe('outside of a cluster', () => {
    for (const [what, args, expected] of [
      ['do not exist by default', [], nothing],
      ['are the health checks with --health-port', [health], { ...nothing, health: 200 }],
      ['are the metrics with --metrics-port', [metrics], { ...nothing, metrics: 'http 200' }],
      [
        'are authenticated metrics with --metrics-auth and a namespace',
        [metrics, '--metrics-auth', '--namespace=default'],
        { ...nothing, metrics: 'https 401' },
      ],
      [
        'are an election with --leader-elect and a namespace',
        ['--leader-elect', '--namespace=default'],
        { ...nothing, isElected: true },
      ],
      [
        'serve no plans without authenticated metrics',
        ['--plan'],
        {
          ...nothing,
          warnings: ['plans are off: they need authenticated metrics: --metrics-auth'],
        },
      ],
    ] as const) {
      it(what, async () => {
        expect(await served([...args])).to.deep.equal(expected);
      });
    }

    it('use the namespace in the environment variable POD_NAMESPACE', async () => {
      process.env['POD_NAMESPACE'] = 'default';
      expect(await served(['--leader-elect'])).to.deep.equal({ ...nothing, isElected: true });
    });

    for (const [arg, problem] of [
      [
        '--leader-elect',
        '--leader-elect: the namespace is not known; give --namespace, or set the variable POD_NAMESPACE',
      ],
      [
        '--metrics-auth',
        '--metrics-auth: the namespace is not known; give --namespace, or --metrics-cert-dir',
      ],
    ] as const) {
      it(`are refused with ${arg} without a namespace`, async () => {
        delete process.env['POD_NAMESPACE'];
        expect(await served([arg]).then(() => 'served', errorMessage)).to.equal(problem);
      });
    }
  });
});

async function metricsOf(url: string | undefined): Promise<string | undefined> {
  const code = await codeOf(url, '/metrics');
  return code === undefined ? undefined : `${url?.split(':')[0]} ${code}`;
}

/** Returns the status of an answer, whatever the certificate. */
async function codeOf(url: string | undefined, path: string): Promise<number | undefined> {
  if (url === undefined) return undefined;
  const request = url.startsWith('https:') ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const options = { agent: false, rejectUnauthorized: false } as const;
    const sent = request(new URL(path, url), options, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode));
    });
    sent.on('error', reject);
    sent.end();
  });
}

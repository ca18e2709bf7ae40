import { readFileSync } from 'node:fs';
import { request as httpRequest, request } from 'node:http';
import { expect } from 'chai';
import { connect } from 'node:tls';
import { gunzipSync } from 'node:zlib';
import { Registry } from 'prom-client';
import { controllerFor } from '../../../lib/controller/controller.js';
import { EmbeddedCluster } from '../../../lib/apiserver/cluster/embedded-cluster.js';
import type { Manager } from '../../../lib/manager/manager.js';
import type {
  CertificateContext,
  CertificateSource,
} from '../../../lib/manager/webhooks/certificate-source.js';
import { createAuthority, issueCertificate } from '../../../lib/system/x509.js';
import { ConfigMap } from '../../../lib/object/kinds.js';
import { systemClock } from '../../../lib/system/clock.js';
import { systemRandom } from '../../../lib/system/random.js';
import { grant } from '../grant.js';
import { ManagerSetup, configMap, watcher } from '../manager-setup.js';
import { onLoopback, served } from '../served.js';
import { explainedMetrics } from './explained-metrics.js';
import { theirMetrics } from './known-metrics.js';
import { scrape, scrapedManager } from './scraped-manager.js';

describe('Metrics endpoint', () => {
  it("exports controller-runtime's metrics with their names, types and labels", async () => {
    const { setup, manager, registry } = await scrapedManager();
    const shown = await scrape(manager, registry);
    for (const [name, expected] of Object.entries(theirMetrics)) {
      expect(shown.get(name), name).to.deep.equal(expected);
    }
    await setup.end();
  });

  it('exports exactly the metrics that docs/metrics.md explains', async () => {
    const { setup, manager, registry } = await scrapedManager();
    const shown = await scrape(manager, registry);
    const explained = await explainedMetrics();
    expect([...shown.keys()].sort()).to.deep.equal([...explained.keys()].sort());
    for (const [name, { type, labels }] of shown) {
      expect(explained.get(name), name).to.deep.equal({ type, labels });
    }
    await setup.end();
  });

  it('compresses the response if the request accepts gzip', async () => {
    const { setup, manager } = await scrapedManager();
    const { url = '' } =
      manager.status().runnables.find(({ name }) => name === 'metrics-server') ?? {};
    const headers = { 'accept-encoding': 'gzip', connection: 'close' };
    const body = await new Promise<Buffer>((resolve, reject) => {
      const sent = request(`${url}/metrics`, { headers }, (response) => {
        expect(response.headers['content-encoding']).to.equal('gzip');
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => resolve(Buffer.concat(chunks)));
      });
      sent.on('error', reject);
      sent.end();
    });
    expect(gunzipSync(body).toString()).to.include('controller_runtime_reconcile_total');
    expect((await served(manager, '/metricsx')).status).to.equal(404);
    await setup.end();
  });

  it('compresses responses of 1 KB or more for clients that accept gzip', async () => {
    const setup = await ManagerSetup.start();
    const registry = new Registry();
    const manager = setup.manager({ metrics: { ...onLoopback, registry, processMetrics: false } });
    await setup.run(manager);
    await manager.whenStarted();
    for (const [length, accepted, isCompressed] of [
      [1_023, 'gzip', false],
      [1_024, 'gzip', true],
      [1_024, '*', true],
      [1_024, 'br, gzip;q=0.5', true],
      [1_024, 'gzip;q=1.0', true],
      [1_024, 'gzip; q=0', false],
      [1_024, 'gzip;q=0.000, br', false],
      [1_024, 'gzip;q=0, *', false],
      [1_024, '*;q=0, gzip', true],
      [1_024, 'GZIP', true],
      [1_024, 'deflate', false],
      [1_024, 'identity', false],
    ] as const) {
      const text = 'x'.repeat(length);
      registry.metrics = () => Promise.resolve(text);
      const answer = await served(manager, '/metrics', { 'accept-encoding': accepted });
      expect(answer).to.include({ status: 200, text });
      const { headers } = answer;
      expect([headers.get('content-encoding'), headers.get('vary')], accepted).to.deep.equal([
        isCompressed ? 'gzip' : null,
        'accept-encoding',
      ]);
      expect(headers.get('content-type')).to.equal(registry.contentType);
    }
    await setup.end();
  });

  it('answers in the OpenMetrics format if the registry is set to it', async () => {
    const registry = new Registry();
    registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE as never);
    const { setup, manager } = await scrapedManager(registry);
    const { text, headers } = await served(manager, '/metrics');
    expect(headers.get('content-type')).to.include('application/openmetrics-text');
    expect(text).to.match(/# EOF\n$/);
    await setup.end();
  });

  it('exports the process metrics of the system', async () => {
    const setup = await ManagerSetup.start();
    const manager = setup.manager({ metrics: onLoopback });
    await setup.run(manager);
    await manager.whenStarted();
    const { text } = await served(manager, '/metrics');
    const value = (name: string): number =>
      Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
    const limits = readFileSync('/proc/self/limits', 'utf8');
    const [, maxFiles] = /^Max open files\s+(\d+)/m.exec(limits) ?? [];
    expect(value('process_max_fds')).to.equal(Number(maxFiles));
    expect(value('process_open_fds')).to.be.within(3, Number(maxFiles));
    const startedAt = Date.now() / 1_000 - process.uptime();
    expect(value('process_start_time_seconds')).to.be.closeTo(startedAt, 5);
    expect(value('process_virtual_memory_bytes')).to.be.above(process.memoryUsage.rss() / 2);
    expect(value('process_resident_memory_bytes')).to.be.closeTo(process.memoryUsage.rss(), 2e8);
    const cpu = process.cpuUsage();
    expect(value('process_cpu_user_seconds_total')).to.be.closeTo(cpu.user / 1e6, 2);
    expect(value('process_cpu_system_seconds_total')).to.be.closeTo(cpu.system / 1e6, 2);
    expect(value('process_cpu_seconds_total')).to.be.closeTo((cpu.user + cpu.system) / 1e6, 2);
    // Each scrape exports the present value again, instead of adding it.
    const { text: later } = await served(manager, '/metrics');
    const [, seconds] = /^process_cpu_seconds_total (\S+)$/m.exec(later) ?? [];
    expect(Number(seconds)).to.be.closeTo((cpu.user + cpu.system) / 1e6, 2);
    await setup.end();
  });

  it('exports the requests of API clients that were created without metrics', async () => {
    const setup = await ManagerSetup.start();
    const registry = new Registry();
    const manager = setup.manager({ metrics: { ...onLoopback, registry, processMetrics: false } });
    manager.add(watcher([]));
    await setup.run(manager);
    await manager.whenStarted();
    const { text } = await served(manager, '/metrics');
    expect(text).to.match(
      /^rest_client_requests_total\{code="200",method="GET",host="[^"]*"\} [1-9]/m,
    );
    expect(text).to.match(/^rest_client_request_duration_seconds_count\{/m);
    const counted = () => registry.getSingleMetricAsString('rest_client_requests_total');
    setup.stop.abort();
    await setup.running;
    const atEnd = await counted();
    await setup.client.list(ConfigMap);
    expect(await counted()).to.equal(atEnd);
    await setup.end();
  });

  it('does not count requests of the client of a removed cluster', async () => {
    const [setup, east] = [await ManagerSetup.start(), await ManagerSetup.start()];
    const registry = new Registry();
    const clusters = [
      { name: 'home', client: setup.client },
      { name: 'east', client: east.client },
    ];
    const metrics = { serve: false, registry, processMetrics: false };
    const manager = setup.manager({ clusters, metrics });
    await setup.run(manager);
    await manager.whenStarted();
    const counted = () => registry.getSingleMetricAsString('rest_client_requests_total');
    const before = await counted();
    await east.client.list(ConfigMap);
    const after = await counted();
    expect(after).to.not.equal(before);
    await Promise.all([manager.removeCluster('east'), setup.clock.advance(0)]);
    await east.client.list(ConfigMap);
    expect(await counted()).to.equal(after);
    await setup.end();
    await east.end();
  });

  it('exports what was counted before its start, and metrics that the operator itself declares', async () => {
    const setup = await ManagerSetup.start();
    const manager = setup.manager({ metrics: { ...onLoopback, processMetrics: false } });
    const sales = manager.metrics.counter({ name: 'sales_total', help: 'Sales.' });
    const stock = manager.metrics.gauge({ name: 'stock', help: 'Stock.' });
    sales.add(2);
    stock.onCollect?.(() => stock.set(7));
    await setup.run(manager);
    await manager.whenStarted();
    sales.add();
    const { text } = await served(manager, '/metrics');
    expect(text)
      .to.match(/^sales_total 3$/m)
      .and.to.match(/^stock 7$/m);
    expect(text).not.to.include('process_');
    await setup.end();
  });
});

describe('Metrics of caches', () => {
  const options = { metrics: { ...onLoopback, processMetrics: false } };
  const objects = /operator_builder_cache_objects{[^}]*} \d+/g;

  it('have no cluster label for a single cluster without a name', async () => {
    const setup = await ManagerSetup.start();
    await setup.create('a');
    const manager = setup.manager(options);
    manager.add(watcher([]));
    await setup.run(manager);
    await manager.whenStarted();
    const { text } = await served(manager, '/metrics');
    expect(text.match(objects)).to.deep.equal([
      'operator_builder_cache_objects{kind="ConfigMap"} 1',
    ]);
    await setup.end();
  });

  it('have a cluster label for named clusters, and are removed with their cluster', async () => {
    const setup = await ManagerSetup.start();
    const east = await EmbeddedCluster.start({ clock: setup.clock });
    await setup.create('a');
    for (const name of ['far', 'farther']) await east.client().create(configMap(name));
    const clusters = [{ name: 'home', client: setup.client }];
    const manager = setup.manager({ ...options, clusters });
    const seen: string[] = [];
    manager.add(watcher(seen));
    await setup.run(manager);
    const join = (): void => manager.addCluster({ name: 'east', client: east.client() });
    join();
    await setup.until(() => ['a', 'far', 'farther'].every((name) => seen.includes(name)));
    const both = (await served(manager, '/metrics')).text;
    expect(both.match(objects)).to.have.members([
      'operator_builder_cache_objects{kind="ConfigMap",cluster="home"} 1',
      'operator_builder_cache_objects{kind="ConfigMap",cluster="east"} 2',
    ]);
    expect(both).to.match(/cache_bytes{kind="ConfigMap",cluster="east"} [1-9]/);
    expect(both).to.match(/cache_relists_total{kind="ConfigMap",cluster="east"} 1/);
    await manager.removeCluster('east');
    const left = (await served(manager, '/metrics')).text;
    expect(left).to.include('cluster="home"').and.not.to.include('cluster="east"');
    join();
    await setup.until(() => seen.filter((name) => name === 'far').length === 2);
    const again = (await served(manager, '/metrics')).text;
    expect(again).to.include('cache_objects{kind="ConfigMap",cluster="east"} 2');
    await setup.end();
    await east.stop();
  });
});

describe('Metrics of a removed controller', () => {
  const options = { metrics: { ...onLoopback, processMetrics: false } };

  it('are removed with the controller, so that a hundred controllers leave nothing behind', async () => {
    const setup = await ManagerSetup.start();
    await setup.create('a');
    const manager = setup.manager(options);
    const kept: string[] = [];
    manager.add(watcher(kept, 'kept'));
    await setup.run(manager);
    const round = async (name: string): Promise<void> => {
      const seen: string[] = [];
      const added = manager.add(watcher(seen, name));
      while (!seen.includes('a')) await setup.clock.advance(0);
      const removed = added.remove();
      await Promise.all([removed, setup.clock.advance(0)]);
    };
    await round('first');
    const before = await served(manager, '/metrics');
    expect(before.text).to.include('controller="kept"').and.not.to.include('"first"');
    for (let n = 0; n < 100; n++) await round(`round-${n}`);
    const { text } = await served(manager, '/metrics');
    expect(text).not.to.include('round-');
    // The size may differ only by digits of cache counters.
    expect(text.length - before.text.length).to.be.below(100);
    await setup.end();
  });

  it('stay while a reconcile of the controller does not end', async () => {
    const setup = await ManagerSetup.start();
    await setup.create('a');
    const manager = setup.manager(options);
    let active = 0;
    const added = manager.add(
      controllerFor(ConfigMap)
        .withOptions({ name: 'deaf' })
        .complete(() => {
          active++;
          return new Promise(() => undefined);
        }),
    );
    await setup.run(manager);
    while (active === 0) await setup.clock.advance(0);
    await Promise.all([added.remove(1_000), setup.clock.advance(2_000)]);
    const { text } = await served(manager, '/metrics');
    expect(text).to.match(/controller_runtime_active_workers{controller="deaf"} [1-9]/);
    await setup.end();
  });
});

describe('Metrics endpoint that authenticates its clients by access reviews', () => {
  const users = { good: 'scraper', bad: 'stranger' };
  const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

  async function protectedManager() {
    const setup = await ManagerSetup.start({ rbac: true, users });
    await grant(setup.person, [
      { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
      {
        apiGroups: ['authorization.k8s.io'],
        resources: ['subjectaccessreviews'],
        verbs: ['create'],
      },
    ]);
    await grant(setup.person, [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }], 'scraper');
    const manager = setup.manager({ metrics: { ...onLoopback, access: 'reviewed' } });
    await setup.run(manager);
    await manager.whenStarted();
    return { setup, manager };
  }

  it('answers only users with permission to get /metrics', async () => {
    const { setup, manager } = await protectedManager();
    const statusWith = async (headers: Record<string, string>): Promise<number> =>
      (await served(manager, '/metrics', headers)).status;
    expect(await statusWith({})).to.equal(401);
    expect(await statusWith(bearer('unknown'))).to.equal(401);
    expect(await statusWith(bearer('bad'))).to.equal(403);
    expect(await statusWith(bearer('good'))).to.equal(200);
    for (const line of setup.lines) expect(JSON.stringify(line)).not.to.include('unknown');
    await setup.end();
  });

  it('does not answer without permission if path, method or header are written in another way', async () => {
    const { setup, manager } = await protectedManager();
    const { url = '' } =
      manager.status().runnables.find(({ name }) => name === 'metrics-server') ?? {};
    const { port } = new URL(url);
    const ask = (method: string, path: string, ...authorization: readonly string[]) =>
      new Promise<string>((resolve, reject) => {
        const lines = authorization.flatMap((each) => ['authorization', each]);
        const headers = ['host', `127.0.0.1:${port}`, ...lines];
        const asked = httpRequest({ host: '127.0.0.1', port, method, path, headers, agent: false });
        asked.on('error', reject).on('response', (response) => {
          let text = '';
          response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
          response.on('end', () => {
            const shows = text.includes('# HELP') ? ' metrics' : '';
            resolve(`${response.statusCode ?? 0}${shows}`);
          });
        });
        asked.end();
      });
    expect(await ask('GET', '/metrics', 'Bearer good')).to.equal('200 metrics');
    const paths = ['/metrics', '/metrics/', '//metrics', '/METRICS', '/%6detrics', '/./metrics'];
    const more = ['/a/../metrics', '/metrics;x', '/metrics?x=1', '/metrics%2f', 'http://a/metrics'];
    for (const path of [...paths, ...more]) {
      for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS', 'PUT', 'TRACE']) {
        for (const header of [[], ['Bearer bad'], ['Bearer unknown'], ['Basic good'], ['Bearer']]) {
          const answer = await ask(method, path, ...header);
          expect(answer, `${method} ${path} ${header.join()}`).to.match(/^(?:40[01345]|403|421)$/);
        }
      }
    }
    const twice = await ask('GET', '/metrics', 'Bearer bad', 'Bearer good');
    expect(twice).to.equal('403');
    for (const header of ['Bearer bad Bearer good', 'Bearer "good"', 'good']) {
      expect(await ask('GET', '/metrics', header), header).to.equal('401');
    }
    await setup.end();
  });

  it('caches for a minute that a user is allowed, and for 10 s that a user is refused', async () => {
    const { setup, manager } = await protectedManager();
    const reviews = (): number =>
      setup.cluster.requests.entries.filter(({ resource }) => resource === 'tokenreviews').length;
    const ask = async (token: string): Promise<void> => {
      await Promise.all([1, 2].map(() => served(manager, '/metrics', bearer(token))));
    };
    await ask('good');
    await setup.clock.advance(59_000);
    await ask('good');
    expect(reviews()).to.equal(1);
    await setup.clock.advance(2_000);
    await ask('good');
    expect(reviews()).to.equal(2);
    await ask('bad');
    await setup.clock.advance(11_000);
    await ask('bad');
    expect(reviews()).to.equal(4);
    await setup.end();
  });

  it('allows no user while access reviews fail, and repeats a failed review at the next request', async () => {
    const { setup, manager } = await protectedManager();
    const match = { resource: 'tokenreviews' };
    const fault = setup.cluster.faults.add({ match, effect: { type: 'status', code: 500 } });
    expect((await served(manager, '/metrics', bearer('good'))).status).to.equal(500);
    fault.remove();
    expect((await served(manager, '/metrics', bearer('good'))).status).to.equal(200);
    await setup.end();
  });
});

describe('Metrics endpoint over HTTPS', () => {
  it('presents a replaced certificate', async () => {
    const nowMs = systemClock.now();
    const validity = { fromMs: nowMs - 60_000, untilMs: nowMs + 3_600_000 };
    const options = { validity, random: systemRandom };
    const authority = await createAuthority('spec', options);
    const issue = () => issueCertificate(authority, ['127.0.0.1'], options);
    let replace: CertificateContext['onChange'] = () => undefined;
    const certificate: CertificateSource = {
      start: ({ onChange }) => {
        replace = onChange;
        return issue();
      },
    };
    const setup = await ManagerSetup.start();
    const manager = setup.manager({ metrics: { ...onLoopback, certificate } });
    await setup.run(manager);
    await manager.whenStarted();
    const first = await shownCertificate(manager, authority.certificate);
    replace(await issue());
    expect(await shownCertificate(manager, authority.certificate)).not.to.equal(first);
    await setup.end();
  });
});

/**
 * Returns the serial number of the certificate that the server presents to a client that trusts the
 * authority.
 */
async function shownCertificate(manager: Manager, ca: string): Promise<string> {
  const { runnables } = manager.status();
  const { url = '' } = runnables.find(({ name }) => name === 'metrics-server') ?? {};
  const { port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port: Number(port), ca }, () => {
      resolve(socket.getPeerCertificate().serialNumber);
      socket.destroy();
    });
    socket.on('error', reject);
  });
}

import { expect } from 'chai';
import { forwarding } from '../../../lib/client/index.js';
import { controllerFor } from '../../../lib/controller/controller.js';
import { done, requeueAfter } from '../../../lib/controller/result.js';
import type { Source } from '../../../lib/controller/sources.js';
import type { Overview } from '../../../lib/manager/inspector/overview.js';
import type { Manager } from '../../../lib/manager/manager.js';
import { allowed, validatingWebhook } from '../../../lib/manager/webhooks/webhook.js';
import { ConfigMap } from '../../../lib/object/kinds.js';
import { OperatorError } from '../../../lib/system/index.js';
import { ManagerSetup, ScriptedLeadership, aborted, configMap, watcher } from '../manager-setup.js';
import { staticCertificate } from '../metrics/static-certificate.js';
import { onLoopback } from '../served.js';
import { inspected, inspectorUrl, sectionText } from './inspected.js';

const hostile = '<img src=x onerror="alert(1)">\'"`&</script><script>alert(2)</script>';

describe('The inspector', () => {
  let setup: ManagerSetup;
  let manager: Manager;

  beforeEach(async () => {
    setup = await ManagerSetup.start();
  });
  afterEach(async () => {
    expect(await setup.end()).to.equal(undefined);
    expect(setup.clock.pendingTimers).to.equal(0);
  });

  async function started(): Promise<void> {
    await setup.run(manager);
    await manager.whenStarted();
    await setup.clock.advance(0);
  }

  async function page(path = '/'): Promise<string> {
    const { status, text } = await inspected(manager, path);
    expect(status).to.equal(200);
    return text;
  }

  const section = async (id: string): Promise<string> => sectionText(await page(), id);

  it('is off by default', async () => {
    manager = setup.manager();
    await started();
    expect(inspectorUrl(manager)).to.equal('');
  });

  it('listens only on loopback unless configured otherwise, which it logs as a warning', async () => {
    manager = setup.manager({ inspector: { port: 0 } });
    await started();
    expect(inspectorUrl(manager)).to.match(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(setup.logged('warn')).to.deep.equal([]);
    const open = setup.manager({ inspector: { port: 0, host: '0.0.0.0' } });
    const stop = new AbortController();
    const running = open.run(stop.signal);
    await open.whenStarted();
    expect(setup.logged('warn').join()).to.include('every client that reaches it can read it');
    stop.abort();
    await running;
  });

  it('shows current reconciles with their triggers', async () => {
    manager = setup.manager({ inspector: onLoopback });
    manager.add(
      controllerFor(ConfigMap).complete(async ({ key, signal }) => {
        if (key.name === 'a') await aborted(signal);
        return done();
      }),
    );
    await started();
    const created = await setup.person.create(configMap('a'));
    await setup.clock.advance(1_500);
    expect(await section('active')).to.match(
      /default\/a configmap 1\.5 s ConfigMap default\/a added [0-9a-f-]{36}/,
    );
    expect(await section('controllers')).to.include(
      'configmap ConfigMap (v1) the leader reconciles 1',
    );
    await setup.person.update({ ...created, data: { secret: 'hush' } });
    await setup.clock.advance(0);
    expect(await section('controllers')).to.include('1');
  });

  it('shows recent reconciles with the paths of changes, without values', async () => {
    manager = setup.manager({ inspector: onLoopback });
    manager.add(watcher([]));
    await started();
    const created = await setup.person.create(configMap('a'));
    await setup.clock.advance(0);
    await setup.person.update({ ...created, data: { color: 'hush' } });
    await setup.clock.advance(0);
    const recent = await section('recent');
    expect(recent).to.match(
      /default\/a watcher 00:00:00 success 0 ms ConfigMap default\/a updated: data/,
    );
    expect(recent).to.match(/default\/a watcher 00:00:00 success 0 ms ConfigMap default\/a added/);
    expect(await page()).to.not.include('hush');
  });

  it('shows the first five causes of a reconcile, and how many more there are', async () => {
    manager = setup.manager({ inspector: onLoopback });
    for (const count of [5, 6, 8]) {
      const source: Source = {
        name: 'many',
        start: (context) => {
          for (let n = 1; n <= count; n++) {
            const trigger = { type: 'source', source: `s${n}` } as const;
            context.enqueue({ name: `of-${count}` }, { trigger });
          }
          return { stop: () => undefined };
        },
      };
      manager.add(
        controllerFor(ConfigMap)
          .withOptions({ name: `with-${count}` })
          .from(source)
          .complete(async () => done()),
      );
    }
    await started();
    const recent = await section('recent');
    const five = [1, 2, 3, 4, 5].map((n) => `source s${n}`).join(' ');
    for (const [count, more] of [
      [5, ''],
      [6, ' and 1 more'],
      [8, ' and 3 more'],
    ] as const) {
      expect(recent).to.match(
        new RegExp(`of-${count} with-${count} \\S+ success 0 ms ${five}${more}( of-|$)`),
      );
    }
  });

  it('forwards each reconcile event to the listener of the manager', async () => {
    const outcomes: string[] = [];
    manager = setup.manager({ inspector: onLoopback, onEvent: ({ type }) => outcomes.push(type) });
    manager.add(watcher([]));
    await setup.create('a');
    await started();
    await setup.clock.advance(0);
    expect(outcomes).to.include('reconciled');
  });

  it('shows errors, retries and delays', async () => {
    manager = setup.manager({ inspector: onLoopback });
    manager.add(
      controllerFor(ConfigMap).complete(async ({ key }) => {
        if (key.name === 'bad') throw new Error('out of beans');
        return requeueAfter(60_000);
      }),
    );
    await setup.create('bad');
    await setup.create('good');
    await started();
    await setup.clock.advance(0);
    expect(await section('failures')).to.include('default/bad configmap out of beans error 1');
    expect(await section('queues')).to.include('default/good configmap its time 1 min 0 s to go');
    expect(await section('recent')).to.include('error out of beans');
  });

  it('lists keys whose reconcile has not ended in time', async () => {
    manager = setup.manager({ inspector: onLoopback, gracefulShutdownMs: 0 });
    let end: (() => void) | undefined;
    manager.add(
      controllerFor(ConfigMap)
        .withOptions({ reconcileTimeoutMs: 1_000 })
        .complete(async ({ key }) => {
          const isFirst = key.name === 'stuck' && end === undefined;
          if (isFirst) await new Promise<void>((resolve) => (end = resolve));
          return done();
        }),
    );
    await setup.create('stuck');
    await started();
    await setup.clock.advance(3_000);
    expect(await section('held')).to.match(/default\/stuck configmap 3\.0 s .* 2\.0 s$/);
    expect(await section('failures')).to.include('timeout');
    end?.();
    await setup.clock.advance(0);
    expect(await section('held')).to.equal('Held keys No key is held.');
  });

  it('shows objects that are reconciled in a fast loop, with the written fields but without values', async () => {
    manager = setup.manager({ inspector: onLoopback });
    manager.add(
      controllerFor(ConfigMap)
        .withOptions({ hotLoop: { maxWrites: 3 } })
        .complete(async ({ key, client }) => {
          if (key.name !== 'busy') return done();
          const object = await client.live.get(ConfigMap, key);
          const turns = String(Number(object.data?.['turns'] ?? 0) + 1_000_003);
          await client.update({ ...object, data: { turns } }, { fieldManager: 'spinner' });
          return done();
        }),
    );
    await setup.create('busy');
    await started();
    await setup.clock.advance(5_000);
    const text = await section('hot-loops');
    expect(text).to.contain('Keeps writing Writes a minute Fields Field managers Slowed down by');
    expect(text).to.match(/default\/busy configmap ConfigMap default\/busy \d+ data\.turns/);
    expect(await page()).to.not.match(/10000\d\d/);
  });

  it('shows caches and their missing kinds and permissions', async () => {
    manager = setup.manager({ inspector: onLoopback, rbacPreflight: 'off' });
    manager.add(watcher([]));
    const widget = { apiVersion: 'shop.example/v1', kind: 'Widget' };
    manager.add(controllerFor(widget).complete(async () => done()));
    await setup.create('a');
    await started();
    await setup.clock.advance(0);
    const caches = await section('caches');
    expect(caches).to.match(/ConfigMap v1 [1-9]\d* \d+ kB objects synced/);
    const remedy =
      'the server does not serve Widget of shop.example/v1: install its CustomResourceDefinition';
    expect(caches).to.include(
      `Widget shop.example/v1 0 0 kB objects not served ${remedy} : Widget `,
    );
    expect(await section('sources')).to.match(/widget not served/);
  });

  it('shows the error of a cache whose lists fail, although its kind is served and RBAC allows them', async () => {
    const away = () => {
      throw new OperatorError('ConnectionFailed', 'the server is away');
    };
    const client = { ...forwarding(setup.client), list: away, pages: away, watch: away };
    manager = setup.manager({ client, inspector: onLoopback, rbacPreflight: 'off' });
    manager.add(watcher([]));
    await setup.run(manager);
    const hasFailed = (): boolean => setup.logged('warn').join().includes('ConfigMap: ');
    await setup.until(() => inspectorUrl(manager) !== '' && hasFailed());
    const caches = await section('caches');
    expect(caches).to.match(/ConfigMap v1 0 0 kB objects not synced the server is away$/);
  });

  it('shows the leader', async () => {
    const leadership = new ScriptedLeadership();
    manager = setup.manager({ inspector: onLoopback, leaderElection: leadership });
    await started();
    expect(await section('process')).to.include('Leadership stands by Leader not known');
    leadership.lead();
    expect(await section('process')).to.include('Leadership leads Leader me');
  });

  it('shows webhooks, runnables, clusters and shards', async () => {
    const webhooks = {
      webhooks: [validatingWebhook(ConfigMap, () => allowed())],
      ...{ certificates: staticCertificate(), ...onLoopback },
    };
    const { client } = setup;
    const clusters = [
      { name: 'home', client },
      { name: 'away', client },
    ];
    const shards = { name: 'spec', namespace: 'default' };
    manager = setup.manager({ inspector: onLoopback, clusters, webhooks, shards });
    manager.add(watcher([]), { shards: true });
    await started();
    for (let n = 0; n < 20; n++) await setup.clock.advance(1_000);
    expect(await section('webhooks')).to.match(
      /vconfigmap\S* validating \/validate\S* on port \d+/,
    );
    expect(await section('runnables')).to.match(/inspector server ready http:\/\/127/);
    expect(await section('process')).to.include('Clusters home, away');
    expect(await section('shards')).to.match(
      /This replica spec-\w+ \(member\) Share of all keys 100\.0 %/,
    );
    expect(await section('caches')).to.match(/ConfigMap v1 home .*ConfigMap v1 away/);
  });

  it('serves the same data as JSON', async () => {
    manager = setup.manager({ inspector: onLoopback });
    manager.add(watcher([]));
    await setup.create('a');
    await started();
    await setup.clock.advance(0);
    const { text, headers } = await inspected(manager, '/status.json');
    const overview = JSON.parse(text) as Overview;
    expect(headers['content-type']).to.equal('application/json');
    expect([overview.phase, overview.isLeading, overview.at]).to.deep.equal([
      ...['running', true, '2026-01-01T00:00:00.000Z'],
    ]);
    expect(overview.controllers.items[0]).to.include({ name: 'watcher', apiVersion: 'v1' });
    expect(overview.recent.items.map(({ key }) => key)).to.include('default/a');
  });

  it('shows the first of 10,000 waiting keys in less than a second of CPU time', async () => {
    manager = setup.manager({ inspector: onLoopback });
    const flood: Source = {
      name: 'flood',
      start: (context) => {
        const trigger = { type: 'source', source: 'flood' } as const;
        for (let n = 0; n < 10_000; n++) context.enqueue({ name: `key-${n}` }, { trigger });
        return { stop: () => undefined };
      },
    };
    manager.add(
      controllerFor(ConfigMap)
        .from(flood)
        .complete(async ({ signal }) => {
          await aborted(signal);
          return done();
        }),
    );
    await started();
    // CPU time, because the machine has other work.
    const before = process.cpuUsage();
    const text = await page();
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1_000, 'milliseconds').to.be.below(1_000);
    expect(text.length).to.be.below(100_000);
    expect(sectionText(text, 'queues')).to.match(/and 9,9\d\d more$/);
    expect(sectionText(text, 'controllers')).to.match(/configmap .* 1 (9999|10\d\d\d) 0/);
  });

  it('shows no link for earlier reconciles of a removed controller, whose kind it no longer has', async () => {
    manager = setup.manager({ inspector: onLoopback });
    const added = manager.add(watcher([]));
    await setup.create('a');
    await started();
    expect(await page()).to.include('kind=ConfigMap&amp;namespace=default&amp;name=a');
    await added.remove();
    expect(await section('recent')).to.include('default/a');
    expect(await page()).to.not.include('href="/object?namespace=');
  });

  it('shows errors whose message is not a string', async () => {
    manager = setup.manager({ inspector: onLoopback });
    const thrown = [{ message: { code: 1 } }, { message: undefined }];
    for (const [n, fields] of thrown.entries()) {
      manager.add(
        controllerFor(ConfigMap)
          .withOptions({ name: `odd-${n}` })
          .complete(async () => {
            throw Object.assign(new Error('x'), fields);
          }),
      );
    }
    await setup.create('a');
    await started();
    const recent = await section('recent');
    expect(recent).to.include('a value of type object').and.to.include('undefined');
  });

  it('escapes all values', async () => {
    manager = setup.manager({ inspector: onLoopback });
    const named = controllerFor(ConfigMap).withOptions({ name: hostile });
    manager.add(
      named.complete(async () => {
        throw new Error(hostile);
      }),
    );
    await setup.create('a');
    await started();
    await setup.clock.advance(0);
    const query = new URLSearchParams({
      apiVersion: 'v1',
      kind: hostile,
      name: hostile,
    }).toString();
    for (const path of ['/', `/object?${query}`, `/objects?${query}`, `/object?cluster=${query}`]) {
      const { text } = await inspected(manager, path);
      expect(text).to.not.include('<img');
      expect(text).to.not.include('<script>');
      expect(text.match(/<script/g) ?? []).to.have.length.at.most(1);
    }
    expect(await page()).to.include(
      '&lt;img src=x onerror=&quot;alert(1)&quot;&gt;&#39;&quot;&#96;&amp;',
    );
  });
});

import { inspect } from 'node:util';
import { expect } from 'chai';
import { Registry } from 'prom-client';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import { ensureCrd, forwarding } from '../../../lib/client/index.js';
import type { Client } from '../../../lib/client/index.js';
import { Manager } from '../../../lib/manager/index.js';
import type { ManagerOptions } from '../../../lib/manager/index.js';
import { Operator } from '../../../lib/operator/index.js';
import { VirtualClock, silentLogger, sleep } from '../../../lib/system/index.js';
import {
  crashPoints,
  eventually,
  faultOn,
  faults,
  faultSweep,
  faulty,
} from '../../../lib/testing/index.js';
import type { CrashScenario } from '../../../lib/testing/index.js';
import { crashSample, isSampled } from '../../sample.js';
import { rememberingLogger } from '../manager-setup.js';
import type { LogLine } from '../manager-setup.js';
import { onLoopback } from '../served.js';
import {
  Widget,
  definitionOf,
  storeWidgets,
  storedIn,
  widget,
  widgetsIn,
} from './migrated-widgets.js';

const annotation = 'operator-builder.io/storage-migration';
const quiet = { leaderElection: false, health: false, metrics: false } as const;

const isStoredV1 = ({ name, storage }: { readonly name: string; readonly storage: boolean }) =>
  name === 'v1' && storage;

/** The number of objects of a large migration. */
const many = isSampled ? 1_500 : 10_000;

function migrating(type = Widget): Operator {
  const operator = new Operator('widget-operator', { resources: [type] });
  return operator.migratesStorage(type, { writesPerSecond: 1_000 });
}

/** Returns a client that runs `before` right before the first patch of a widget, and `after` after it. */
function aroundFirstPatch(
  own: Client,
  before: () => Promise<unknown>,
  after?: () => Promise<unknown>,
): Client {
  let patches = 0;
  const patch: Client['patch'] = async (type, key, body, options) => {
    const isFirst = (type as { readonly kind: string }).kind === 'Widget' && ++patches === 1;
    if (isFirst) await before();
    try {
      return await own.patch(type, key, body, options);
    } finally {
      if (isFirst) await after?.();
    }
  };
  return { ...forwarding(own), patch };
}

/** Changes the storage version to v1 and back to v2; objects that are created between are stored in v1. */
async function rollBackAndUpgrade(client: Client): Promise<void> {
  await ensureCrd(client, widgetsIn('v1').crd);
  await client.create(widget(9));
  await ensureCrd(client, Widget.crd);
}

async function serveV2(client: Client, served: boolean): Promise<void> {
  const { spec, ...rest } = await definitionOf(client);
  const versions = spec.versions.map((version) =>
    version.name === 'v2' ? { ...version, served } : version,
  );
  await client.update({ ...rest, spec: { ...spec, versions } });
}

async function isMigrated(client: Client): Promise<true> {
  const { status, metadata } = await definitionOf(client);
  expect(status?.storedVersions).to.deep.equal(['v2']);
  expect(metadata.annotations ?? {}).not.to.have.property(annotation);
  return true;
}

describe('Operator.migratesStorage', function () {
  this.timeout(240_000);
  const clusters: EmbeddedCluster<VirtualClock>[] = [];

  async function clusterWith(count: number): Promise<EmbeddedCluster<VirtualClock>> {
    const cluster = await EmbeddedCluster.start({ clock: new VirtualClock() });
    clusters.push(cluster);
    await storeWidgets(cluster.client(), count);
    return cluster;
  }

  afterEach(async () => {
    for (const cluster of clusters.splice(0)) await cluster.stop();
  });

  /** Runs the operator until the migration is complete; returns its log lines. */
  async function migrate(
    cluster: EmbeddedCluster<VirtualClock>,
    client: Client = cluster.client(),
    operator = migrating(),
    options: Pick<ManagerOptions, 'metrics'> = {},
  ): Promise<readonly LogLine[]> {
    const lines: LogLine[] = [];
    const stop = new AbortController();
    const { clock } = cluster;
    const logger = rememberingLogger(lines);
    const running = operator.run({
      ...{ ...quiet, client, clock, logger, signal: stop.signal, ...options },
    });
    await eventually(() => isMigrated(cluster.client()), { clock, timeoutMs: 3_600_000 });
    stop.abort();
    await running;
    return lines;
  }

  const countsIn = (lines: readonly LogLine[]) =>
    lines
      .filter(({ message }) => message.endsWith('wrote the objects'))
      .map(({ fields: { written, skipped, failed } }) => ({ written, skipped, failed }));

  it('stores all objects in the new version, unchanged, and removes other versions from storedVersions', async () => {
    const cluster = await clusterWith(700);
    const contents = async () =>
      (await cluster.client().list<ReturnType<typeof widget>>(Widget)).items.map(
        ({ metadata, ...rest }) => ({
          ...rest,
          generation: metadata.generation,
          uid: metadata.uid,
        }),
      );
    const before = await contents();
    const [counts, ...others] = countsIn(await migrate(cluster));
    expect(counts).to.include({ written: 700, skipped: 0, failed: 0 });
    expect(others).to.deep.equal([]);
    expect(storedIn(cluster)).to.deep.equal({ 'example.com/v2': 700 });
    expect(await contents()).to.deep.equal(before);
    // Now the server accepts a definition without the old version.
    const { spec, ...rest } = await definitionOf(cluster.client());
    const versions = spec.versions.filter(({ name }) => name === 'v2');
    await cluster.client().update({ ...rest, spec: { ...spec, versions } });
  });

  it('retries after 1 s, then doubles the delay after each failure, up to five minutes', async () => {
    const cluster = await clusterWith(1);
    const { clock } = cluster;
    const own = cluster.client();
    const wanted = [1, 2, 4, 8, 16, 32, 64, 128, 256, 300].map((seconds) => seconds * 1_000);
    const triesMs: number[] = [];
    const get: Client['get'] = (type, key, options) => {
      const isDefinition = type.kind === 'CustomResourceDefinition';
      if (isDefinition && options?.signal !== undefined) triesMs.push(clock.monotonicMs());
      return isDefinition ? Promise.reject(new Error('away')) : own.get(type, key, options);
    };
    const lines: LogLine[] = [];
    const stop = new AbortController();
    const running = migrating().run({
      ...{ ...quiet, client: { ...forwarding(own), get }, clock, signal: stop.signal },
      logger: rememberingLogger(lines),
    });
    const failures = () => lines.filter(({ message }) => message === 'storage migration failed');
    while (failures().length === 0) await clock.advance(10);
    for (const delayMs of wanted) await clock.advance(delayMs);
    stop.abort();
    await running;
    expect(
      failures()
        .slice(0, 10)
        .map(({ fields }) => fields['delayMs']),
    ).to.deep.equal(wanted);
    const [first = 0] = triesMs;
    expect(triesMs.slice(1).map((ms, n) => ms - (triesMs[n] ?? first))).to.deep.equal(wanted);
  });

  it(`continues after crashes, and writes each of ${many} objects once`, async () => {
    const cluster = await clusterWith(many);
    let [crashes, writes] = [0, 0];
    for (;;) {
      const stop = new AbortController();
      let requests = 0;
      const own = cluster.client();
      const patch: Client['patch'] = async (type, key, body, options) => {
        // The process dies before or after it sends a request.
        if (++requests > many / 14) stop.abort();
        if (requests % 2 === 0) stop.signal.throwIfAborted();
        const made = await own.patch(type, key, body, options);
        if ((type as { readonly kind: string }).kind === 'Widget') writes++;
        stop.signal.throwIfAborted();
        return made;
      };
      const client: Client = { ...forwarding(own), patch };
      const { clock } = cluster;
      const running = migrating()
        .run({ ...quiet, client, clock, logger: silentLogger, signal: stop.signal })
        .catch(() => undefined);
      await eventually(async () => stop.signal.aborted || isMigrated(cluster.client()), {
        clock,
        timeoutMs: 3_600_000,
      });
      const isCrashed = stop.signal.aborted;
      stop.abort();
      await running;
      if (!isCrashed) break;
      crashes++;
    }
    expect(crashes).to.be.greaterThan(10);
    expect(writes).to.equal(many);
    expect(storedIn(cluster)).to.deep.equal({ 'example.com/v2': many });
  });

  const scenario: CrashScenario = {
    name: 'storage migration',
    setup: ({ client }) => storeWidgets(client, 4, 'v1'),
    operator: async ({ client, clock, signal }) => {
      // An operator is deployed after the definition has changed.
      while ((await definitionOf(client)).spec.versions.some(isStoredV1)) {
        await sleep(clock, 1_000, signal);
      }
      await migrating().run({ ...quiet, client, clock, logger: silentLogger, signal });
    },
    steps: [
      {
        name: 'migrate',
        change: ({ client, cluster: { clock } }) => ensureCrd(client, Widget.crd, { clock }),
        until: ({ client, cluster }) => {
          expect(storedIn(cluster)).to.deep.equal({ 'example.com/v2': 4 });
          return isMigrated(client);
        },
      },
    ],
  };

  it('has the same result if the process is killed at any request', async () => {
    await crashPoints(scenario, crashSample(6));
  });

  it('has the same result if any request fails', async () => {
    await faultSweep(scenario, crashSample(6));
  });

  // Webhooks can cause each of these answers. The 404 names no object, so the version may not be served.
  for (const refusal of ['forbidden', 'conflict', 'notFound'] as const) {
    it(`keeps storedVersions while the server refuses the write of an object (${refusal}), and tries the object again`, async () => {
      const cluster = await clusterWith(3);
      const target = { verb: 'patch', kind: 'Widget', nth: 2 } as const;
      const client = faulty(cluster.client(), { rules: [faultOn(target, faults[refusal]())] });
      const lines = await migrate(cluster, client);
      expect(countsIn(lines)).to.deep.equal([
        { written: 2, skipped: 0, failed: 1 },
        { written: 1, skipped: 2, failed: 0 },
      ]);
      const warned = lines.map(({ message }) => message);
      expect(warned).to.include('Widget default/widget-00001 is not migrated yet');
      expect(storedIn(cluster)).to.deep.equal({ 'example.com/v2': 3 });
    });
  }

  it('limits its writes to writesPerSecond, after a burst of the same number', async () => {
    const cluster = await clusterWith(25);
    const { clock } = cluster;
    const own = cluster.client();
    const times: number[] = [];
    const patch: Client['patch'] = (type, key, body, options) => {
      if ((type as { readonly kind: string }).kind === 'Widget') times.push(clock.monotonicMs());
      return own.patch(type, key, body, options);
    };
    const operator = new Operator('widget-operator', { resources: [Widget] });
    operator.migratesStorage(Widget, { writesPerSecond: 10 });
    await migrate(cluster, { ...forwarding(own), patch }, operator);
    const sinceFirst = times.map((ms) => ms - (times[0] ?? 0));
    expect([sinceFirst.length, sinceFirst[9], sinceFirst[10], sinceFirst[24]]).to.deep.equal([
      ...[25, 0, 100, 1_500],
    ]);
  });

  it('skips an object that is deleted after it was listed', async () => {
    const cluster = await clusterWith(2);
    const own = cluster.client();
    const key = { name: 'widget-00000', namespace: 'default' };
    const client = aroundFirstPatch(own, () => own.delete(Widget, key));
    const registry = new Registry();
    const metrics = { ...onLoopback, registry };
    const lines = await migrate(cluster, client, migrating(), { metrics });
    expect(countsIn(lines)).to.deep.equal([{ written: 1, skipped: 1, failed: 0 }]);
    const name = 'operator_builder_storage_migration_objects_total';
    const counted = await registry.getSingleMetricAsString(name);
    for (const result of ['written', 'skipped']) {
      expect(counted).to.include(`${name}{kind="Widget",result="${result}"} 1`);
    }
  });

  it('skips an object that another client writes after it was listed', async () => {
    const cluster = await clusterWith(2);
    const own = cluster.client();
    const patch: Client['patch'] = async (type, key, body, options) => {
      // Another client writes the object right before the migration does.
      if (key.name === 'widget-00001') {
        const other = { type: 'merge', body: { spec: { size: 7 } } } as const;
        await own.patch(Widget, key, other);
      }
      return own.patch(type, key, body, options);
    };
    const lines = await migrate(cluster, { ...forwarding(own), patch });
    expect(countsIn(lines)).to.deep.equal([
      { written: 1, skipped: 0, failed: 1 },
      { written: 0, skipped: 2, failed: 0 },
    ]);
    const written = await own.get(Widget, { name: 'widget-00001', namespace: 'default' });
    expect(written).to.have.nested.property('spec.size', 7);
    expect(storedIn(cluster)).to.deep.equal({ 'example.com/v2': 2 });
  });

  it('writes all objects again after the CRD was rolled back and then upgraded again', async () => {
    const cluster = await clusterWith(2);
    const own = cluster.client();
    const stop = new AbortController();
    const client = aroundFirstPatch(own, () => {
      stop.abort();
      return Promise.resolve();
    });
    const { clock } = cluster;
    const running = migrating()
      .run({ ...quiet, client, clock, logger: silentLogger, signal: stop.signal })
      .catch(() => undefined);
    await eventually(() => expect(stop.signal.aborted).to.equal(true), {
      clock,
      timeoutMs: 3_600_000,
    });
    await running;
    await rollBackAndUpgrade(own);
    expect((await definitionOf(own)).metadata.annotations).to.have.property(annotation);
    expect(countsIn(await migrate(cluster))).to.deep.equal([{ written: 3, skipped: 0, failed: 0 }]);
    expect(storedIn(cluster)).to.deep.equal({ 'example.com/v2': 3 });
  });

  it('starts again if the storage version changes during the migration, even if it changes back', async () => {
    const cluster = await clusterWith(2);
    const own = cluster.client();
    await migrate(
      cluster,
      aroundFirstPatch(own, () => rollBackAndUpgrade(own)),
    );
    expect(storedIn(cluster)).to.deep.equal({ 'example.com/v2': 3 });
  });

  it('starts again if the server did not serve the version for a while', async () => {
    const cluster = await clusterWith(2);
    const own = cluster.client();
    const client = aroundFirstPatch(
      own,
      () => serveV2(own, false),
      () => serveV2(own, true),
    );
    const [first] = countsIn(await migrate(cluster, client));
    expect(first).to.deep.equal({ written: 1, skipped: 0, failed: 1 });
    expect(storedIn(cluster)).to.deep.equal({ 'example.com/v2': 2 });
  });

  /** Migrates with an operator of v1. Returns the versions of its patches. */
  async function versionsOfPatches(
    cluster: EmbeddedCluster<VirtualClock>,
  ): Promise<readonly string[]> {
    const versions = new Set<string>();
    const own = cluster.client();
    const patch: Client['patch'] = (type, ...rest) => {
      const { kind, version } = type as { readonly kind: string; readonly version: string };
      if (kind === 'Widget') versions.add(version);
      return own.patch(type, ...rest);
    };
    await migrate(cluster, { ...forwarding(own), patch }, migrating(widgetsIn('v1')));
    return [...versions];
  }

  it('patches objects in the storage version, so that fields that exist only there are kept', async () => {
    const cluster = await clusterWith(1);
    const own = cluster.client();
    const { apiVersion, kind, metadata } = { ...widget(9), apiVersion: 'example.com/v2' };
    await own.create({ apiVersion, kind, metadata, spec: { size: 9, color: 'red' } });
    expect(await versionsOfPatches(cluster)).to.deep.equal(['v2']);
    const key = { name: 'widget-00009', namespace: 'default' };
    expect(await own.get(Widget, key)).to.have.nested.property('spec.color', 'red');
    expect(storedIn(cluster)).to.deep.equal({ 'example.com/v2': 2 });
  });

  it("patches objects in the operator's version if the storage version is not served", async () => {
    const cluster = await clusterWith(2);
    await serveV2(cluster.client(), false);
    expect(await versionsOfPatches(cluster)).to.deep.equal(['v1']);
    expect(storedIn(cluster)).to.deep.equal({ 'example.com/v2': 2 });
  });

  it('removes the old version from storedVersions of a kind without objects', async () => {
    const counts = countsIn(await migrate(await clusterWith(0)));
    expect(counts).to.deep.equal([{ written: 0, skipped: 0, failed: 0 }]);
  });

  it('writes nothing if storedVersions contains only one version', async () => {
    const cluster = await EmbeddedCluster.start({ clock: new VirtualClock() });
    clusters.push(cluster);
    await ensureCrd(cluster.client(), Widget.crd);
    expect(countsIn(await migrate(cluster))).to.deep.equal([]);
  });

  it('requires access only to the objects and to their CRD', async () => {
    const cluster = await clusterWith(0);
    const manager = new Manager({ client: cluster.client() });
    migrating().setup(manager);
    const access = manager
      .requiredAccess()
      .filter(({ type }) => ['Widget', 'CustomResourceDefinition'].includes(type?.kind ?? ''))
      .map(({ type, verbs, subresource, names }) => ({
        kind: type?.kind,
        verbs,
        subresource,
        names,
      }));
    const names = ['widgets.example.com'];
    const crd = { kind: 'CustomResourceDefinition', names };
    expect(access).to.have.deep.members([
      { kind: 'Widget', verbs: ['list', 'patch'], subresource: undefined, names: undefined },
      { ...crd, verbs: ['get', 'patch'], subresource: undefined },
      { ...crd, verbs: ['patch'], subresource: 'status' },
    ]);
  });

  for (const writesPerSecond of [0, -1, NaN, Infinity, '5' as unknown as number]) {
    it(`throws at once for writesPerSecond ${inspect(writesPerSecond)}`, () => {
      const operator = new Operator('widget-operator');
      const call = () => operator.migratesStorage(Widget, { writesPerSecond });
      expect(call).to.throw('writesPerSecond').with.property('code', 'InvalidOption');
    });
  }

  it('throws at once for an unknown option', () => {
    const options = { writesPerMinute: 1 } as object;
    const call = () => new Operator('widget-operator').migratesStorage(Widget, options);
    expect(call).to.throw('writesPerMinute').with.property('code', 'InvalidOption');
  });
});

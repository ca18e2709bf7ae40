import { expect } from 'chai';
import { ensureCrd, forwarding } from '../../lib/client/index.js';
import type { Client } from '../../lib/client/index.js';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import { ApiError } from '../../lib/object/api-error.js';
import { isConditionTrue } from '../../lib/object/conditions.js';
import { CustomResourceDefinition } from '../../lib/object/kinds.js';
import { errorMessage } from '../../lib/system/as-error.js';
import { OperatorError, isOperatorError } from '../../lib/system/operator-error.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';
import { eventually } from '../../lib/testing/eventually.js';

interface Scene {
  readonly clock: VirtualClock;
  readonly cluster: EmbeddedCluster<VirtualClock>;
  readonly client: Client;
  /** Verbs requested since the last call. */
  readonly verbs: () => string[];
}

function gadgets(properties: readonly string[], shortName = 'gd', group = 'example.com') {
  const spec = Object.fromEntries(properties.map((name) => [name, { type: 'string' }]));
  const crd: CustomResourceDefinition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `gadgets.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'gadgets', singular: 'gadget', kind: 'Gadget', shortNames: [shortName] },
      versions: [
        {
          ...{ name: 'v1', served: true, storage: true },
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: { spec: { type: 'object', properties: spec } },
            },
          },
        },
      ],
    },
  };
  return crd;
}

/** Wraps `client` so that the first `times` discovery lookups lack custom resources. */
function hidden(
  client: Client,
  clock: VirtualClock,
  times: number,
  error: Error = new OperatorError('UnknownKind', 'no such kind'),
) {
  const looks: { readonly apiVersion: string; readonly atMs: number }[] = [];
  const hiding: Client = {
    ...forwarding(client),
    resourceType: (type) => {
      if (!('apiVersion' in type)) return client.resourceType(type);
      looks.push({ apiVersion: type.apiVersion, atMs: clock.monotonicMs() });
      if (looks.length > times) return client.resourceType(type);
      return Promise.reject(error);
    },
  };
  return { client: hiding, looks };
}

describe('ensureCrd', () => {
  const opened: EmbeddedCluster[] = [];

  async function scene(): Promise<Scene> {
    const clock = new VirtualClock();
    const cluster = await EmbeddedCluster.start({ clock });
    opened.push(cluster);
    const client = cluster.client({ user: 'operator' });
    let mark = cluster.requests.mark();
    const verbs = (): string[] => {
      const { entries } = cluster.requests.since(mark);
      mark = cluster.requests.mark();
      return entries.filter(({ resource }) => resource !== '').map(({ verb }) => verb);
    };
    return { clock, cluster, client, verbs };
  }

  afterEach(async () => {
    for (const cluster of opened.splice(0)) await cluster.stop();
  });

  const options = (clock: VirtualClock, more: object = {}) => ({ clock, ...more });

  it('installs a definition, and returns when it is served', async () => {
    const { client, clock } = await scene();
    const crd = await ensureCrd(client, gadgets(['size']), options(clock));
    expect(isConditionTrue(crd.status?.conditions, 'Established')).to.equal(true);
    const appliers = crd.metadata.managedFields?.filter(({ operation }) => operation === 'Apply');
    expect(appliers?.map(({ manager }) => manager)).to.deep.equal(['operator-builder']);
    const made = { apiVersion: 'example.com/v1', kind: 'Gadget', metadata: { name: 'one' } };
    await client.create({ ...made, metadata: { name: 'one', namespace: 'default' } });
  });

  it('reads once and writes nothing when the definition is up to date', async () => {
    const { client, clock, verbs } = await scene();
    await ensureCrd(client, gadgets(['size']), options(clock));
    verbs();
    await ensureCrd(client, gadgets(['size']), options(clock));
    expect(verbs()).to.deep.equal(['get']);
  });

  it('waits until discovery lists every served version, with back-off', async () => {
    const { client, clock } = await scene();
    const { client: hiding, looks } = hidden(client, clock, 6);
    const { spec, ...crd } = gadgets(['size']);
    const versions = spec.versions.flatMap((v1) => [
      v1,
      { ...v1, name: 'v2', storage: false },
      { ...v1, name: 'v3', storage: false, served: false },
    ]);
    const installing = ensureCrd(hiding, { ...crd, spec: { ...spec, versions } }, options(clock));
    await eventually(() => expect(looks).to.have.length(8), { clock });
    expect((await installing).metadata.name).to.equal('gadgets.example.com');
    const hiddenUntil = [0, 50, 150, 350, 750, 1_550, 2_550];
    const startMs = looks[0]?.atMs ?? 0;
    expect(looks.map(({ apiVersion, atMs }) => [apiVersion, atMs - startMs])).to.deep.equal([
      ...hiddenUntil.map((atMs) => ['example.com/v1', atMs]),
      ['example.com/v2', 2_550],
    ]);
    await ensureCrd(hiding, { ...crd, spec: { ...spec, versions } }, options(clock));
    expect(looks).to.have.length(8);
  });

  it('times out while discovery does not list the kind, and rejects when its signal aborts', async () => {
    const { client, clock } = await scene();
    const { client: hiding, looks } = hidden(client, clock, Infinity);
    const endOf = async (crd: CustomResourceDefinition, more: object): Promise<unknown> => {
      const count = looks.length;
      const ended = ensureCrd(hiding, crd, options(clock, more)).catch((thrown: unknown) => thrown);
      await eventually(() => expect(looks).to.have.length.above(count + 2), { clock });
      return ended;
    };
    const late = endOf(gadgets([]), { timeoutMs: 5_000 });
    await eventually(() => expect(looks).to.have.length.above(7), { clock });
    await clock.advance(5_000);
    expect(isOperatorError(await late, 'Timeout')).to.equal(true);
    expect(String(await late))
      .to.include('discovery lists Gadget')
      .and.to.include('5000 ms');
    const stop = new AbortController();
    const aborted = endOf(gadgets(['size']), { signal: stop.signal });
    await clock.advance(10_000);
    stop.abort();
    expect(isOperatorError(await aborted, 'Aborted')).to.equal(true);
  });

  it('continues after a short failure of discovery, and names a lasting failure in its error', async () => {
    const { client, clock } = await scene();
    const failing = async (times: number, error: Error): Promise<unknown> => {
      const { client: hiding, looks } = hidden(client, clock, times, error);
      const crd = gadgets([`size${times}`]);
      const ended = ensureCrd(hiding, crd, options(clock)).catch((thrown: unknown) => thrown);
      await eventually(() => expect(looks).to.have.length.above(2), { clock });
      await clock.advance(30_000);
      return ended;
    };
    const broken = new OperatorError('ConnectionFailed', 'discover /apis: reset');
    expect(await failing(2, broken)).to.have.property('kind', 'CustomResourceDefinition');
    expect(String(await failing(Infinity, broken))).to.match(
      /within 30000 ms .*\(discover.*reset\)$/,
    );
  });

  it('installs a definition for an account without permission for discovery', async () => {
    const { client, clock } = await scene();
    const refused = { status: 'Failure', reason: 'Forbidden', message: 'no', code: 403 } as const;
    const error = new ApiError(refused, { verb: 'discover', kind: '/apis', status: 403 });
    const barred: Client = { ...forwarding(client), resourceType: () => Promise.reject(error) };
    const crd = await ensureCrd(barred, gadgets(['size']), options(clock));
    expect(isConditionTrue(crd.status?.conditions, 'Established')).to.equal(true);
  });

  it('updates an outdated definition: added field, removed field, manual edit', async () => {
    const { client, clock } = await scene();
    const fields = (crd: CustomResourceDefinition): string[] =>
      Object.keys(
        crd.spec.versions[0]?.schema?.openAPIV3Schema?.properties?.['spec']?.properties ?? {},
      );
    await ensureCrd(client, gadgets(['size']), options(clock));
    const more = await ensureCrd(client, gadgets(['size', 'color']), options(clock));
    expect(fields(more)).to.have.members(['size', 'color']);
    const less = await ensureCrd(client, gadgets(['color']), options(clock));
    expect(fields(less)).to.deep.equal(['color']);
    const body = { spec: { names: { shortNames: ['edited'] } } };
    await client.patch(
      CustomResourceDefinition,
      { name: 'gadgets.example.com' },
      {
        ...{ type: 'merge', body },
      },
    );
    const mended = await ensureCrd(client, gadgets(['color']), options(clock));
    expect(mended.spec.names.shortNames).to.deep.equal(['gd']);
  });

  it("fails at once with the server's reason when another definition has the names, and deletes nothing", async () => {
    const { client, clock, verbs } = await scene();
    await ensureCrd(client, gadgets([]), options(clock));
    const other = gadgets([], 'other');
    const taken = {
      ...other,
      metadata: { name: 'things.example.com' },
      spec: { ...other.spec, names: { ...other.spec.names, plural: 'things' } },
    };
    verbs();
    const error = await ensureCrd(client, taken, options(clock)).catch((thrown: unknown) => thrown);
    expect(isOperatorError(error, 'InvalidObject')).to.equal(true);
    expect(String(error)).to.match(/things\.example\.com is not served: \w*Conflict: .*in use/);
    expect(clock.monotonicMs()).to.be.below(30_000);
    expect(verbs()).not.to.include('delete');
    await client.get(CustomResourceDefinition, { name: 'things.example.com' });
  });

  it('fails while another definition has the names, but still updates a changed definition', async () => {
    const { client, clock } = await scene();
    await ensureCrd(client, gadgets([]), options(clock));
    const other = gadgets([], 'other');
    const things = (kind: string): CustomResourceDefinition => ({
      ...other,
      metadata: { name: 'things.example.com' },
      spec: {
        ...other.spec,
        names: { plural: 'things', singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
      },
    });
    const taken = things(other.spec.names.kind);
    for (const labels of [undefined, undefined, { from: 'a-new-release' }]) {
      const labelled = { ...taken, metadata: { ...taken.metadata, ...(labels && { labels }) } };
      const error = await ensureCrd(client, labelled, options(clock)).catch(
        (thrown: unknown) => thrown,
      );
      expect(isOperatorError(error, 'InvalidObject')).to.equal(true);
    }
    const mended = await ensureCrd(client, things('Thing'), options(clock));
    expect(isConditionTrue(mended.status?.conditions, 'Established')).to.equal(true);
    expect(clock.monotonicMs()).to.be.below(30_000);
  });

  it('accepts a definition that was read from a server, with status', async () => {
    const { client, clock } = await scene();
    const { metadata, ...read } = await ensureCrd(client, gadgets(['size']), options(clock));
    await client.delete(CustomResourceDefinition, { name: 'gadgets.example.com' });
    const again = { ...read, metadata: { name: metadata.name ?? '' } };
    const { status } = await ensureCrd(client, again, options(clock));
    expect(status?.acceptedNames?.kind).to.equal('Gadget');
  });

  it('waits until a definition that is being deleted is gone, and installs it again', async () => {
    const { client, clock } = await scene();
    const first = await ensureCrd(client, gadgets(['size']), options(clock));
    const key = { name: 'gadgets.example.com' };
    const held = { metadata: { finalizers: ['example.com/held'] } };
    await client.patch(CustomResourceDefinition, key, { type: 'merge', body: held });
    await client.delete(CustomResourceDefinition, key);
    const installing = ensureCrd(client, gadgets(['size']), options(clock));
    await clock.advance(1_000);
    const free = { metadata: { finalizers: null } };
    await client.patch(CustomResourceDefinition, key, { type: 'merge', body: free });
    const second = await installing;
    expect(second.metadata.uid).to.not.equal(first.metadata.uid);
    expect(isConditionTrue(second.status?.conditions, 'Established')).to.equal(true);
  });

  it('times out while the definition is being deleted, rejects when its signal aborts, and deletes nothing', async () => {
    const { client, clock, cluster, verbs } = await scene();
    await ensureCrd(client, gadgets(['size']), options(clock));
    const key = { name: 'gadgets.example.com' };
    const held = { metadata: { finalizers: ['example.com/held'] } };
    await client.patch(CustomResourceDefinition, key, { type: 'merge', body: held });
    await client.delete(CustomResourceDefinition, key);
    verbs();
    const late = ensureCrd(client, gadgets(['size']), options(clock, { timeoutMs: 5_000 }));
    const ended = late.catch((thrown: unknown) => thrown);
    await clock.advance(5_000);
    expect(isOperatorError(await ended, 'Timeout')).to.equal(true);
    const stop = new AbortController();
    const aborted = ensureCrd(client, gadgets(['size']), options(clock, { signal: stop.signal }));
    const thrown = aborted.catch((error: unknown) => error);
    await clock.advance(1_000);
    stop.abort();
    expect(isOperatorError(await thrown, 'Aborted')).to.equal(true);
    expect(verbs()).not.to.include('delete');
    expect(cluster.requests.entries.filter(({ verb }) => verb === 'delete')).to.have.length(1);
  });

  for (const [what, given] of [
    ['a missing definition', undefined],
    ['the result of defineResource instead of its crd', { kind: 'Gadget', crd: gadgets([]) }],
  ] as const) {
    it(`rejects ${what}`, async () => {
      const { client, clock } = await scene();
      const error = await ensureCrd(client, given as never, options(clock)).catch(
        (thrown: unknown) => thrown,
      );
      expect(error).to.have.property('code', 'InvalidOption');
      expect(errorMessage(error)).to.include('such as the crd of a defined resource');
    });
  }

  for (const timeoutMs of [0, NaN, -1]) {
    it(`rejects a timeout of ${timeoutMs} ms`, async () => {
      const { client, clock } = await scene();
      const error = await ensureCrd(client, gadgets([]), options(clock, { timeoutMs })).catch(
        (thrown: unknown) => thrown,
      );
      expect(isOperatorError(error, 'InvalidOption')).to.equal(true);
    });
  }
});

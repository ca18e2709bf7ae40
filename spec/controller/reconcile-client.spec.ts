import { expect } from 'chai';
import type { ApplyOptions, Client, Fence } from '../../lib/client/client.js';
import { reconcileClient } from '../../lib/controller/reconcile-client.js';
import type { ObservedWrite } from '../../lib/controller/reconcile-client.js';
import { ConfigMap } from '../../lib/object/kinds.js';
import type { KubernetesObject } from '../../lib/object/kubernetes-object.js';
import { OperatorError } from '../../lib/system/operator-error.js';

const key = { namespace: 'ns', name: 'a' };
const map: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...key } };
const patch = { type: 'merge', body: {} } as const;

/** Records the options of every call and returns `map`. */
function newClient() {
  const signals: unknown[] = [];
  const calls: string[] = [];
  const call =
    (name: string, optionsAt: number, answer: unknown) =>
    (...args: readonly unknown[]): unknown => {
      calls.push(name);
      signals.push((args[optionsAt] as { signal?: unknown } | undefined)?.signal);
      return answer;
    };
  const client = {
    get: call('get', 2, map),
    list: call('list', 1, { items: [] }),
    pages: call('pages', 1, []),
    watch: call('watch', 1, []),
    create: call('create', 1, map),
    update: call('update', 1, map),
    patch: call('patch', 3, map),
    apply: call('apply', 1, { object: map, created: true }),
    delete: call('delete', 2, undefined),
    deleteCollection: call('deleteCollection', 1, undefined),
  } as unknown as Client;
  return { calls, client, signals };
}

const writes: readonly ((client: Client, dryRun?: boolean) => Promise<unknown>)[] = [
  (client, dryRun) => client.create(map, { dryRun }),
  (client, dryRun) => client.update(map, { dryRun }),
  (client, dryRun) => client.patch(ConfigMap, key, patch, { dryRun }),
  (client, dryRun) => client.apply(map, { dryRun }),
  (client, dryRun) => client.delete(ConfigMap, key, { dryRun }),
];

const reads: readonly ((client: Client) => unknown)[] = [
  (client) => client.get(ConfigMap, key),
  (client) => client.list(ConfigMap),
  (client) => client.pages(ConfigMap),
  (client) => client.watch(ConfigMap),
];

function setup({ isOver = false } = {}) {
  const inner = newClient();
  const over = new AbortController();
  const cut = new AbortController();
  const observed: ObservedWrite[] = [];
  const observe = () => (write: ObservedWrite) => void observed.push(write);
  const track = <T>(write: Promise<T>): Promise<T> => write;
  const signals = { signal: over.signal, writeSignal: cut.signal };
  const guard = { owns: [], fences: [], ...signals, isOver, observe, track };
  const client = reconcileClient(inner.client, guard);
  return { ...inner, inner: inner.client, client, observed, over, cut };
}

describe('reconcileClient', () => {
  it("passes the reconcile's signal to every read that has no signal of its own", async () => {
    const { client, over, signals } = setup();
    for (const read of reads) read(client);
    expect(signals).to.deep.equal(reads.map(() => over.signal));
    const { signal } = new AbortController();
    await client.get(ConfigMap, key, { signal });
    expect(signals.at(-1)).to.equal(signal);
  });

  it('passes the signal for writes to every write, even to one that has a signal of its own', async () => {
    const { client, cut, over, signals } = setup();
    for (const write of writes) await write(client);
    await client.deleteCollection(ConfigMap);
    await client.apply(map, { signal: over.signal });
    expect(signals).to.deep.equal(signals.map(() => cut.signal));
    expect(signals.length).to.equal(7);
    const own = new AbortController();
    await client.apply(map, { signal: own.signal });
    const both = signals.at(-1) as AbortSignal;
    own.abort();
    expect([both.aborted, cut.signal.aborted]).to.deep.equal([true, false]);
  });

  it('refuses to send a queued write after the reconcile is aborted', async () => {
    const { client, inner, over } = setup();
    let fences: readonly Fence[] = [];
    inner.apply = ((_object: KubernetesObject, options?: ApplyOptions) => {
      fences = options?.fences ?? [];
      return Promise.resolve({ object: map, created: true });
    }) as Client['apply'];
    await client.apply(map);
    const send = (): void => {
      for (const fence of fences) fence.check('apply ConfigMap ns/a');
    };
    expect(send).not.to.throw();
    over.abort(new OperatorError('Fenced', 'the key is not ours'));
    expect(send).to.throw('apply ConfigMap ns/a: refused').with.property('code', 'Fenced');
  });

  it('reports each write that the server stored, but no dry run', async () => {
    const { client, observed } = setup();
    for (const write of writes) await write(client);
    for (const write of writes) await write(client, true);
    const verbs = observed.map(({ verb, answer }) => `${verb}${answer === undefined ? ' -' : ''}`);
    expect(verbs).to.deep.equal(['create', 'update', 'patch', 'apply', 'delete -']);
    expect(observed.every(({ key: each }) => each.name === 'a')).to.equal(true);
  });

  it('passes on the error of every write', async () => {
    const { client, inner } = setup();
    const failing = (): Promise<never> => Promise.reject(new Error('no'));
    const verbs = ['create', 'update', 'patch', 'apply', 'delete', 'deleteCollection'] as const;
    for (const verb of verbs) inner[verb] = failing;
    const errors: unknown[] = [];
    for (const write of [...writes, (own: Client) => own.deleteCollection(ConfigMap)]) {
      await write(client).catch((error: unknown) => errors.push(error));
    }
    expect(errors.map((error) => (error as Error).message)).to.deep.equal(verbs.map(() => 'no'));
  });

  const everyWrite = [
    ...writes,
    (client: Client) => client.deleteCollection(ConfigMap),
    (client: Client) => client.deleteCollection(ConfigMap, { namespace: 'ns' }),
  ];
  const reasons: readonly (readonly [unknown, string, string])[] = [
    [new OperatorError('Stopped', 'enough'), 'Stopped', ', enough'],
    [new OperatorError('Fenced', 'not the leader'), 'Fenced', ''],
    [new Error('away'), 'Aborted', ''],
    ['away', 'Aborted', ''],
  ];
  for (const [reason, code, why] of reasons) {
    it(`refuses writes after the reconcile was aborted with ${String(reason)}`, async () => {
      const { calls, client, over } = setup();
      over.abort(reason);
      const errors: unknown[] = [];
      for (const own of [client, client.live]) {
        for (const write of everyWrite)
          await write(own).catch((error: unknown) => errors.push(error));
      }
      const verbs = ['create', 'update', 'patch', 'apply', 'delete'];
      const messages = [
        ...verbs.map((verb) => `${verb} ConfigMap ns/a`),
        ...Array.from({ length: 2 }, () => 'deleteCollection ConfigMap'),
      ].map((what) => `${what}: refused, the reconcile is over${why}`);
      expect(errors.map((error) => (error as Error).message)).to.deep.equal([
        ...messages,
        ...messages,
      ]);
      for (const error of errors) expect(error).to.include({ code, cause: reason });
      expect(calls).to.deep.equal([]);
    });
  }

  it('refuses writes after the handler has returned, and says that the handler must await them', async () => {
    const { calls, client } = setup({ isOver: true });
    const error = await client.apply(map).catch((thrown: unknown) => thrown);
    expect(error).to.include({
      code: 'Stopped',
      message:
        'apply ConfigMap ns/a: refused, the reconcile is over, ' +
        'its handler has returned: await the call, and each function that makes it, in the handler',
    });
    expect(calls).to.deep.equal([]);
  });
});

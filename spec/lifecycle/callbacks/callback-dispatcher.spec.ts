import { expect } from 'chai';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import { CallbackDispatcher } from '../../../lib/lifecycle/index.js';
import type { CallbackArguments } from '../../../lib/lifecycle/index.js';
import type { KubernetesObject } from '../../../lib/object/kubernetes-object.js';
import { silentLogger } from '../../../lib/system/logger.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';

const ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap' };
const Secret = { apiVersion: 'v1', kind: 'Secret' };

function object(type: typeof ConfigMap, name = 'one'): KubernetesObject {
  return { ...type, metadata: { name, namespace: 'default' } };
}

describe('CallbackDispatcher', () => {
  let cluster: EmbeddedCluster<VirtualClock>;
  let base: Omit<CallbackArguments, 'state' | 'desired' | 'current'>;

  before(async () => {
    cluster = await EmbeddedCluster.start({ clock: new VirtualClock() });
    const client = cluster.client();
    await client.create(object(ConfigMap));
    const cr = { apiVersion: 'example.com/v1', kind: 'Config', metadata: { name: 'cr' } };
    base = {
      ...{ logger: silentLogger, client, recorder: { record: () => undefined } },
      ...{ namespace: 'operators', cr, signal: new AbortController().signal },
    };
  });
  after(() => cluster.stop());

  const told = (parts: Partial<CallbackArguments>): CallbackArguments => ({
    ...base,
    ...{ state: 'POST_READ', desired: undefined, current: undefined },
    ...parts,
  });

  function noting(): [CallbackDispatcher, CallbackArguments[]] {
    const dispatcher = new CallbackDispatcher();
    const calls: CallbackArguments[] = [];
    dispatcher.addCallback(ConfigMap, (args) => void calls.push(args));
    return [dispatcher, calls];
  }

  it('passes all arguments unchanged', async () => {
    const [dispatcher, calls] = noting();
    const args = told({ desired: object(ConfigMap), current: object(ConfigMap, 'live') });
    await dispatcher.invokeCallbacks(args);
    expect(calls).to.deep.equal([args]);
    expect(calls[0]?.current).to.equal(args.current);
  });

  it('selects callbacks by the kind of the current object if the desired object is undefined', async () => {
    const [dispatcher, calls] = noting();
    await dispatcher.invokeCallbacks(told({ state: 'PRE_DELETE', current: object(ConfigMap) }));
    await dispatcher.invokeCallbacks(told({ state: 'PRE_DELETE', current: object(Secret) }));
    expect(calls.map(({ desired, current }) => [desired, current?.kind])).to.deep.equal([
      [undefined, 'ConfigMap'],
    ]);
  });

  it('reads the current object from the server if the caller does not pass it', async () => {
    const [dispatcher, calls] = noting();
    await dispatcher.invokeCallbacks(told({ desired: object(ConfigMap) }));
    expect(calls[0]?.current?.metadata.uid).to.be.a('string');
  });

  it('passes no current object if it does not exist, or before its creation', async () => {
    const [dispatcher, calls] = noting();
    await dispatcher.invokeCallbacks(told({ desired: object(ConfigMap, 'none') }));
    await dispatcher.invokeCallbacks(told({ state: 'PRE_CREATE', desired: object(ConfigMap) }));
    expect(calls.map(({ current }) => current)).to.deep.equal([undefined, undefined]);
  });

  it('passes no current object if the server does not serve its kind', async () => {
    const dispatcher = new CallbackDispatcher();
    const calls: unknown[] = [];
    dispatcher.addCallback(null, ({ current }) => void calls.push(current));
    const none = { apiVersion: 'none.example.com/v1', kind: 'None' };
    await dispatcher.invokeCallbacks(told({ state: 'OPERATOR_DELETE', desired: object(none) }));
    expect(calls).to.deep.equal([undefined]);
  });

  it('sends no request when no callback matches the kind', async () => {
    const [dispatcher] = noting();
    const mark = cluster.requests.mark();
    await dispatcher.invokeCallbacks(told({ desired: object(Secret) }));
    expect(cluster.requests.since(mark).entries).to.deep.equal([]);
  });

  it("calls the kind's callbacks in order of registration, then those of every kind", async () => {
    const dispatcher = new CallbackDispatcher();
    const calls: string[] = [];
    const note = (name: string) => async () => {
      await Promise.resolve();
      calls.push(name);
    };
    dispatcher.addCallback(null, note('all 1'));
    dispatcher.addCallback(ConfigMap, note('map 1'));
    dispatcher.addCallback(Secret, note('secret'));
    dispatcher.addCallback(ConfigMap, note('map 2'));
    dispatcher.addCallback(null, note('all 2'));
    await dispatcher.invokeCallbacks(told({ current: object(ConfigMap) }));
    expect(calls).to.deep.equal(['map 1', 'map 2', 'all 1', 'all 2']);
  });

  it('stops at the first error, and throws it unchanged', async () => {
    const [dispatcher, calls] = noting();
    const failure = { not: 'even an Error' };
    const broken = new CallbackDispatcher();
    broken.addCallback(ConfigMap, () => {
      // eslint-disable-next-line @typescript-eslint/only-throw-error -- an error of any type
      throw failure;
    });
    broken.addCallback(ConfigMap, (args) => dispatcher.invokeCallbacks(args));
    const thrown = await broken
      .invokeCallbacks(told({ current: object(ConfigMap) }))
      .catch((error: unknown) => error);
    expect(thrown).to.equal(failure);
    expect(calls).to.deep.equal([]);
  });

  it('distinguishes kinds by apiVersion and kind', async () => {
    const [dispatcher, calls] = noting();
    const other = { apiVersion: 'example.com/v1', kind: 'ConfigMap' };
    await dispatcher.invokeCallbacks(told({ current: object(other) }));
    expect(calls).to.deep.equal([]);
    expect(dispatcher.handles(object(other))).to.equal(false);
    expect(dispatcher.handles(object(ConfigMap))).to.equal(true);
    dispatcher.addCallback(null, () => undefined);
    expect(dispatcher.handles(object(other))).to.equal(true);
  });

  it('rejects a callback that is not a function', () => {
    const add = (): void => new CallbackDispatcher().addCallback(ConfigMap, 'x' as never);
    expect(add).to.throw('want a function').with.property('code', 'InvalidOption');
  });
});

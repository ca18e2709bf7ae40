import { expect } from 'chai';
import { faulty } from '../../lib/client/index.js';
import type { Client, FaultRule, FaultyClient } from '../../lib/client/index.js';
import { ConfigMap, Secret } from '../../lib/object/kinds.js';
import { isOperatorError } from '../../lib/system/operator-error.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';
import { configMapNamed, embeddedClient } from './embedded-client.js';
import { failureOf } from './scripted-transport.js';

const key = { namespace: 'default', name: 'web' };
const reset = { type: 'reset' } as const;

const withRules = (...rules: FaultRule[]): FaultyClient =>
  faulty(embeddedClient().client, { rules });

describe('faulty, which makes calls of a client fail', () => {
  it('passes calls through when no rule matches', async () => {
    const client = withRules();
    const created = await client.create(configMapNamed('web'));
    expect(await client.get(ConfigMap, key)).to.deep.equal(created);
    expect(client.injected).to.deep.equal([]);
  });

  it('fails a call before the request reaches the server', async () => {
    const client = withRules({ verbs: ['create'], fault: reset });
    const error = await failureOf(client.create(configMapNamed('web')));
    expect(error).to.include({ code: 'ConnectionFailed', requestSent: false });
    expect(error.message).to.equal('create ConfigMap default/web: injected reset');
    expect((await client.list(ConfigMap, { namespace: 'default' })).items).to.deep.equal([]);
  });

  it('fails a call after the server has stored the write, so that only the response is lost', async () => {
    const client = withRules({ verbs: ['create'], when: 'after', fault: reset });
    const error = await failureOf(client.create(configMapNamed('web')));
    expect(error).to.include({ code: 'ConnectionFailed', requestSent: true });
    expect((await client.get(ConfigMap, key)).metadata.name).to.equal('web');
  });

  it('fails a call with an error of the API server', async () => {
    const fault = {
      type: 'error',
      status: 429,
      reason: 'TooManyRequests',
      retryAfterMs: 5,
    } as const;
    const client = withRules({ fault });
    const error = await failureOf(client.get(ConfigMap, key));
    expect(error).to.include({ code: 'ApiError', status: 429, reason: 'TooManyRequests' });
    expect(error).to.have.nested.property('context.retryAfterMs', 5);
  });

  it('fails a call with a timeout', async () => {
    const client = withRules({ fault: { type: 'timeout' } });
    expect(await failureOf(client.get(ConfigMap, key))).to.have.property('code', 'Timeout');
  });

  it('delays a call by the given clock', async () => {
    const clock = new VirtualClock();
    const { client, server } = embeddedClient();
    const rules = [{ fault: { type: 'delay', ms: 500 } } as const];
    const created = faulty(client, { rules, clock }).create(configMapNamed('web'));
    await clock.advance(499);
    expect(
      server.requests.count(({ verb, resource }) => verb === 'create' && resource === 'configmaps'),
    ).to.equal(0);
    await clock.advance(1);
    expect((await created).metadata.name).to.equal('web');
  });

  it('applies a rule only to calls with the verb, the kind and the name of the rule', async () => {
    const client = withRules(
      { verbs: ['get'], kinds: ['Secret'], fault: reset },
      { verbs: ['create', 'update', 'delete'], names: ['bad'], fault: reset },
    );
    await client.create(configMapNamed('web'));
    await client.get(ConfigMap, key);
    expect(await failureOf(client.get(Secret, key))).to.have.property('code', 'ConnectionFailed');
    expect(await failureOf(client.create(configMapNamed('bad')))).to.have.property(
      'code',
      'ConnectionFailed',
    );
  });

  it('applies a rule for one verb only to the method of this verb', async () => {
    const inner = embeddedClient().client;
    await inner.create(configMapNamed('web'));
    const calls: Readonly<Record<string, (client: Client) => Promise<unknown>>> = {
      get: (client) => client.get(ConfigMap, key),
      list: (client) => client.list(ConfigMap),
      create: (client) => client.create(configMapNamed('web')),
      update: (client) => client.update(configMapNamed('web')),
      patch: (client) => client.patch(ConfigMap, key, { type: 'merge', body: {} }),
      apply: (client) => client.apply(configMapNamed('web'), { fieldManager: 'web' }),
      delete: (client) => client.delete(ConfigMap, { ...key, name: 'other' }),
      deletecollection: (client) => client.deleteCollection(ConfigMap, { namespace: 'other' }),
    };
    for (const verb of Object.keys(calls)) {
      const rules = [{ verbs: [verb], fault: reset }] as unknown as readonly FaultRule[];
      const client = faulty(inner, { rules });
      for (const [name, call] of Object.entries(calls)) {
        const error: unknown = await call(client).catch((thrown: unknown) => thrown);
        const isStruck = isOperatorError(error, 'ConnectionFailed');
        expect(isStruck, `${name} with a fault for ${verb}`).to.equal(name === verb);
      }
    }
  });

  it('applies a rule to the nth call only, or to all calls from the nth on', async () => {
    const outcomes = async (calls: FaultRule['calls']): Promise<string> => {
      const client = withRules({ calls, fault: reset });
      let text = '';
      for (let n = 0; n < 4; n++) {
        const list = client.list(ConfigMap).then(
          () => '.',
          () => '!',
        );
        text += await list;
      }
      return text;
    };
    expect(await outcomes(2)).to.equal('.!..');
    expect(await outcomes({ from: 3 })).to.equal('..!!');
    expect(await outcomes(undefined)).to.equal('!!!!');
  });

  it('injects the same faults for the same seed, and counts them', async () => {
    const outcomes = async (seed: number): Promise<string> => {
      const rules = [{ probability: 0.5, fault: reset }];
      const client = faulty(embeddedClient().client, { rules, seed });
      let text = '';
      for (let n = 0; n < 32; n++) {
        text += await client.list(ConfigMap).then(
          () => '.',
          () => '!',
        );
      }
      expect(client.injected).to.have.length(text.replaceAll('.', '').length);
      return text;
    };
    const [one, again, other] = [await outcomes(1), await outcomes(1), await outcomes(2)];
    expect(one).to.equal(again).and.not.to.equal(other);
    expect(one)
      .to.match(/\.\.*!/)
      .and.to.match(/!!*\./);
  });

  it('breaks a watch at its start or at an event, and duplicates events', async () => {
    const seen: string[] = [];
    const watch = async (...rules: FaultRule[]): Promise<void> => {
      const client = withRules(...rules);
      await client.create(configMapNamed('a'));
      await client.create(configMapNamed('b'));
      for await (const event of client.watch(ConfigMap, { namespace: 'default' })) {
        if (event.type !== 'BOOKMARK') seen.push(event.object.metadata.name ?? '');
        if (seen.length === 3) break;
      }
    };
    await failureOf(watch({ verbs: ['watch'], fault: reset }));
    expect(seen.splice(0)).to.deep.equal([]);
    await failureOf(watch({ verbs: ['event'], calls: 2, fault: reset }));
    expect(seen.splice(0)).to.deep.equal(['a']);
    await watch({ verbs: ['event'], calls: 1, fault: { type: 'duplicate' } });
    expect(seen.splice(0)).to.deep.equal(['a', 'a', 'b']);
    await watch({ calls: 1, fault: { type: 'duplicate' } });
    expect(seen.splice(0)).to.deep.equal(['a', 'a', 'b']);
  });

  it('does not count a duplicated event as injected if no event occurs', async () => {
    const rule = { fault: { type: 'duplicate' } } as const;
    const client = withRules(rule, { ...rule, verbs: ['get'] });
    await client.create(configMapNamed('web'));
    await client.get(ConfigMap, key);
    expect(client.injected).to.deep.equal([]);
    expect(client.notInjected).to.have.length(2);
  });
});

import { expect } from 'chai';
import { isConflict } from '../../lib/object/api-error.js';
import { isOperatorError } from '../../lib/system/operator-error.js';
import { ConfigMap, Secret } from '../../lib/object/kinds.js';
import { embeddedClient } from '../client/embedded-client.js';
import {
  assertFaultsInjected,
  faultOn,
  faults,
  faulty,
  testCluster,
} from '../../lib/testing/index.js';

describe('faultOn', () => {
  const cluster = testCluster({ simulateWorkloads: false });
  const named = (name: string): ConfigMap => ({
    ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' } },
  });

  it('fails the nth call with the given verb and kind', async () => {
    const rules = [faultOn({ verb: 'create', kind: 'ConfigMap', nth: 2 }, faults.conflict())];
    const client = faulty(cluster().client(), { rules });
    await client.create(named('a'));
    const error = await client.create(named('b')).catch((failure: unknown) => failure);
    expect(isConflict(error)).to.equal(true);
    await client.create(named('c'));
    expect(client.injected).to.have.length(1);
  });

  it('with when: after, carries out the call and loses only the response', async () => {
    const rules = [faultOn({ name: 'a', verb: 'create', when: 'after' }, faults.reset())];
    const client = faulty(cluster().client(), { rules });
    const error = await client.create(named('a')).catch((failure: unknown) => failure);
    expect(error).to.include({ code: 'ConnectionFailed', requestSent: true });
    await client.get(ConfigMap, { name: 'a', namespace: 'default' });
  });

  it('returns for each fault the error that a server returns', async () => {
    const of = async (fault: ReturnType<(typeof faults)['conflict']>): Promise<unknown> => {
      const client = faulty(cluster().client(), { rules: [faultOn({}, fault)] });
      return client.list(ConfigMap).catch((failure: unknown) => failure);
    };
    expect(await of(faults.conflict())).to.include({ status: 409, reason: 'Conflict' });
    expect(await of(faults.gone())).to.include({ status: 410, reason: 'Expired' });
    for (const [fault, retryAfterMs] of [
      [faults.tooManyRequests(), 1_000],
      [faults.tooManyRequests(5), 5],
    ] as const) {
      const error = await of(fault);
      expect(error).to.include({ status: 429, reason: 'TooManyRequests' });
      expect(error).to.have.nested.property('context.retryAfterMs', retryAfterMs);
    }
    expect(await of(faults.serverError())).to.include({
      ...{ status: 500, reason: 'InternalError' },
    });
    expect(await of(faults.forbidden())).to.include({ status: 403, reason: 'Forbidden' });
    expect(await of(faults.notFound())).to.include({ status: 404, reason: 'NotFound' });
    expect(await of(faults.timeout())).to.include({ code: 'Timeout' });
    expect(await of(faults.reset())).to.include({ code: 'ConnectionFailed' });
    expect(faults.delay(7)).to.deep.equal({ type: 'delay', ms: 7 });
  });

  it('returns a rule with exactly the selected calls and the fault', () => {
    const fault = faults.gone();
    expect(faultOn({}, fault)).to.deep.equal({ fault });
    const target = { nth: 2, when: 'after', optional: true, verb: 'get', kind: 'Pod', name: 'a' };
    expect(faultOn(target as never, fault)).to.deep.equal({
      ...{ fault, verbs: ['get'], kinds: ['Pod'], names: ['a'], calls: 2, when: 'after' },
      optional: true,
    });
  });

  it('does not match the access reviews, Leases and Events of the manager, unless a rule names their kind', async () => {
    const client = cluster().client();
    const spec = { resourceAttributes: { resource: 'configmaps', verb: 'list' } };
    const apiVersion = 'authorization.k8s.io/v1';
    const review = { apiVersion, kind: 'SelfSubjectAccessReview', metadata: {}, spec };
    const first = faulty(client, { rules: [faultOn({ verb: 'create', nth: 1 }, faults.reset())] });
    await first.create(review);
    expect(await codeOf(first.create(named('a')))).to.equal('ConnectionFailed');
    for (const kind of ['SelfSubjectAccessReview', '*']) {
      const other = faulty(client, { rules: [faultOn({ kind, nth: 1 }, faults.reset())] });
      expect(await codeOf(other.create(review))).to.equal('ConnectionFailed');
    }
  });

  it('does not match reads of CustomResourceDefinitions, but matches their writes', async () => {
    const type = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' };
    const client = faulty(cluster().client(), { rules: [faultOn({}, faults.reset())] });
    await client.list(type);
    expect(await codeOf(client.create({ ...type, metadata: { name: 'a' } }))).to.equal(
      'ConnectionFailed',
    );
  });
});

describe('faults of an embedded server', () => {
  const cluster = testCluster({ simulateWorkloads: false });
  const effect = { type: 'reset', when: 'before' } as const;
  const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' };

  it('do not match the access reviews, Leases and Events of the manager, unless a rule names their kind', async () => {
    const client = cluster().client({ retries: { maxResets: 0 } });
    const anything = cluster().faults.add({ effect });
    await client.list(lease);
    expect(await codeOf(client.list(ConfigMap))).to.equal('ConnectionFailed');
    anything.remove();
    for (const resource of ['leases', '*']) {
      const fault = cluster().faults.add({ match: { resource }, effect });
      expect(await codeOf(client.list(lease))).to.equal('ConnectionFailed');
      fault.remove();
    }
  });
});

describe('a fault that is declared but never occurs', () => {
  const [begin, end]: (() => Promise<void>)[][] = [[], []];
  const cluster = testCluster({
    simulateWorkloads: false,
    hooks: { before: (run) => begin?.push(run), after: (run) => end?.push(run) },
  });
  const effect = { type: 'status', code: 500 } as const;
  const target = { verb: 'get', kind: 'Secret' } as const;
  const test = async (body: () => unknown): Promise<unknown> => {
    await begin?.[0]?.();
    await body();
    return end?.[0]?.().catch((error: unknown) => error);
  };

  it('fails the test that added it to the cluster, even if the test removed it again', async () => {
    const error = await test(() => {
      cluster()
        .faults.add({ match: { resource: 'secrets' }, effect })
        .remove();
    });
    expect(error).to.include({ code: 'FaultNotInjected' });
    expect(error).to.have.property('message').that.includes('"resource":"secrets"');
  });

  it('fails the test that passed it to a client of the cluster', async () => {
    const error = await test(async () => {
      const rules = [faultOn(target, faults.conflict()), faultOn({ verb: 'list' }, faults.gone())];
      const client = faulty(cluster().client(), { rules });
      await codeOf(client.list(ConfigMap));
      expect(client.notInjected).to.deep.equal(rules.slice(0, 1));
    });
    expect(error).to.include({ code: 'FaultNotInjected' });
    expect(error).to.have.property('message').that.includes('"kinds":["Secret"]');
    expect(error).to.have.property('message').that.does.not.include('list');
  });

  it('fails the test that passed it to a client that wraps a client with faults', async () => {
    const error = await test(async () => {
      const inner = faulty(cluster().client(), {
        rules: [faultOn({ verb: 'list' }, faults.gone())],
      });
      const outer = faulty(inner, { rules: [faultOn(target, faults.conflict())] });
      await codeOf(outer.list(ConfigMap));
    });
    expect(error).to.include({ code: 'FaultNotInjected' });
    expect(error).to.have.property('message').that.includes('"kinds":["Secret"]');
  });

  it('is accepted if it has optional: true', async () => {
    const error = await test(() => {
      cluster().faults.add({ match: { resource: 'secrets' }, effect, optional: true });
      const rules = [faultOn({ ...target, optional: true }, faults.conflict())];
      faulty(cluster().client(), { rules });
    });
    expect(error).to.equal(undefined);
  });

  it('can be found by assertFaultsInjected for any client', async () => {
    const client = faulty(embeddedClient().client, {
      rules: [faultOn(target, faults.conflict())],
    });
    expect(() => assertFaultsInjected(client)).to.throw('faults that never happened: ');
    await codeOf(client.get(Secret, { name: 'a', namespace: 'default' }));
    assertFaultsInjected(client);
  });
});

async function codeOf(call: Promise<unknown>): Promise<unknown> {
  const failure = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  return isOperatorError(failure) ? failure.code : failure;
}

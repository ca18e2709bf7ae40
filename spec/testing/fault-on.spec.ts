import { expect } from 'chai';
import { isConflict } from '../../lib/object/api-error.js';
import { ConfigMap } from '../../lib/object/kinds.js';
import { faultOn, faults, faulty, testCluster } from '../../lib/testing/index.js';

describe('faultOn', () => {
  const cluster = testCluster({ simulateWorkloads: false });
  const named = (name: string): ConfigMap => ({
    ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' } },
  });

  it('strikes the nth call of a verb and kind', async () => {
    const rules = [faultOn({ verb: 'create', kind: 'ConfigMap', nth: 2 }, faults.conflict())];
    const client = faulty(cluster().client(), { rules });
    await client.create(named('a'));
    const error = await client.create(named('b')).catch((failure: unknown) => failure);
    expect(isConflict(error)).to.equal(true);
    await client.create(named('c'));
    expect(client.injected).to.have.length(1);
  });

  it('loses only the answer, after the call', async () => {
    const rules = [faultOn({ name: 'a', verb: 'create', when: 'after' }, faults.reset())];
    const client = faulty(cluster().client(), { rules });
    const error = await client.create(named('a')).catch((failure: unknown) => failure);
    expect(error).to.include({ code: 'ConnectionFailed', requestSent: true });
    await client.get(ConfigMap, { name: 'a', namespace: 'default' });
  });

  it('gives each fault the answer that servers give', async () => {
    const of = async (fault: ReturnType<(typeof faults)['conflict']>): Promise<unknown> => {
      const client = faulty(cluster().client(), { rules: [faultOn({}, fault)] });
      return client.list(ConfigMap).catch((failure: unknown) => failure);
    };
    expect(await of(faults.gone())).to.include({ status: 410, reason: 'Expired' });
    expect(await of(faults.tooManyRequests(5))).to.deep.include({ status: 429 });
    expect(await of(faults.serverError())).to.include({ status: 500 });
    expect(await of(faults.forbidden())).to.include({ status: 403 });
    expect(await of(faults.notFound())).to.include({ status: 404 });
    expect(await of(faults.timeout())).to.include({ code: 'Timeout' });
  });
});
